"""The terminal of a live run: what is shown while the task runs, and the keys that steer it."""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Callable
from typing import Any, Self

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from loop.console.screen import PlainConsole, remove_controls
from webagent.action import format_action, is_final
from webagent.agent import Began, Decided, Done, Event
from webagent.guard.decide import elements_of, quote_short
from webagent.records import PERSON, Decision, Observation

_LONGEST = 400


class Terminal:
    """For eyes: colours where there is a terminal, plain lines else; nothing a page or model says
    can steer the terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or PlainConsole()
        self._waiting: Progress | None = None
        self.awaited: Callable[[], str] = lambda: "the model is thinking"
        """What is waited for from one step to the next."""

    def show(self, event: Event) -> None:
        """Show what has just happened, in a line or two."""
        if isinstance(event, Began):
            where = f"{plain(event.seen.url)}  {quote_short(event.seen.title)}"
            self._print("start", where, "bold")
            self._wait(self.awaited())
        elif isinstance(event, Decided):
            decision = event.decision
            element = _name_element(decision, event.seen)
            text = plain(format_action(decision.action)) + (f"  # {element}" if element else "")
            if decision.weights == PERSON:
                text = f"you: {text}"
            elif decision.thought:
                self._print("", plain(decision.thought), "italic")
            self._print(f"{event.number:3}", text, "bold cyan")
            if is_final(decision.action):
                self._rest()
            else:
                self._wait("the page is at work")
        else:
            outcome = plain(event.seen.outcome)
            style = "yellow" if outcome else "dim"
            self._print("", f"→ {outcome or 'done'}  ({event.seconds:.1f} s)", style)
            self._wait(self.awaited())

    def say(self, sentence: str) -> None:
        """Show a line beside the others; what is waited for is shown again with the next event."""
        self._rest()
        self._print("", sentence, "magenta")

    def end(self, lines: list[str], *, good: bool) -> None:
        """Show the last lines."""
        self._rest()
        styles = ["green" if good else "red", *[""] * len(lines)]
        for line, style in zip(lines, styles, strict=False):
            self._console.print(line, style=style)

    def _print(self, place: str, text: str, style: str) -> None:
        self._console.print(Text.assemble((f"{place:<5} ", "dim"), (remove_controls(text), style)))

    def _wait(self, for_what: str) -> None:
        if not self._console.is_interactive:
            return
        if self._waiting is None:
            self._waiting = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
            )
            self._waiting.add_task("")
            self._waiting.start()
        self._waiting.update(self._waiting.task_ids[0], description=plain(for_what))

    def _rest(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None


def event_facts(event: Event) -> dict[str, Any]:
    """Return what has just happened, for a program."""
    if isinstance(event, Began):
        return {"event": "start", "url": event.seen.url, "title": event.seen.title}
    if isinstance(event, Done):
        seen = event.seen
        return {
            "event": "outcome",
            "step": event.number,
            "outcome": seen.outcome or "done",
            "url": seen.url,
            "title": seen.title,
            "seconds": round(event.seconds, 3),
        }
    decision = event.decision
    return {
        "event": "decision",
        "step": event.number,
        "by": "person" if decision.weights == PERSON else "agent",
        "thought": decision.thought,
        "action": format_action(decision.action),
        "on": _name_element(decision, event.seen),
        "seconds": round(decision.seconds, 3),
        "usage": dict(decision.usage),
    }


def plain(text: str) -> str:
    """Return words of a page or a model on one short line, without what steers a terminal."""
    line = " ".join(text.split())
    seen = "".join(each if each.isprintable() else "�" for each in line)
    return seen if len(seen) <= _LONGEST else seen[: _LONGEST - 1] + "…"


def _name_element(decision: Decision, seen: Observation) -> str:
    found = elements_of(decision.action, seen)[:1] if not is_final(decision.action) else ()
    return "".join(f"{node.role} {quote_short(node.name)}" for node in found)


Press = Callable[[str], object]


class KeyReader:
    """Calls `press` with each key, unless a `take` waits for it.

    `is_heard` is False where standard input is not this process's terminal.
    """

    def __init__(self, press: Press) -> None:
        self._press = press
        self._wanted: asyncio.Future[str] | None = None
        self._before: list[object] | None = None
        # Setting up a terminal that another process group has would stop this process.
        try:
            number = sys.stdin.fileno()
            self.is_heard = os.isatty(number) and os.tcgetpgrp(number) == os.getpgrp()
        except (OSError, ValueError):
            self.is_heard = False

    def __enter__(self) -> Self:
        if self.is_heard:
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
            asyncio.get_running_loop().add_reader(sys.stdin, self._read)
        return self

    def __exit__(self, *failure: object) -> None:
        if self._before is not None:
            asyncio.get_running_loop().remove_reader(sys.stdin)
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]  # as it was read

    async def take(self) -> str:
        """Return the next key."""
        self._wanted = asyncio.get_running_loop().create_future()
        try:
            return await self._wanted
        finally:
            self._wanted = None

    def _read(self) -> None:
        read = os.read(sys.stdin.fileno(), 64).decode(errors="replace")
        if not read:  # the terminal is gone
            asyncio.get_running_loop().remove_reader(sys.stdin)
        for key in read:
            if self._wanted is not None and not self._wanted.done():
                self._wanted.set_result(key)
            else:
                self._press(key)
