"""Plain comparisons of one captured value with an expected one."""

import re
from urllib.parse import SplitResult, parse_qs, urlsplit

from evaluators.rules.rule import rule
from tasks.task import Json
from webagent.errors import SetupError


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
