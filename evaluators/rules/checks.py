"""A task's checks as an evaluator: each rule on its piece of the captured evidence."""

from collections.abc import Callable, Mapping
from math import prod

from evaluators.evaluator import FunctionEvaluator, Verdict, evaluator
from evaluators.rules.rule import CONSULTING_RULES, RULES, Means, RuleQuestion
from tasks.task import Check, Json
from webagent.action import Answer, GiveUp
from webagent.errors import unknown_name
from webagent.records import Trajectory


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


def run_each_check(trajectory: Trajectory) -> tuple[tuple[Check, Verdict], ...]:
    """Return what each check of the task, of whatever score, says of the episode, one by one.

    A rule that has to ask a model abstains here. Raises `SetupError` for an unknown rule.
    """
    evidence = {**trajectory.evidence, **_of_episode(trajectory)}
    return tuple((check, _apart(check, evidence)) for check in trajectory.task.checks)


def _apart(check: Check, evidence: Mapping[str, Json]) -> Verdict:
    if check.rule in CONSULTING_RULES:
        return Verdict(None, f"{check.rule} asks a model or looks at pictures")
    if check.rule not in RULES:
        raise unknown_name("rule", check.rule, [*RULES, *CONSULTING_RULES])
    if check.evidence not in evidence:
        return Verdict(None, _not_captured(check.evidence, evidence))
    found = evidence[check.evidence]
    return _compare(check, found, lambda: RULES[check.rule](found, check.expected))


async def _check(check: Check, evidence: Mapping[str, Json], goal: str, means: Means) -> Verdict:
    if check.rule not in RULES and check.rule not in CONSULTING_RULES:
        raise unknown_name("rule", check.rule, [*RULES, *CONSULTING_RULES])
    if check.evidence not in evidence:
        return Verdict(None, _not_captured(check.evidence, evidence))
    found = evidence[check.evidence]
    if check.rule in RULES and check.rule not in CONSULTING_RULES:
        return _compare(check, found, lambda: RULES[check.rule](found, check.expected))
    question = RuleQuestion(found, check.expected, goal, means, evidence)
    try:
        verdict = await CONSULTING_RULES[check.rule](question)
    except TypeError as error:
        return _incomparable(check, found, error)
    return _compare(check, found, lambda: verdict)


def _compare(check: Check, found: Json, compare: Callable[[], bool | Verdict]) -> Verdict:
    """Return what comparing comes to, with what was compared."""
    what = _describe_comparison(check, found)
    try:
        holds = compare()
    except TypeError as error:
        return _incomparable(check, found, error)
    if isinstance(holds, Verdict):
        return Verdict(holds.value, f"{what}: {holds.reason}")
    return Verdict(float(holds), f"{what}: {'holds' if holds else 'fails'}")


def _incomparable(check: Check, found: Json, error: TypeError) -> Verdict:
    return Verdict(None, f"{_describe_comparison(check, found)}: cannot be compared ({error})")


def _describe_comparison(check: Check, found: Json) -> str:
    return f"{check.evidence} is {_shorten(found)}, {check.rule} {_shorten(check.expected)}"


def _not_captured(name: str, evidence: Mapping[str, Json]) -> str:
    """Return what is missing, with the reason where one was noted at the capture."""
    notes = evidence.get("uncaptured")
    reason = notes.get(name) if isinstance(notes, dict) else None
    return f"evidence {name} was not captured" + (f": {reason}" if reason else "")


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
