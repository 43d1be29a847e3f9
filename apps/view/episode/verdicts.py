"""Verdicts on an episode: by judges with their quotes, checks, steps, causes and people."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.rules import run_each_check
from evaluators.attribution import Attribution, attribute, find_remedy, has_failed
from evaluators.labels import Label
from evaluators.steps import JudgedStep, judge_by_rules
from tasks.task import TaskCheck
from webagent.errors import SetupError
from webagent.records import Score, Trajectory, is_of_policy

CHECKS = "checks_hold"
"""How the ids of the evaluators begin that make the task's own checks."""
_PASSES = 0.5
_PLACE = re.compile(
    r"\b(?:page|screenshot|step) (?P<number>\d+)"
    r"(?:: (?P<quote>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))?"
)
"""How judges name the page that they saw something on, counted from 1."""


@dataclass(frozen=True, slots=True)
class ReasonPart:
    """A stretch of a reason, with the step that it speaks of, if it does."""

    text: str
    step: int | None = None
    """Number of the step, counted from 1."""
    quote: str = ""
    """Text that the reason quotes from there."""


@dataclass(frozen=True, slots=True)
class GivenVerdict:
    """One verdict."""

    score: str
    who: str
    value: float | None
    pieces: tuple[ReasonPart, ...]
    is_trusted: bool = False
    """Whether it is what is taken for the truth."""
    departs: bool = False
    """Whether it says other than the truth."""

    @property
    def word(self) -> str:
        """Success, failure, or what else the value says."""
        if self.value is None:
            return "abstains"
        return {1.0: "success", 0.0: "failure"}.get(self.value, f"{self.value:.2f}")


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """One check of the task with what it comes to here."""

    check: TaskCheck
    value: float | None
    reason: str

    @property
    def word(self) -> str:
        """Holds, fails or open."""
        return {1.0: "holds", 0.0: "fails", None: "open"}.get(self.value, f"{self.value}")


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that is known of how well the episode went, and why."""

    truth: float | None
    """1 success, 0 failure, by the checks, else by people; None where neither says."""
    truth_by: str
    verdicts: tuple[GivenVerdict, ...]
    checks: tuple[CheckedRule, ...]
    steps: tuple[JudgedStep, ...]
    """What rules say of each step; none of an episode under way."""
    cause: Attribution | None
    remedy: str
    """What can be done about the cause."""
    troubles: tuple[str, ...] = ()
    """What could not be worked out, and why."""

    def judged(self, index: int) -> JudgedStep | None:
        """Return what is said of this step, if anything."""
        found = self.steps[index] if index < len(self.steps) else JudgedStep()
        return found if found.label else None


def findings(
    trajectory: Trajectory,
    scores: Sequence[Score],
    labels: Sequence[Label],
    written: Attribution | None,
    judge: str = CHECKS,
) -> Findings:
    """Return the findings of a finished episode; of one under way only what is stored already.

    `written` is what attribution.json says. Whether it failed says the judge whose id begins with
    `judge`; only failures of the policy have a cause.
    """
    truth, by = _find_truth(scores, labels)
    over = trajectory.ending is not None
    is_real = not trajectory.provenance.imagined
    steps: tuple[JudgedStep, ...] = ()
    if over and is_real:
        steps = judge_by_rules(trajectory, succeeded=None if truth is None else truth >= _PASSES)
    checks: list[CheckedRule] = []
    troubles: tuple[str, ...] = ()
    if trajectory.ending is not None and is_real and not trajectory.ending.is_infrastructure:
        try:
            results = run_each_check(trajectory)
            checks = [CheckedRule(check, one.value, one.reason) for check, one in results]
        except SetupError as error:
            troubles = (f"the checks cannot be made here: {error}",)
    cause, place = written, trajectory.provenance
    counts = over and is_of_policy(place.phase, place.world)
    if cause is None and counts and has_failed(trajectory, scores, judge):
        cause = attribute(trajectory, scores, trusted=judge)
    return Findings(
        truth=truth,
        truth_by=by,
        verdicts=tuple(_describe_verdict(score, truth) for score in scores),
        checks=tuple(checks),
        steps=steps,
        cause=cause,
        remedy=find_remedy(cause.cause, cause.kind) if cause else "",
        troubles=troubles,
    )


def pieces_of(reason: str) -> tuple[ReasonPart, ...]:
    """Return the reason with the pages that it names as parts of their own, to link to them."""
    pieces, end = [], 0
    for found in _PLACE.finditer(reason):
        if found.start() > end:
            pieces.append(ReasonPart(reason[end : found.start()]))
        quote = found["quote"] or ""
        try:
            quote = str(ast.literal_eval(quote)) if quote else ""
        except (ValueError, SyntaxError):  # not as Python writes it
            quote = quote[1:-1]
        pieces.append(ReasonPart(found[0], int(found["number"]), quote))
        end = found.end()
    if reason[end:]:
        pieces.append(ReasonPart(reason[end:]))
    return tuple(pieces)


def _describe_verdict(score: Score, truth: float | None) -> GivenVerdict:
    value = score.value
    is_success = score.name == "success"
    departs = False
    if is_success and value is not None and truth is not None:
        departs = (value >= _PASSES) != (truth >= _PASSES)
    return GivenVerdict(
        score=score.name,
        who=score.evaluator,
        value=value,
        pieces=pieces_of(score.reason),
        is_trusted=is_success and score.evaluator.startswith(CHECKS),
        departs=departs,
    )


def _find_truth(scores: Sequence[Score], labels: Sequence[Label]) -> tuple[float | None, str]:
    """Return the verdict by the task's checks, else by a majority of people who were certain."""
    for score in scores:
        is_check = score.name == "success" and score.evaluator.startswith(CHECKS)
        if is_check and score.value is not None:
            return float(score.value >= _PASSES), score.evaluator
    values = [label.value for label in labels if label.value is not None]
    certain = [value > _PASSES for value in values if value != _PASSES]
    if certain and 2 * sum(certain) != len(certain):
        return float(2 * sum(certain) > len(certain)), "people"
    return None, ""
