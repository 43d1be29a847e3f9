"""A task: what to do, where it starts, and how anyone can tell that it was done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, list["Json"], dict[str, "Json"], None]


@dataclass(frozen=True, slots=True)
class Check:
    """One condition on the captured evidence; a score holds when all of its checks hold."""

    evidence: str
    """Name of the piece of evidence, a key of `Task.evidence`."""
    rule: str
    """How to compare: the name of a rule in `evaluators.rules`."""
    expected: Json
    score: str = "success"
    """The score this check belongs to; `success` is the headline."""


@dataclass(frozen=True, slots=True)
class PageHooks:
    """JavaScript that a benchmark's pages need from outside; each runs in the page's own world."""

    init: str = ""
    """Run in every document before the page's own scripts."""
    start: str = ""
    """Statements run once, after the start page has loaded."""
    goal: str = ""
    """Expression giving the goal as a string, for pages that write their own task."""
    over: str = ""
    """Expression that is truthy once the page itself has ended the episode."""
    ignore: str = ""
    """CSS selector of elements that are no part of the task and are never observed."""


@dataclass(frozen=True, slots=True)
class Task:
    """What an episode is asked to do. Plain data: it can be stored, compared and sent."""

    id: str
    """Versioned and unique but for the seed, as `miniwob/click-test-2@1`."""
    start_url: str
    goal: str = ""
    """The instruction; empty where the page writes it (`PageHooks.goal`)."""
    seed: int = 0
    max_steps: int = 10
    hooks: PageHooks = PageHooks()
    evidence: Mapping[str, str] = field(default_factory=dict)
    """Name to JavaScript expression, evaluated before the page closes; values are JSON."""
    checks: tuple[Check, ...] = ()
    """Empty where only a judge can say."""
    viewport: tuple[int, int] = (1280, 720)
    """CSS pixels, width by height."""
    clock: str = "virtual"
    """`virtual`: the page stands still while the policy thinks; `real`: it does not."""
    settle_ms: int = 5000
    """Milliseconds of the virtual clock that the page gets after each action."""
    parent: str = ""
    """The task this one was made from, when a proposer made it."""

    @property
    def name(self) -> str:
        """The id without benchmark and version: `click-test-2`."""
        return self.id.rsplit("/", 1)[-1].split("@", 1)[0]
