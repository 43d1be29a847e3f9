"""The types that a result's schema can name: how a value is read and when two are the same."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from benchmarks.webarena.rules.verified.dates import date, month
from benchmarks.webarena.rules.verified.markdown import markdown
from benchmarks.webarena.rules.verified.places import address, coordinates, same_place, same_point
from benchmarks.webarena.rules.verified.quantities import metres, money, number, seconds, truth
from benchmarks.webarena.rules.verified.sites import Sites
from benchmarks.webarena.rules.verified.text import data_in, is_pattern, plain, trimmed
from benchmarks.webarena.rules.verified.urls import Address, AddressReading, same_page, same_query

CENTS_APART = Decimal("0.1")
METRES_APART, METRES_SHARE = Decimal(10), Decimal("0.02")
SECONDS_APART, SECONDS_SHARE = 180.0, 0.1

_NOTHING = frozenset({"n/a", "na", "nan", "null", "none"})


class Text(NamedTuple):
    """Plain text, or a regular expression for it."""

    text: str
    is_pattern: bool

    def __str__(self) -> str:
        """The text alone."""
        return self.text


@dataclass(frozen=True, slots=True)
class Manner:
    """How values are read for one check."""

    sites: Sites | None = None
    patterns: bool = True
    """Text from ^ to $ is a regular expression."""
    alternatives: bool = True
    """A list in place of one value names alternatives."""
    singles: bool = False
    """A list of one value is that value."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type: its reader raises `ValueError` where a value is not of it."""

    name: str
    read: Callable[[Any, Manner], Any]
    same: Callable[[Any, Any], bool] = lambda one, other: bool(one == other)
    first_only: bool = False
    """Only the first of several alternatives counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """What was read, with every alternative. Two are equal when any of their readings agree."""

    kind: Kind
    readings: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        """Whether the values agree; text also with text that was not read yet."""
        if isinstance(other, str):
            other = _unread(self.kind, other)
        if not isinstance(other, Value) or other.kind.name != self.kind.name:
            return False
        ours, theirs = self.readings, other.readings
        if self.kind.first_only:
            ours, theirs = ours[:1], theirs[:1]
        return any(self.kind.same(one, there) for one in ours for there in theirs)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        """The first reading."""
        return str(self.readings[0])


def value_of(raw: object, kind: Kind, manner: Manner) -> Value:
    """The value, or a list's items as alternatives. Raises `ValueError` where one is not of it."""
    if manner.singles and isinstance(raw, list | tuple) and len(raw) == 1:
        raw = raw[0]
    if isinstance(raw, list | tuple) and not _is_pair(raw, kind):
        if len(raw) < 2 or not manner.alternatives:
            raise ValueError(f"{raw!r} is a list, expected one {kind.name}")
        return Value(kind, tuple(kind.read(one, manner) for one in raw))
    return Value(kind, (kind.read(raw, manner),))


def _is_pair(raw: Sequence[object], kind: Kind) -> bool:
    """Whether a list is a point rather than alternatives."""
    numbers = all(isinstance(part, int | float | str) for part in raw)
    return kind.name == "coordinates" and len(raw) == 2 and numbers


def _unread(kind: Kind, text: str) -> object:
    """Text from outside a schema, where the kind knows what to do with it."""
    if kind.name == "string":
        return Value(kind, (_string(text, Manner()),))
    return None


def _plain(raw: object, manner: Manner) -> Any:
    return plain(raw, manner.sites) if isinstance(raw, str) else raw


def _string(raw: object, manner: Manner) -> Text:
    if not manner.patterns and isinstance(raw, str) and is_pattern(raw):
        return Text(plain(f" {raw}", manner.sites), False)
    found = _plain(raw, manner)
    if is_pattern(found):
        return Text(found, True)
    return Text(str(found).lower().strip() if found else "", False)


def _same_string(one: Text, other: Text) -> bool:
    if one.is_pattern or other.is_pattern:
        for pattern, literal in ((one, other), (other, one)):
            if pattern.is_pattern and _fits(pattern.text, literal.text, re.IGNORECASE):
                return True
    return one.text == other.text or trimmed(one.text) == trimmed(other.text)


def _fits(pattern: str, text: str, flags: re.RegexFlag) -> bool:
    try:
        return re.fullmatch(pattern, text, flags) is not None
    except re.error:
        return False


def _strings(raw: object, manner: Manner) -> tuple[str, ...]:
    items = [item.strip() for item in str(_plain(raw, manner)).split(",")] if raw else []
    found = tuple(sorted(item for item in items if item))
    if not found:
        raise ValueError(f"{raw!r} lists nothing")
    return found


def _json(raw: object, manner: Manner) -> str:
    text = _plain(raw, manner)
    if not isinstance(text, str):
        raise ValueError(f"{raw!r} is not JSON text")
    return json.dumps(data_in(text), sort_keys=True)


def _base64(raw: object, manner: Manner) -> Text:
    text = raw.strip() if isinstance(raw, str) else ""
    if not text:
        raise ValueError(f"{raw!r} is not base64 text")
    if is_pattern(text) and manner.patterns:
        return Text(text, True)
    try:
        content = base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{raw!r} is not base64 text") from error
    return Text(content.replace("\r\n", "\n").replace("\r", "\n").strip(), False)


def _same_content(one: Text, other: Text) -> bool:
    for pattern, literal in ((one, other), (other, one)):
        if pattern.is_pattern and _fits(pattern.text, literal.text, re.DOTALL):
            return True
    return one.text == other.text


def _nothing(raw: object, manner: Manner) -> None:
    if isinstance(raw, int | float) and not isinstance(raw, str):
        raise ValueError(f"{raw!r} is a number, expected nothing")
    text = re.sub(r"\s*/\s*", "/", raw.strip().lower()) if isinstance(raw, str) else raw
    if text and text not in _NOTHING:
        raise ValueError(f"{raw!r} is something, expected nothing")


def _location(raw: object, manner: Manner) -> str:
    if raw is None:
        raise ValueError("null is no place")
    return str(_plain(raw, manner)).lower().strip() if raw else ""


def _address(raw: object, manner: Manner) -> Address:
    if manner.sites is None:
        raise ValueError("addresses cannot be read without the task's sites")
    if not manner.patterns and is_pattern(raw):
        raise ValueError(f"{raw!r} is a pattern, expected an address")
    return AddressReading(manner.sites, rendered=False).read(raw)


def _same_address(one: Address, other: Address) -> bool:
    return same_page(one, other) and same_query(one.query, other.query)


def _same_distance(one: Decimal, other: Decimal) -> bool:
    return abs(one - other) <= max(METRES_APART, max(one, other) * METRES_SHARE)


def _same_duration(one: float, other: float) -> bool:
    return abs(one - other) <= max(SECONDS_APART, max(one, other) * SECONDS_SHARE)


def _same_money(one: Decimal, other: Decimal) -> bool:
    return abs(one - other) <= CENTS_APART


def _after_plain(read: Callable[[Any], Any]) -> Callable[[Any, Manner], Any]:
    """A reader of values whose text was made plain."""
    return lambda raw, manner: read(_plain(raw, manner))


STRING = Kind("string", _string, _same_string)
_NUMBER = Kind("number", _after_plain(number))

KINDS: Mapping[str, Kind] = {
    "string": STRING,
    "number": _NUMBER,
    "integer": _NUMBER,
    "boolean": Kind("boolean", _after_plain(truth)),
    "currency": Kind("currency", _after_plain(money), _same_money, first_only=True),
    "date": Kind("date", _after_plain(date)),
    "month": Kind("month", _after_plain(month)),
    "duration": Kind("duration", _after_plain(seconds), _same_duration),
    "distance": Kind("distance", _after_plain(metres), _same_distance),
    "coordinates": Kind("coordinates", _after_plain(coordinates), same_point, first_only=True),
    "full_address": Kind("full_address", lambda raw, manner: address(raw)),
    "location-name": Kind("location-name", _location, same_place),
    "url": Kind("url", _address, _same_address),
    "string_list": Kind("string_list", _strings),
    "json": Kind("json", _json),
    "markdown": Kind("markdown", lambda raw, manner: markdown(raw)),
    "base64": Kind("base64", _base64, _same_content),
    "null": Kind("null", _nothing),
}
"""By the name that a schema uses: its `format` where it has one, else its `type`."""
