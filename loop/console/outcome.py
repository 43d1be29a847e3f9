"""How a command ends: its facts for programs, its exit status, its errors, stopping signals.

`webagent --help` imports this module, so that asyncio and the errors are imported where they are
used.
"""

import signal
from collections.abc import Coroutine, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from webagent.errors import WebAgentError


class Status(IntEnum):
    """Every exit status there is. Ended by a signal it is 128 and the signal's number."""

    DONE = 0
    """It was done, and what came of it is good."""
    FAILED = 1
    """It was tried and failed, or what came of it is negative: nothing made, something left out."""
    USAGE = 2
    """The command line is wrong: a flag, a name, or settings that do not go together."""
    SETUP = 3
    """Something around it is missing or cannot be read: a package, a browser, a server, a site, a
    login, a file, a run folder."""
    STOPPED = 4
    """A cap came before the end. What was done is kept, and the run can be gone on with."""
    INTERRUPTED = 130
    """Ctrl-C, which is 128 and SIGINT's number; after SIGTERM it is 143."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What came of a recipe. `webagent X --json` prints the facts as one document of JSON."""

    facts: Any = field(default_factory=dict)
    """A mapping with text for keys, or a dataclass instance whose fields are them."""
    status: int = Status.DONE


def facts_as_json(outcome: CommandResult) -> dict[str, Any]:
    """The facts as a document."""
    facts = outcome.facts
    if is_dataclass(facts) and not isinstance(facts, type):
        return asdict(facts)
    return dict(facts)


class Stopped(Exception):
    """The work was stopped by a signal, and has cleaned up after itself."""

    def __init__(self, number: int, kept: str = "", next: str = "") -> None:
        """`kept` says what is safe, `next` is the command that goes on."""
        said = f"stopped by {signal.Signals(number).name}"
        super().__init__(f"{said}; {kept}" if kept else said)
        self.next = next
        self.status = 128 + number
        """The exit status that says so."""


def status_of(error: "WebAgentError") -> Status:
    """Return the exit status that stands for an error."""
    from webagent.errors import SetupError, StoreError, UsageError

    match error:
        case UsageError():
            return Status.USAGE
        case SetupError() | StoreError():
            return Status.SETUP
        case _:
            return Status.FAILED


def describe_error(error: Exception, recipe: str) -> Mapping[str, str]:
    """An error as a document: what was found, of which kind it is, and what to do next.

    Messages end with what to do next, behind a semicolon; an error can also carry it by itself.
    """
    said = str(error)
    found, _, last = said.rpartition("; ")
    explicit = str(getattr(error, "next", ""))
    help_of = f"webagent {recipe} --help" if recipe else "webagent --help"
    return {
        "error": said,
        "kind": type(error).__name__,
        "next": explicit or (last if found else help_of),
    }


Result = TypeVar("Result")

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_until_stopped(work: Coroutine[Any, Any, Result], kept: str = "", next: str = "") -> Result:
    """Run it in an event loop of its own; a signal cancels it. Raises `Stopped` after its end.

    `kept` and `next` go into what is said then: what is safe, and the command that goes on.
    """
    import asyncio

    return asyncio.run(_watched(work, kept, next))


async def _watched(work: Coroutine[Any, Any, Result], kept: str, next: str) -> Result:
    import asyncio

    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
    seen: list[int] = []

    def stop(number: int) -> None:
        seen.append(number)
        task.cancel()

    for number in SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not seen:
            raise
        raise Stopped(seen[0], kept, next) from None
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
