"""Rules by name, the generic ones, and a task's checks as an evaluator over them."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple, TypeAlias
from urllib.parse import SplitResult, parse_qs, urlsplit

from evaluators.evaluator import FunctionEvaluator, Verdict, evaluator
from evaluators.rules.wording import describe_value
from tasks.task import Json, Task, TaskCheck
from webagent.action import Answer, GiveUp
from webagent.errors import SetupError, unknown_name
from webagent.models.model import Model
from webagent.records import Ending, Trajectory

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
    made: evidence missing, not comparable, or no means to look. An episode that was given up fails
    unless the task asks for that. Besides `Task.evidence`,
    `Task.probes` and `Task.records` every episode has `episode.ending`, `episode.answer` (empty
    when none was given), `episode.said` (the same, and `N/A` where the agent gave up),
    `episode.urls` (every page that was seen, in order) and, where the last page was seen,
    `episode.url`.
    With a model among its means the id names it. Raises `SetupError` for an unknown rule.
    """
    at_hand = means or Means()
    name = f"checks_hold[{at_hand.model.name}]" if at_hand.model else "checks_hold"

    @evaluator(name, version="2", score=score)
    async def judge(trajectory: Trajectory) -> Verdict:
        checks = [check for check in trajectory.task.checks if check.score == score]
        if not checks:
            return Verdict(None, f"the task has no check for {score!r}; a judge must decide")
        asks = is_infeasible(trajectory.task) or any(c.evidence == "episode.said" for c in checks)
        if trajectory.ending is Ending.GAVE_UP and not asks:
            return Verdict(0.0, "the agent gave up, which is not what the task asks for")
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


def is_infeasible(task: Task) -> bool:
    """Return whether the right thing to do is to give up."""
    return "infeasible" in task.skills or any(
        check.rule.endswith("_unachievable")
        or (check.evidence == "episode.ending" and check.expected == str(Ending.GAVE_UP))
        for check in task.checks
    )


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
    expected = describe_value(check.expected)
    what = f"{check.evidence} is {describe_value(found)}, {check.rule} {expected}"
    try:
        if isinstance(answer, TypeError):
            raise answer
        holds = RULES[check.rule](found, check.expected) if answer is None else answer
    except TypeError as error:
        return Verdict(None, f"{what}: cannot be compared ({error})")
    if isinstance(holds, Verdict):
        # What was compared is in the reason already where it has many parts.
        compared = check.evidence if isinstance(found, dict) else what
        return Verdict(holds.value, f"{compared}: {holds.reason}")
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
    needed = parse_qs(wanted.query, keep_blank_values=True)
    return (
        page.netloc.lower() == wanted.netloc.lower()
        and page.path.rstrip("/") == wanted.path.rstrip("/")
        and all(query.get(key) == values for key, values in needed.items())
    )


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
    """Return the text for comparing words: lower case, runs of space as one."""
    return " ".join(_string(value).casefold().split())


class MeasureUnit(NamedTuple):
    """What is measured, and how much of its basic unit one of this is."""

    measure: str
    size: float


class Quantity(NamedTuple):
    """A number as it stands, and what it amounts to in the basic unit of its measure."""

    number: float
    amount: float
    measure: str
    """Empty without a unit."""
    text: str


def _units(measure: str, sizes: Mapping[str, float]) -> dict[str, MeasureUnit]:
    """Return units by their spellings: `{"km kilometer": 1000}` has two spellings of one."""
    return {
        spelling: MeasureUnit(measure, size)
        for names, size in sizes.items()
        for spelling in names.split()
    }


_CURRENCIES = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "€": "EUR", "eur": "EUR",
    "euro": "EUR", "£": "GBP", "gbp": "GBP", "¥": "JPY", "jpy": "JPY", "yen": "JPY", "₹": "INR",
    "inr": "INR", "rupee": "INR", "cny": "CNY", "rmb": "CNY", "chf": "CHF", "cad": "CAD",
    "c$": "CAD", "aud": "AUD", "a$": "AUD", "₩": "KRW", "krw": "KRW",
}  # fmt: skip

UNITS: Mapping[str, MeasureUnit] = {
    **{name: MeasureUnit(code, 1) for name, code in _CURRENCIES.items()},
    **_units("share", {"% percent": 0.01}),
    **_units("length", {
        "mm millimeter millimetre": 1e-3, "cm centimeter centimetre": 1e-2, "m meter metre": 1,
        "km kilometer kilometre": 1e3, "mi mile": 1609.344, "ft foot feet": 0.3048,
        "yd yard": 0.9144, "inch inches": 0.0254,
    }),
    **_units("mass", {
        "mg milligram": 1e-6, "g gram": 1e-3, "kg kilogram kilo": 1, "tonne": 1e3,
        "lb lbs pound": 0.45359237, "oz ounce": 0.028349523125,
    }),
    **_units("time", {
        "ms millisecond": 1e-3, "s sec second": 1, "min minute": 60, "h hr hour": 3600,
        "day": 86400, "week": 604800, "month": 2629800, "year": 31557600,
    }),
    **_units("data", {
        "b byte": 1, "kb kilobyte": 1e3, "mb megabyte": 1e6, "gb gigabyte": 1e9,
        "tb terabyte": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
    }),
    **_units("volume", {
        "ml milliliter millilitre": 1e-3, "l liter litre": 1, "gal gallon": 3.785411784,
    }),
    **_units("energy", {"kcal calorie calories": 4184.0, "kj kilojoule": 1e3, "kwh": 3.6e6}),
    **_units("speed", {"mph": 0.44704, "km/h kmh kph": 1 / 3.6, "m/s": 1}),
}  # fmt: skip
"""Spellings in lower case, singular. Amounts of one measure can be compared."""

_SCALES = {"k": 1e3, "thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12}
_SIGNS = "|".join(sorted((re.escape(one) for one in _CURRENCIES), key=len, reverse=True))
_QUANTITY = re.compile(
    rf"(?P<sign>(?<![a-z])(?:{_SIGNS})\s?)?"
    r"(?P<number>(?<![\w.,])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|(?<![\w.,])[-+−]?\.\d+"
    r"|(?<=[$€£¥₹₩])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
    r"(?!\.?\d)(?:\s?(?P<scale>k|bn|thousand|million|billion|trillion)\b)?"
    r"(?:[\s-]?(?P<unit>[%$€£¥₹₩]|km/h|m/s|[a-z]+))?",
    re.IGNORECASE,
)


@rule
def number_is(found: Json, expected: Json) -> Verdict:
    """A number, or a text with one, that is `value` within `within` or the share `within_share`.

    With a `unit` only amounts of its measure count, converted. Where a text has several that
    disagree, the rule abstains.
    """
    wanted = _object(expected, {"value"}, {"within", "within_share", "unit"})
    value = wanted["value"]
    room = max(wanted.get("within", 0.0), abs(value) * wanted.get("within_share", 0.0))
    room = max(room, 1e-9 * abs(value))
    return _judge_amounts(found, expected, lambda amount: abs(amount - value) <= room)


@rule
def number_between(found: Json, expected: Json) -> Verdict:
    """A number, or a text with one, that is `at_least`, `at_most`, `above` and `below` as given.

    With a `unit` only amounts of its measure count, converted. Where a text has several that
    disagree, the rule abstains.
    """
    bounds = {"at_least", "at_most", "above", "below"}
    wanted = _object(expected, set(), bounds | {"unit"})
    if not wanted.keys() & bounds:
        raise TypeError(f"number_between needs one of {', '.join(sorted(bounds))}")
    return _judge_amounts(
        found,
        expected,
        lambda amount: (
            wanted.get("at_least", amount) <= amount <= wanted.get("at_most", amount)
            and ("above" not in wanted or amount > wanted["above"])
            and ("below" not in wanted or amount < wanted["below"])
        ),
    )


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the numbers of a text with their units, in order; points are decimal, commas group."""
    for found in _QUANTITY.finditer(text):
        number = float(found["number"].replace(",", "").replace("−", "-"))
        number *= _SCALES.get((found["scale"] or "").lower(), 1)
        unit = _unit(found["sign"]) or _unit(found["unit"])
        shown = found.group().strip()
        if unit is None:
            yield Quantity(number, number, "", shown)
        else:
            yield Quantity(number, number * unit.size, unit.measure, shown)


def _judge_amounts(found: Json, expected: Json, holds: Callable[[float], bool]) -> Verdict:
    name = expected.get("unit") if isinstance(expected, dict) else None
    unit = _unit(name) if isinstance(name, str) else None
    if name is not None and unit is None:
        raise TypeError(f"unknown unit {name!r}; known: {', '.join(sorted(UNITS))}")
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        raise TypeError(f"{found!r} is neither a number nor text")
    if not isinstance(found, str):
        return Verdict(float(holds(found)), f"{found} {'fits' if holds(found) else 'does not fit'}")
    fitting = [
        (one.text, holds(one.amount / unit.size if unit else one.number))
        for one in quantities(found)
        if unit is None or one.measure == unit.measure
    ]
    if not fitting:
        return Verdict(0.0, "the text has no number" + (f" in {name}" if unit else ""))
    outcomes = {outcome for _, outcome in fitting}
    numbers = ", ".join(text for text, _ in fitting)
    if len(outcomes) > 1:
        return Verdict(None, f"only some of {numbers} match; a judge must decide")
    [outcome] = outcomes
    return Verdict(float(outcome), f"{numbers} {'fits' if outcome else 'does not fit'}")


def _unit(spelling: str | None) -> MeasureUnit | None:
    """Return the unit, from its singular or plural."""
    name = (spelling or "").strip().lower()
    return UNITS.get(name) or UNITS.get(name.removesuffix("s")) if name else None


def _object(expected: Json, needed: set[str], known: set[str]) -> dict[str, float]:
    """Return the numbers of what is expected. Raises `TypeError`."""
    if not isinstance(expected, dict):
        raise TypeError(f"expected an object, found {expected!r}")
    unknown = expected.keys() - needed - known
    if unknown or needed - expected.keys():
        raise TypeError(f"expected {sorted(needed | known)}, found {sorted(expected)}")
    numbers: dict[str, float] = {}
    for name, value in expected.items():
        if name == "unit":
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{name} is {value!r}, expected a number")
        numbers[name] = value
    return numbers
