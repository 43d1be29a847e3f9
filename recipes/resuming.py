"""The settings of a run that goes on: its own, except for what may change."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from loop.flat import flat, laid_upon
from recipes.settings import options_of
from webagent.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Config = TypeVar("Config", bound="DataclassInstance")

CAPS = ("max_cost", "max_tokens_total", "max_minutes")
"""Also taken from webagent.toml and the environment, where a person raises them as well."""
PLACES = ("resume", "preview", "executor", "workers", "concurrency", "server")
"""Where a run goes on, and how much of it at once."""
PRECISION = ("bf16", "gradient_checkpointing", "micro_batch_tokens", "checkpoint_every")
"""What training holds in memory."""


def resume_settings(
    given: Config, begun: Config, argv: Sequence[str], free: Sequence[str] = PLACES
) -> Config:
    """Return the settings that a run was begun with, and of those in `free` the ones that its
    command line names now; caps are those given now, if any, and `None` on the command line lifts
    one.

    Raises `UsageError` naming each other flag that differs from what the run was begun with.
    """
    words = {word.partition("=")[0].replace("_", "-") for word in argv if word.startswith("--")}
    named = [
        option.name.replace("-", "_")
        for option in options_of(type(begun))
        if not words.isdisjoint(option.flags)
    ]
    was, now = flat(begun), flat(given)
    fixed = [name for name in named if name not in (*CAPS, *free) and was[name] != now[name]]
    if fixed:

        def format_value(value: object) -> str:
            if isinstance(value, tuple | list):
                return " ".join(map(str, value)) or "none"
            return "none" if value in (None, "") else str(value)

        flags = ", ".join("--" + name.replace("_", "-") for name in fixed)
        raise UsageError(
            f"{flags} cannot change in a run that was begun with"
            f" {', '.join(format_value(was[name]) for name in fixed)}; leave it out, or begin a"
            " new run"
        )
    caps = {name: now[name] for name in CAPS if now.get(name) is not None}
    return laid_upon(begun, caps | {name: now[name] for name in named if name in (*CAPS, *free)})
