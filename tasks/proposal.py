"""A proposal: a task that somebody or something thought of, and what became of it."""

from dataclasses import dataclass, field

from tasks.task import Task

SOURCES = ("pages", "demonstrations", "exploration", "curiosity", "manual", "failures")
"""Where proposals come from."""
UNTRIED = "nobody has tried it"
"""The reason of a refusal that more work may lift."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a proposal is not taken."""

    filter: str
    """`validity`, `novelty`, `safety` or `feasibility`."""
    reason: str


@dataclass(frozen=True, slots=True)
class TaskProposal:
    """A task with where it comes from."""

    task: Task
    """Its `parent` names the task it was made from, where there is one."""
    source: str
    """One of `SOURCES`."""
    reason: str
    """Why it was thought of, in a sentence for people."""
    solution: str = ""
    """Id of an episode that does it, whoever played that; empty while none is known."""
    refusals: tuple[Refusal, ...] = field(default=())
    """Empty for a proposal that passed every filter it went through."""
