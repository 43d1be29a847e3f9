"""The terminal: what is printed for people or, with `--json`, for programs, and what is asked."""

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from io import UnsupportedOperation
from typing import TYPE_CHECKING, Any, TextIO

from webagent.errors import SetupError

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH = 120
"""Of tables that go into a file or a pipe, in characters."""
_STDOUT, _STDERR = 1, 2
_program: ContextVar[Callable[[str], None] | None] = ContextVar("program", default=None)
_lines: ContextVar[Counter[str]] = ContextVar("lines")
"""How many were emitted; one for the tasks of an event loop, too, which copy the context."""


def is_for_program() -> bool:
    """Whether a program reads what is printed."""
    return _program.get() is not None


def emit(event: Mapping[str, Any]) -> None:
    """Tell a program of something at once, as one line of JSON; people are told by `print`.

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


def results_console(width: int = _WIDTH) -> "Console":
    """Where results are shown to people: the terminal, or a pipe as wide as `width`."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=width)


def progress_console() -> "Console":
    """Where it is shown how far something is: standard error, and nowhere with `--json`."""
    from rich.console import Console

    return Console(stderr=True, quiet=is_for_program())


@contextmanager
def keep_stdout_for_json() -> Iterator[None]:
    """Keep standard output for `emit` and `conclude`; all else that is printed goes to stderr.

    Also what other programs print that are started meanwhile, as they inherit the file.
    """
    with _separate_stdout() as output, redirect_stdout(sys.stderr):

        def tell(text: str) -> None:
            output.write(text)
            output.flush()

        asked, counted = _program.set(tell), _lines.set(Counter())
        try:
            yield
        finally:
            _program.reset(asked)
            _lines.reset(counted)


@contextmanager
def _separate_stdout() -> Iterator[TextIO]:
    """Standard output as a file of its own, while its number leads to standard error."""
    try:
        here = os.dup(sys.stdout.fileno())
    except UnsupportedOperation:
        yield sys.stdout
        return
    sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        with os.fdopen(here, "w", encoding="utf-8") as output:
            yield output
    finally:
        os.dup2(kept, _STDOUT)
        os.close(kept)


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
        raise SetupError("this needs a person at a terminal to press Enter") from error
