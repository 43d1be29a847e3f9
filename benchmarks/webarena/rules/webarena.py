"""WebArena's checks as its scorer makes them (libwebarena 0.0.5), quirks kept.

Source: `evaluation_harness/evaluators.py` of github.com/web-arena-x/webarena (Apache-2.0), read for
its behaviour. An answer is cleaned twice there, an expected text once; a page's text is unescaped.
"""

from collections import defaultdict
from collections.abc import Mapping
from html import unescape
from urllib.parse import parse_qs, urlparse

from benchmarks.webarena.rules.words import words
from evaluators.evaluator import Verdict
from evaluators.rules.checks import rule
from tasks.task import Json

OR = " |OR| "
"""Between the alternatives of an expected text or address."""


@rule
def webarena_exact_match(found: Json, expected: Json) -> bool:
    """The answer is the expected text, whatever the case and one or two pairs of quotes."""
    return clean(clean(text_of(found))) == clean(text_of(expected))


@rule
def webarena_must_include(found: Json, expected: Json) -> Verdict:
    """Each item stands somewhere in the answer; an only item of one character as a word."""
    answer, items = clean(clean(text_of(found))), texts_of(expected)
    included = {}
    for item in items:
        wanted = clean(item)
        single = len(items) == 1 and len(wanted) == 1 and len(words(wanted)) == 1
        included[item] = wanted in (words(answer) if single else answer)
    return includes_all(included)


@rule
def webarena_url_match(found: Json, expected: Json) -> bool:
    """`GOLD in PRED`: host and path of one alternative stand somewhere in the page's.

    Each query key of any alternative has one of the values that any of them gives it.
    """
    return gold_in_pred(text_of(found), text_of(expected))


@rule
def webarena_page_exact_match(found: Json, expected: Json) -> bool:
    """What was selected on the page is the expected text."""
    return clean(page_text(found)) == clean(text_of(expected))


@rule
def webarena_page_must_include(found: Json, expected: Json) -> Verdict:
    """One alternative of each item stands somewhere in what was selected on the page."""
    return includes_all(page_holds(page_text(found), texts_of(expected)))


def clean(answer: str) -> str:
    """Lower case, without space around it and then without one pair of quotes."""
    return unquoted(answer.strip()).lower()


def unquoted(text: str) -> str:
    """Without the quotes it begins and ends with, one pair of them."""
    for quote in ("'", '"'):
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1]
    return text


def page_text(found: Json) -> str:
    """Return what was selected, as text; other values as Python writes them."""
    if found is None:
        raise TypeError("its script failed on the page")
    return unescape(found if isinstance(found, str) else str(found))


def page_holds(selected: str, items: list[str]) -> dict[str, bool]:
    """For each item whether one of its alternatives is in the text."""
    page = clean(selected)
    return {item: any(clean(part) in page for part in item.split(OR)) for item in items}


def includes_all(included: Mapping[str, bool]) -> Verdict:
    """1 when every item is there; else 0 and what is missing."""
    missing = [item for item, is_there in included.items() if not is_there]
    if missing:
        return Verdict(0.0, f"fails: without {', '.join(map(repr, missing))}")
    return Verdict(1.0, "holds")


def gold_in_pred(page: str, reference: str) -> bool:
    """Return whether the page is at the reference, as `webarena_url_match` compares them."""
    path, query = _parsed(page.rstrip("/"))
    paths, wanted = [], defaultdict(set)
    for alternative in reference.split(OR):
        gold_path, gold_query = _parsed(alternative.rstrip("/"))
        paths.append(gold_path)
        for key, values in gold_query.items():
            wanted[key].update(values)
    return any(gold in path for gold in paths) and all(
        values & set(query.get(key, ())) for key, values in wanted.items()
    )


def text_of(value: Json) -> str:
    """Return the value, which must be text. Raises `TypeError`."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def texts_of(value: Json) -> list[str]:
    """Return the value, which must be a list of texts. Raises `TypeError`."""
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list of texts")
    return [text_of(item) for item in value]


def _parsed(address: str) -> tuple[str, dict[str, list[str]]]:
    try:
        parts = urlparse(address)
    except ValueError as error:
        raise TypeError(f"{address!r} is not an address") from error
    return parts.netloc + parts.path, parse_qs(parts.query)


_OR = " |or| "
"""As an expected text has it once it is cleaned."""


@rule
def webchorearena_must_include(found: Json, expected: Json) -> Verdict:
    """The share of the items of which one alternative stands in the answer."""
    answer, items = clean(clean(text_of(found))), texts_of(expected)

    def is_single(part: str) -> bool:
        return len(items) == 1 and len(part) == 1 and len(words(part)) == 1

    found_by_item = {}
    for item in items:
        wanted = clean(item)
        if _OR in wanted:
            # The scorer looks for an alternative of one letter in itself.
            parts = [part.strip() for part in wanted.split(_OR)]
            found_by_item[item] = any(is_single(part) or part in answer for part in parts)
        else:
            found_by_item[item] = wanted in (words(answer) if is_single(wanted) else answer)
    return _share(found_by_item)


@rule
def webchorearena_url_match(found: Json, expected: Json) -> bool:
    """`webarena_url_match` in lower case."""
    alternatives = text_of(expected).split(OR)
    return gold_in_pred(text_of(found).lower(), OR.join(map(str.lower, alternatives)))


@rule
def webchorearena_page_must_include(found: Json, expected: Json) -> Verdict:
    """The share of the items of which one alternative stands in what was selected."""
    return _share(page_holds(page_text(found), texts_of(expected)))


def _share(included: Mapping[str, bool]) -> Verdict:
    share = sum(included.values()) / len(included) if included else 1.0
    return Verdict(share, includes_all(included).reason)
