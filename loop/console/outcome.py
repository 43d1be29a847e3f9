"""What a recipe hands back: its facts for programs, and the exit status that says how it went."""

import signal
from dataclasses import asdict, dataclass, field, is_dataclass
from enum import IntEnum
from typing import Any


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
class Outcome:
    """What came of a recipe. `webagent X --json` prints the facts as one document of JSON."""

    facts: Any = field(default_factory=dict)
    """A mapping with text for keys, or a dataclass instance whose fields are them."""
    status: int = Status.DONE


def facts_of(outcome: Outcome) -> dict[str, Any]:
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
