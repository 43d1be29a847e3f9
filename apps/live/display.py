"""What is told of a task while it is done: to a person on a terminal or in a log, to a program."""

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.text import Text

from webagent.action import format_action, is_final
from webagent.agent import Began, Decided, Done, Event
from webagent.guard.actions import elements_of, quote_short
from webagent.records import PERSON, Decision, Observation

_LONGEST = 400


class Terminal:
    """For eyes: colours where there is a terminal, plain lines else; nothing a page or model says
    can steer the terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)
        is_live = self._console.is_terminal
        self._status = self._console.status("", spinner="dots") if is_live else None
        self.awaited: Callable[[], str] = lambda: "the model is thinking"
        """What is waited for from one step to the next."""

    def show(self, event: Event) -> None:
        """What has just happened, in a line or two."""
        if isinstance(event, Began):
            self._print(
                "start", f"{plain(event.seen.url)}  {quote_short(event.seen.title)}", "bold"
            )
            self._wait(self.awaited())
        elif isinstance(event, Decided):
            decision = event.decision
            who = "you" if decision.weights == PERSON else ""
            if decision.thought and not who:
                self._print("", plain(decision.thought), "italic")
            said = (
                f"{who}: {described(decision, event.seen)}"
                if who
                else described(decision, event.seen)
            )
            self._print(f"{event.number:3}", said, "bold cyan")
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
        """A line beside the others; what is waited for is shown again with the next event."""
        self._rest()
        self._print("", sentence, "magenta")

    def end(self, lines: list[str], *, good: bool) -> None:
        """The last lines."""
        self._rest()
        for number, line in enumerate(lines):
            self._console.print(
                Text(line, style=("green" if good else "red") if not number else "")
            )

    def _print(self, place: str, text: str, style: str) -> None:
        self._console.print(Text.assemble((f"{place:<5} ", "dim"), (text, style)))

    def _wait(self, for_what: str) -> None:
        if self._status is not None:
            self._status.update(for_what)
            self._status.start()

    def _rest(self) -> None:
        if self._status is not None:
            self._status.stop()


def told(event: Event) -> dict[str, Any]:
    """What has just happened, for a program."""
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
        "on": _element(decision, event.seen),
        "seconds": round(decision.seconds, 3),
        "usage": dict(decision.usage),
    }


def described(decision: Decision, seen: Observation) -> str:
    """An action in a line, with what it is done to."""
    text = plain(format_action(decision.action))
    element = _element(decision, seen)
    return f"{text}  # {element}" if element else text


def plain(text: str) -> str:
    """Words of a page or a model on one line, shortened, without what would steer a terminal."""
    line = " ".join(text.split())
    seen = "".join(each if each.isprintable() else "�" for each in line)
    return seen if len(seen) <= _LONGEST else seen[: _LONGEST - 1] + "…"


def _element(decision: Decision, seen: Observation) -> str:
    found = elements_of(decision.action, seen)[:1] if not is_final(decision.action) else ()
    return "".join(f"{node.role} {quote_short(node.name)}" for node in found)
