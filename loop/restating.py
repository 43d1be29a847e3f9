"""A model that puts goals in words that memory knows: its settings, and what it did."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from loop.policies import ModelChoice
from webagent.agent.actor import find_memory
from webagent.errors import UsageError
from webagent.models import Endpoint
from webagent.records import RESTATED, Trajectory


@dataclass(frozen=True)
class RestateChoice:
    """A model that puts goals in words that memory knows."""

    restate: str = ""
    """Model that says, once for each goal in new words, which goal that memory knows means the
    same: its name, `local:FOLDER`, or an endpoint's file FILE.toml; for `--policy model:FOLDER`
    with a memory (docs/memory.md)."""

    @property
    def is_on(self) -> bool:
        """Whether there is such a model."""
        return bool(self.restate)

    @property
    def chosen(self) -> ModelChoice:
        """Return the model."""
        return ModelChoice.named(self.restate)

    @property
    def paid(self) -> str:
        """Return the server's name of the model; empty for none, and for weights in process."""
        return self.chosen.paid if self.is_on else ""

    @property
    def acting(self) -> str | Endpoint | None:
        """Return the model as an agent is given it; None for none. Raises `SetupError`."""
        return self.chosen.acting if self.is_on else None

    def label(self) -> list[str]:
        """What is added to a policy's name in tables."""
        return [f"restate={self.paid or self.restate.removeprefix('local:')}"] * self.is_on

    def check(self, policy: str) -> None:
        """Find what is wrong with it beside a policy. Raises `SetupError`."""
        if not self.is_on:
            return
        if not policy.startswith("model:") or not find_memory(Path(policy.removeprefix("model:"))):
            raise UsageError(
                f"--restate puts goals in words that a memory knows, and --policy {policy} has"
                " none; name a policy that `webagent improve` saved, as model:runs/…/policy"
            )
        named = self.chosen.contestant()
        if named.kind == "endpoint" and not named.served:
            raise UsageError(f"--restate {self.restate} names no model; give [endpoint] a `model`")
        named.check()


def describe_restating(episodes: Iterable[Trajectory], choice: RestateChoice) -> str:
    """Return a sentence on how many goals were put in other words; empty where none could be."""
    if not choice.is_on:
        return ""
    put = [bool(t.steps and t.steps[0].decision.usage.get(RESTATED)) for t in episodes]
    return (
        f"goals put in words that memory knows: {sum(put):,} of {len(put):,}; the others were known"
        " in their own words, or no request like them was found"
    )
