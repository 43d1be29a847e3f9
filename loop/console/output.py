"""The terminal: what is printed for people or, with `--json`, for programs; and requests."""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, is_dataclass
from enum import IntEnum
from io import UnsupportedOperation
from typing import Any, TextIO, TypeVar

from webagent.errors import SetupError, StoreError, UsageError, WebAgentError

_STDOUT, _STDERR = 1, 2
_program: ContextVar[Callable[[str], None] | None] = ContextVar("program", default=None)
_lines: ContextVar[Counter[str]] = ContextVar("lines")
"""How many were emitted; one for the tasks of an event loop, too, which copy the context."""


def is_for_program() -> bool:
    """Whether a program reads what is printed."""
    return _program.get() is not None


def emit(event: Mapping[str, Any]) -> None:
    """Print an event for a program at once, as one line of JSON; `print` is for people.

    A recipe that emits prints JSON lines, the last of which is its outcome.
    """
    tell = _program.get()
    if tell is not None:
        _lines.get()["emitted"] += 1
        tell(json.dumps(event, default=str) + "\n")


def conclude(facts: Mapping[str, Any]) -> None:
    """Print the one document; on one line where lines were emitted before it."""
    tell = _program.get()
    if tell is not None:
        indent = None if _lines.get() else 1
        tell(json.dumps(facts, indent=indent, default=str) + "\n")


@contextmanager
def keep_stdout_for_json() -> Iterator[None]:
    """Keep standard output for `emit` and `conclude`; all else that is printed goes to stderr.

    Also what other programs print that are started meanwhile, as they inherit the file.
    """
    with ExitStack() as ends:
        output: TextIO = sys.stdout
        with suppress(UnsupportedOperation):
            here = os.dup(sys.stdout.fileno())
            sys.stdout.flush()
            kept = os.dup(_STDOUT)
            ends.callback(os.close, kept)
            ends.callback(os.dup2, kept, _STDOUT)
            os.dup2(_STDERR, _STDOUT)
            output = ends.enter_context(os.fdopen(here, "w", encoding="utf-8"))
        ends.enter_context(redirect_stdout(sys.stderr))

        def tell(text: str) -> None:
            output.write(text)
            output.flush()

        ends.callback(_program.reset, _program.set(tell))
        ends.callback(_lines.reset, _lines.set(Counter()))
        yield


class TerminalPerson:
    """Asks on the terminal and waits for Enter; keep the browser's window in sight."""

    async def hand_over(self, reason: str) -> None:
        """Print the reason and wait. Raises `SetupError` where there is nobody to press Enter."""
        await wait_for_enter(f"{reason}\nDo it in the browser's window, then press Enter here.")


class KeyboardPerson:
    """A person at a terminal that is read key by key: `y`, and nothing else, is a yes."""

    def __init__(self, say: Callable[[str], object], key: Callable[[], Awaitable[str]]) -> None:
        self._say, self._key = say, key

    async def approve(self, question: str) -> bool:
        """Show the question, which is made from the action, and wait for a key."""
        self._say(f"{question}\n[y] yes, any other key: no")
        is_yes = await self._key() in ("y", "Y")
        self._say("allowed" if is_yes else "refused")
        return is_yes

    async def hand_over(self, reason: str) -> None:
        """Say why a person is wanted, and wait for a key."""
        self._say(f"{reason}\nDo it in the browser's window, then press a key here.")
        await self._key()


async def wait_for_enter(request: str) -> None:
    """Print a request and wait for Enter."""
    print(request, flush=True)
    try:
        await asyncio.to_thread(input)
    except EOFError as error:
        raise SetupError("this needs someone at a terminal to press Enter") from error


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
        message = f"stopped by {signal.Signals(number).name}"
        super().__init__(f"{message}; {kept}" if kept else message)
        self.next = next
        self.status = 128 + number
        """The exit status that says so."""


def status_of(error: WebAgentError) -> Status:
    """Return the exit status that stands for an error."""
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
    message = str(error)
    found, _, last = message.rpartition("; ")
    explicit = str(getattr(error, "next", ""))
    help_of = f"webagent {recipe} --help" if recipe else "webagent --help"
    return {
        "error": message,
        "kind": type(error).__name__,
        "next": explicit or (last if found else help_of),
    }


Result = TypeVar("Result")

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_until_stopped(work: Coroutine[Any, Any, Result], kept: str = "", next: str = "") -> Result:
    """Run it in an event loop of its own; a signal cancels it. Raises `Stopped` after its end.

    `kept` and `next` go into the message: what is safe, and the command that goes on.
    """

    async def watch() -> Result:
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

    return asyncio.run(watch())
