"""Rules for answers in words: what a person would accept as the same text, number or date."""

import re
import unicodedata
from calendar import month_abbr, month_name
from contextlib import suppress
from datetime import date

from evaluators.rules.checks import quantities, rule
from tasks.task import Json

_AROUND = " \t\n\"'“”‘’„«»`*_.,;:!?()[]"
"""Characters that may stand around an answer without being part of it."""
_MONTHS = {
    name.casefold(): number
    for names in (month_name, month_abbr)
    for number, name in enumerate(names)
    if name
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = re.compile(
    r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)"
    r"|(?<!\d)(?P<one>\d{1,2})[-/.](?P<two>\d{1,2})[-/.](?P<year2>\d{4})"
    rf"|(?<!\d)(?P<day3>\d{{1,2}})(?:st|nd|rd|th)?\.? (?:of )?"
    rf"(?P<name3>{_MONTH})\.?,? (?P<year3>\d{{4}})"
    rf"|(?P<name4>{_MONTH})\.? (?P<day4>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year4>\d{{4}})"
)


@rule
def same_answer(found: Json, expected: Json) -> bool:
    """The same words, number or date, in whatever case, form or unit, and with signs around it."""
    if same_wording(found, expected):
        return True
    if len(_dates(_plain(expected))) == 1:
        return bool(same_date(found, expected))
    numbers = [one.text for one in quantities(_plain(expected))]
    return numbers == [_plain(expected)] and bool(same_number(found, expected))


@rule
def same_wording(found: Json, expected: Json) -> bool:
    """The same words, whatever their case, spacing, quotation marks, and signs around them."""
    return _plain(found) == _plain(expected)


@rule
def has_wording(found: Json, expected: Json) -> bool:
    """A text with the expected words in it, as `same_wording` compares."""
    wanted = re.escape(_plain(expected))
    return re.search(rf"(?<!\w){wanted}(?!\w)", _plain(found)) is not None


@rule
def same_number(found: Json, expected: Json) -> bool:
    """A text whose numbers are all the expected one; a unit may be missing, and is converted."""
    wanted = next(quantities(_plain(expected)), None)
    if wanted is None:
        raise TypeError(f"{expected!r} has no number")
    given = list(quantities(_plain(found)))
    alike = [one for one in given if wanted.measure and one.measure == wanted.measure]
    if alike:
        pairs = [(one.amount, wanted.amount) for one in alike]
    elif wanted.measure and any(one.measure for one in given):
        return False
    else:
        pairs = [(one.number, wanted.number) for one in given]
    return bool(pairs) and all(abs(a - b) <= 1e-9 * abs(b) for a, b in pairs)


@rule
def same_date(found: Json, expected: Json) -> bool:
    """A text whose dates are all the expected one, however they are written."""
    wanted = _dates(_plain(expected))
    if len(wanted) != 1:
        raise TypeError(f"{expected!r} has no date")
    given = _dates(_plain(found))
    return bool(given) and all(wanted[0] & one for one in given)


def _dates(text: str) -> list[frozenset[date]]:
    """Return the dates of a text, each with every day that it may mean: 3/4/2026 is two."""
    dates = []
    for found in _DATES.finditer(text):
        part = found.groupdict()
        year = int(part["year"] or part["year2"] or part["year3"] or part["year4"])
        pairs = [(part["month"], part["day"])]
        if part["one"]:
            pairs = [(part["one"], part["two"]), (part["two"], part["one"])]
        elif name := part["name3"] or part["name4"]:
            pairs = [(str(_MONTHS[name]), part["day3"] or part["day4"])]
        days = set()
        for month, day in pairs:
            with suppress(ValueError):  # no such day
                days.add(date(year, int(month), int(day)))
        if days:
            dates.append(frozenset(days))
    return dates


def _plain(value: Json) -> str:
    """Return a text for comparing: one form of each letter, dash and quotation mark."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    text = unicodedata.normalize("NFKC", value).casefold()
    text = re.sub(r"[‐-―−]", "-", re.sub(r"[’‘]", "'", re.sub(r"[“”„]", '"', text)))
    return " ".join(text.split()).strip(_AROUND) or " ".join(text.split())
