"""Task checks: pure functions of the evidence that was captured before the page closed."""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias
from urllib.parse import SplitResult, parse_qs, urlsplit

from evaluators.evaluator import Judged, Verdict, evaluator
from tasks.task import Check, Json
from webagent.action import Answer
from webagent.errors import SetupError, unknown_name
from webagent.records import Trajectory

Rule: TypeAlias = Callable[[Json, Json], bool]
"""Whether what was found is as expected. Raises `TypeError` when the two cannot be compared."""

RULES: dict[str, Rule] = {}


def rule(function: Rule) -> Rule:
    """Register a rule under its function's name."""
    RULES[function.__name__] = function
    return function


@rule
def equals(found: Json, expected: Json) -> bool:
    """The same JSON value; 1 equals 1.0 and differs from true."""
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(equals, found, expected))
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            equals(found[key], expected[key]) for key in found
        )
    return found == expected


@rule
def same_text(found: Json, expected: Json) -> bool:
    """The same words, whatever their case and the space around them."""
    return _text(found) == _text(expected)


@rule
def at_least(found: Json, expected: Json) -> bool:
    """A number that is not smaller."""
    return _number(found) >= _number(expected)


@rule
def above(found: Json, expected: Json) -> bool:
    """A number that is greater."""
    return _number(found) > _number(expected)


@rule
def contains(found: Json, expected: Json) -> bool:
    """A text with the expected words in it, as `same_text` compares; a list with the value."""
    if isinstance(found, list):
        return any(equals(value, expected) for value in found)
    return _text(expected) in _text(found)


@rule
def matches(found: Json, expected: Json) -> bool:
    """A text in which the regular expression is found somewhere."""
    try:
        return re.search(_string(expected), _string(found)) is not None
    except re.error as error:
        raise SetupError(
            f"the pattern {expected!r} is not a regular expression: {error}"
        ) from error


@rule
def one_of(found: Json, expected: Json) -> bool:
    """Equal to a value of the expected list."""
    if not isinstance(expected, list):
        raise TypeError(f"one_of needs a list, found {expected!r}")
    return any(equals(found, value) for value in expected)


@rule
def url_matches(found: Json, expected: Json) -> bool:
    """The same host and path, with at least the expected query; scheme and fragment are free."""
    page, wanted = _address(found), _address(expected)
    query = parse_qs(page.query, keep_blank_values=True)
    asked = parse_qs(wanted.query, keep_blank_values=True)
    return (
        page.netloc.lower() == wanted.netloc.lower()
        and page.path.rstrip("/") == wanted.path.rstrip("/")
        and all(query.get(key) == values for key, values in asked.items())
    )


def checks_hold(score: str = "success") -> Judged:
    """The evaluator that is 1 when every check of that score holds and 0 when one fails.

    It abstains when no check fails but one could not be made: evidence missing, or not comparable.
    Besides `Task.evidence` every episode has `episode.ending`, `episode.answer` (empty
    when none was given) and, where the last page was seen, `episode.url`.
    Raises `SetupError` for a rule that does not exist.
    """

    @evaluator("checks_hold", score=score)
    def judge(trajectory: Trajectory) -> Verdict:
        checks = [check for check in trajectory.task.checks if check.score == score]
        if not checks:
            return Verdict(None, f"the task has no check for {score!r}; a judge can say")
        evidence = {**trajectory.evidence, **_of_episode(trajectory)}
        return _all_of([_check(check, evidence) for check in checks])

    return judge


def _check(check: Check, evidence: Mapping[str, Json]) -> Verdict:
    if check.rule not in RULES:
        raise unknown_name("rule", check.rule, RULES)
    if check.evidence not in evidence:
        return Verdict(None, f"evidence {check.evidence} was not captured")
    found = evidence[check.evidence]
    what = f"{check.evidence} is {_shown(found)}, {check.rule} {_shown(check.expected)}"
    try:
        holds = RULES[check.rule](found, check.expected)
    except TypeError as error:
        return Verdict(None, f"{what}: cannot be compared ({error})")
    return Verdict(float(holds), f"{what}: {'holds' if holds else 'fails'}")


def _all_of(verdicts: list[Verdict]) -> Verdict:
    """A failed check decides, then one that could not be made; else all hold."""
    for decisive in (0.0, None):
        reasons = [verdict.reason for verdict in verdicts if verdict.value == decisive]
        if reasons:
            return Verdict(decisive, "; ".join(reasons))
    return Verdict(1.0, "; ".join(verdict.reason for verdict in verdicts))


def _of_episode(trajectory: Trajectory) -> dict[str, Json]:
    """What the record itself is evidence of."""
    final = trajectory.steps[-1].decision.action if trajectory.steps else None
    answer = final.text if isinstance(final, Answer) else ""
    known: dict[str, Json] = {"episode.ending": str(trajectory.ending), "episode.answer": answer}
    return known if trajectory.last is None else {**known, "episode.url": trajectory.last.url}


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise TypeError(f"{value!r} is not a number")
    return value


def _string(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _address(value: Json) -> SplitResult:
    try:
        return urlsplit(_string(value))
    except ValueError as error:
        raise TypeError(f"{value!r} is not an address") from error


def _text(value: Json) -> str:
    """For comparing words: lower case, runs of space as one."""
    return " ".join(_string(value).casefold().split())


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
