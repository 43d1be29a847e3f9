"""Rules by name, and a task's checks as an evaluator: each rule on its piece of the evidence."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from evaluators.evaluator import FunctionEvaluator, Verdict, evaluator
from tasks.task import Json, TaskCheck
from webagent.action import Answer, GiveUp
from webagent.errors import unknown_name
from webagent.models.model import Model
from webagent.records import Trajectory

Rule: TypeAlias = Callable[[Json, Json], bool | Verdict]
"""Whether what was found is as expected, or a verdict that says more.

Raises `TypeError` when the two cannot be compared."""


@dataclass(frozen=True, slots=True)
class Means:
    """What rules may use besides the evidence; a rule that lacks its means abstains."""

    model: Model | None = None
    """For published checks that ask a language model, such as fuzzy matches."""
    images: Callable[[str], bytes] | None = None
    """An image by its reference. Raises `StoreError`."""


@dataclass(frozen=True, slots=True)
class RuleQuestion:
    """What a rule that needs means is asked."""

    found: Json
    expected: Json
    goal: str
    means: Means
    evidence: Mapping[str, Json] = field(default_factory=dict)
    """All of it, for a check that compares two pieces."""


ConsultingRule: TypeAlias = Callable[[RuleQuestion], Awaitable[Verdict]]
"""A rule that needs a model or images. Raises `TypeError` when there is nothing to compare."""

RULES: dict[str, Rule] = {}
CONSULTING_RULES: dict[str, ConsultingRule] = {}


def rule(function: Rule) -> Rule:
    """Register a rule under its function's name."""
    RULES[function.__name__] = function
    return function


def consulting_rule(function: ConsultingRule) -> ConsultingRule:
    """Register a rule that needs means under its function's name."""
    CONSULTING_RULES[function.__name__] = function
    return function


def checks_hold(score: str = "success", means: Means | None = None) -> FunctionEvaluator:
    """Return the evaluator that is 1 when every check of that score holds and 0 when one fails.

    Checks that give a share are multiplied. It abstains when no check fails but one could not be
    made: evidence missing, not comparable, or no means to look. Besides `Task.evidence`,
    `Task.probes` and `Task.records` every episode has `episode.ending`, `episode.answer` (empty
    when none was given), `episode.said` (the same, and `N/A` where the agent gave up),
    `episode.urls` (every page that was seen, in order) and, where the last page was seen,
    `episode.url`.
    With a model among its means the id names it. Raises `SetupError` for an unknown rule.
    """
    at_hand = means or Means()
    name = f"checks_hold[{at_hand.model.name}]" if at_hand.model else "checks_hold"

    @evaluator(name, score=score)
    async def judge(trajectory: Trajectory) -> Verdict:
        checks = [check for check in trajectory.task.checks if check.score == score]
        if not checks:
            return Verdict(None, f"the task has no check for {score!r}; a judge can say")
        evidence = {**trajectory.evidence, **_of_episode(trajectory)}
        goal = trajectory.goal or trajectory.task.goal
        verdicts = [await _check(check, evidence, goal, at_hand) for check in checks]
        for decisive in (0.0, None):
            reasons = [verdict.reason for verdict in verdicts if verdict.value == decisive]
            if reasons:
                return Verdict(decisive, "; ".join(reasons))
        share = prod(verdict.value or 0.0 for verdict in verdicts)
        return Verdict(share, "; ".join(verdict.reason for verdict in verdicts))

    return judge


def run_each_check(trajectory: Trajectory) -> tuple[tuple[TaskCheck, Verdict], ...]:
    """Return what each check of the task, of whatever score, says of the episode, one by one.

    A rule that has to ask a model abstains here. Raises `SetupError` for an unknown rule.
    """
    evidence = {**trajectory.evidence, **_of_episode(trajectory)}
    found = []
    for check in trajectory.task.checks:
        verdict = Verdict(None, f"{check.rule} asks a model or looks at pictures")
        if check.rule not in CONSULTING_RULES:
            verdict = _compare(check, evidence)
        found.append((check, verdict))
    return tuple(found)


async def _check(
    check: TaskCheck, evidence: Mapping[str, Json], goal: str, means: Means
) -> Verdict:
    answer: Verdict | TypeError | None = None
    if check.rule in CONSULTING_RULES and check.evidence in evidence:
        found = evidence[check.evidence]
        question = RuleQuestion(found, check.expected, goal, means, evidence)
        try:
            answer = await CONSULTING_RULES[check.rule](question)
        except TypeError as error:
            answer = error
    # A published scorer is installed when it is first asked: episodes beside this one go on.
    return await asyncio.to_thread(_compare, check, evidence, answer)


def _compare(
    check: TaskCheck, evidence: Mapping[str, Json], answer: Verdict | TypeError | None = None
) -> Verdict:
    """Return what the rule says, or what a rule that asks has answered, with what was compared."""
    if check.rule not in RULES and check.rule not in CONSULTING_RULES:
        raise unknown_name("rule", check.rule, [*RULES, *CONSULTING_RULES])
    if check.evidence not in evidence:
        notes = evidence.get("uncaptured")
        reason = notes.get(check.evidence) if isinstance(notes, dict) else None
        return Verdict(
            None, f"evidence {check.evidence} was not captured" + (f": {reason}" if reason else "")
        )
    found = evidence[check.evidence]
    what = f"{check.evidence} is {_shorten(found)}, {check.rule} {_shorten(check.expected)}"
    try:
        if isinstance(answer, TypeError):
            raise answer
        holds = RULES[check.rule](found, check.expected) if answer is None else answer
    except TypeError as error:
        return Verdict(None, f"{what}: cannot be compared ({error})")
    if isinstance(holds, Verdict):
        return Verdict(holds.value, f"{what}: {holds.reason}")
    return Verdict(float(holds), f"{what}: {'holds' if holds else 'fails'}")


def _of_episode(trajectory: Trajectory) -> dict[str, Json]:
    """Return what the record itself is evidence of."""
    final = trajectory.steps[-1].decision.action if trajectory.steps else None
    answer = final.text if isinstance(final, Answer) else ""
    known: dict[str, Json] = {
        "episode.ending": str(trajectory.ending),
        "episode.answer": answer,
        "episode.said": "N/A" if isinstance(final, GiveUp) else answer,
    }
    urls = [step.observation.url for step in trajectory.steps]
    if trajectory.last is not None:
        urls.append(trajectory.last.url)
        known["episode.url"] = trajectory.last.url
    known["episode.urls"] = list(urls)
    return known


def _shorten(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
