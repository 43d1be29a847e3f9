"""From demonstrations: the pages that were walked through, or the tasks that were solved.

Two ways. PAE (Zhou et al., ICML 2025) shows screenshots of somebody using the site and nothing of
what was meant; WebRL (Qi et al., ICLR 2025) shows tasks as examples of what to ask for next.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loop.proposers.pages import PageSeen, from_pages
from loop.proposers.request import Request, common_slots, shared_out
from loop.proposers.scope import Scope
from tasks.task import Task

_MOST_ACTIONS = 30


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A task as it was solved once."""

    task: Task
    goal: str
    """As the page gave it, where the task's own is empty."""
    actions: tuple[str, ...]
    """What was done, each with the element it was done to, in words."""
    pages: tuple[PageSeen, ...] = ()
    """What was seen on the way."""
    episode: str = ""


def from_examples(
    scope: Scope,
    demonstrations: Sequence[Demonstration],
    count: int,
    known: Sequence[Task] = (),
    at_once: int = 4,
) -> list[Request]:
    """Requests that show solved tasks with what was done, WebRL's way."""
    groups = [
        demonstrations[start : start + at_once] for start in range(0, len(demonstrations), at_once)
    ]
    return [
        Request(
            "demonstrations",
            "demonstrations",
            share,
            common_slots(scope, share, known),
            {
                "demonstrations": "\n\n".join(
                    f"{number}. {' '.join(each.goal.split())}\n{_done(each.actions)}"
                    for number, each in enumerate(group, 1)
                )
            },
            origins=tuple(f"the demonstration {each.episode or each.task.id}" for each in group),
            parents=tuple(each.task.id for each in group),
        )
        for group, share in zip(groups, shared_out(count, len(groups)), strict=True)
        if share
    ]


def from_screens(
    scope: Scope,
    demonstrations: Sequence[Demonstration],
    count: int,
    known: Sequence[Task] = (),
    at_once: int = 4,
) -> list[Request]:
    """Requests that show the pages somebody went through and not what for, PAE's way."""
    seen: dict[str, PageSeen] = {}
    for demonstration in demonstrations:
        for page in demonstration.pages:
            seen.setdefault(page.url, page)
    asked = from_pages(scope, list(seen.values()), count, known, at_once)
    return [replace(request, source="demonstrations") for request in asked]


def _done(actions: Sequence[str]) -> str:
    shown = [f"   - {action}" for action in actions[:_MOST_ACTIONS]]
    left = len(actions) - len(shown)
    return "\n".join([*shown, *([f"   - and {left} more"] if left > 0 else [])])
