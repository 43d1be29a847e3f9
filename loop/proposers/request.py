"""Requests: what a model is shown so that it invents tasks, as plain values for a prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loop.proposers.scope import Scope
from tasks.task import Task

PROPOSE = Path(__file__).parent / "prompts" / "propose.md"
"""The prompt of every source: a section for each."""
FILTER = Path(__file__).parent / "prompts" / "filter.md"
_MOST_KNOWN = 40
_LONGEST_GOAL = 300


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model: a section of the prompt with what fills it."""

    source: str
    """One of `tasks.proposal.SOURCES`."""
    section: str
    count: int
    """How many tasks are asked for."""
    slots: Mapping[str, str]
    material: Mapping[str, str] = field(default_factory=dict)
    """Slots whose text comes from outside, to be fenced."""
    images: tuple[str, ...] = ()
    """References to screenshots, in the order of what is shown."""
    origins: tuple[str, ...] = ()
    """By number from 1, what a task may be made from: the name of a page, a chapter or a task."""
    parents: tuple[str, ...] = ()
    """By the same numbers, the ids of tasks; empty where what is shown are no tasks."""
    directions: tuple[str, ...] = ()
    """By the same numbers, how a task may differ; empty where it may be as it likes."""


def system_slots(scope: Scope, section_of: Mapping[str, str]) -> dict[str, str]:
    """What fills the section `system`; `section_of` are the prompt's sections, unfilled."""
    checks = ""
    if scope.tables:
        tables = "\n".join(f"- {name}: {', '.join(cols)}" for name, cols in scope.tables.items())
        rules = "\n".join(f"- {name}" for name in scope.rules)
        checks = section_of["checks"].replace("{{rules}}", rules).replace("{{tables}}", tables)
    living = section_of["local" if scope.is_reset else "live"]
    return {"steps": str(scope.max_steps), "living": living, "checks": checks}


def common_slots(scope: Scope, count: int, known: Sequence[Task]) -> dict[str, str]:
    """What every source's section has: the site, how many, who is there, what is there already."""
    accounts = "; ".join(f"{role} ({can})" for role, can in scope.accounts.items())
    return {
        "site": f"{scope.name}, at {scope.address}",
        "count": str(count),
        "accounts": accounts or "none",
        "known": known_goals(known),
    }


def known_goals(known: Sequence[Task]) -> str:
    """The goals there are already, the last ones where there are many."""
    goals = [task.goal for task in known if task.goal][-_MOST_KNOWN:]
    return "\n".join(f"- {' '.join(goal.split())[:_LONGEST_GOAL]}" for goal in goals) or "none yet"


def shared_out(count: int, parts: int) -> list[int]:
    """The count shared between parts as evenly as it goes, the first ones getting more."""
    return [count // parts + (part < count % parts) for part in range(parts)] if parts else []
