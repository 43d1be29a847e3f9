"""A failed episode laid out for comparison: what was shown, done, expected."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from evaluators.attribution.words import labelled, pieces_of, stands_in, text_of
from evaluators.steps.rules import Course
from webagent.records import Node, Observation, Trajectory

_LONGEST = 80
"""Characters of a value that somebody would give."""


@dataclass(frozen=True)
class Case:
    """A failed episode with what is compared in it."""

    trajectory: Trajectory
    shown: Callable[[Observation], str]
    """What the agent was shown of a page."""

    @property
    def goal(self) -> str:
        """What was asked for."""
        return self.trajectory.goal or self.trajectory.task.goal

    @cached_property
    def course(self) -> Course:
        """The pages and deeds, compared with each other."""
        return Course(self.trajectory)

    @cached_property
    def seen(self) -> tuple[Observation, ...]:
        """The pages the agent acted on."""
        return tuple(step.observation for step in self.trajectory.steps)

    @cached_property
    def pages(self) -> tuple[Observation, ...]:
        """All pages, the last one included where it was seen."""
        last = self.trajectory.last
        return (*self.seen, last) if last is not None else self.seen

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Everything the observations have of each page that was acted on."""
        return tuple(map(text_of, self.seen))

    @cached_property
    def pieces(self) -> tuple[frozenset[str], ...]:
        """What could be copied from each page."""
        return tuple(frozenset(pieces_of(page)) for page in self.seen)

    @cached_property
    def labels(self) -> tuple[tuple[tuple[str, str], ...], ...]:
        """Labels of the goal with what stands beside them, of each page."""
        return tuple(
            tuple(pair for pair in labelled(page) if pair[0] in self.goal) for page in self.seen
        )

    @cached_property
    def expected(self) -> tuple[str, ...]:
        """Texts that the task's checks compare with: answers and values, not addresses."""
        texts: list[str] = []
        for check in self.trajectory.task.checks:
            if check.score == "success" and "url" not in check.evidence + check.rule:
                texts += _texts(check.expected, check.evidence == "episode.answer")
        return tuple(text for text in texts if "://" not in text)

    @property
    def last_step(self) -> int:
        """Index of the last step."""
        return len(self.trajectory.steps) - 1


def page_of(page: Observation) -> str:
    """What tells a page's fields from another page's of the same marks."""
    return page.url.split("#", 1)[0]


def clicked_later(case: Case, index: int, node: Node) -> bool:
    """Whether the element was acted on after this step, on the same page."""
    here = page_of(case.seen[index])
    return any(
        getattr(step.decision.action, "mark", 0) == node.mark and page_of(step.observation) == here
        for step in case.trajectory.steps[index + 1 :]
    )


def was_clicked(case: Case, node: Node) -> bool:
    """Whether an element of this role and name was acted on."""
    for step in case.trajectory.steps:
        target = step.observation.node(getattr(step.decision.action, "mark", 0))
        if target is not None and (target.role, target.name) == (node.role, node.name):
            return True
    return False


def was_used(case: Case, term: str) -> bool:
    """Whether the term was typed, chosen, answered, or acted on by its name."""
    for step in case.trajectory.steps:
        action = step.decision.action
        target = step.observation.node(getattr(action, "mark", 0))
        given = getattr(action, "text", "") or getattr(action, "option", "")
        if stands_in(term, given) or (target is not None and stands_in(term, target.name)):
            return True
    return False


def was_given(case: Case, value: str) -> bool:
    """Whether the value was typed, chosen or answered."""
    actions = [step.decision.action for step in case.trajectory.steps]
    given = [getattr(action, "text", "") or getattr(action, "option", "") for action in actions]
    return any(stands_in(value, text) for text in given)


def ticking(case: Case, node: Node) -> int:
    """The step that chose it; the last one where none did."""
    hits = [
        index
        for index, step in enumerate(case.trajectory.steps)
        if (target := step.observation.node(getattr(step.decision.action, "mark", 0)))
        and (target.role, target.name) == (node.role, node.name)
    ]
    return hits[-1] if hits else case.last_step


def _texts(expected: object, numbers: bool) -> list[str]:
    """The texts in a check's expectation of 2 to 80 characters, and where so asked its numbers."""
    if isinstance(expected, str):
        return [expected] if 1 < len(expected.strip()) <= _LONGEST else []
    if isinstance(expected, bool | None):
        return []
    if isinstance(expected, int | float):
        return [f"{expected:g}"] if numbers and len(f"{expected:g}") > 1 else []
    values = list(expected.values()) if isinstance(expected, dict) else expected
    if not isinstance(values, list | tuple):
        return []
    return [text for value in values for text in _texts(value, numbers)]
