"""Money, numbers, distances, durations and truth values as people write them."""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from benchmarks.webarena.rules.verified.words import number_in_words

_TRUE = frozenset({"true", "yes", "y", "1", "t", "on"})
_FALSE = frozenset({"false", "no", "n", "0", "f", "off"})

_AMOUNT = re.compile(r"(\.?\d[\d\s.,']*)(?:[^%\d]|$)")

_METRES: Mapping[str, Decimal] = {
    **{
        prefix + unit: Decimal(size)
        for prefix, short, size in (
            ("", "", "1"), ("kilo", "k", "1000"), ("hecto", "h", "100"), ("deca", "da", "10"),
            ("deci", "d", "0.1"), ("centi", "c", "0.01"), ("milli", "m", "0.001"),
            ("micro", "u", "0.000001"), ("nano", "n", "0.000000001"), ("mega", "", "1000000"),
        )
        for prefix, unit in (
            (prefix, "meter"), (prefix, "meters"), (prefix, "metre"), (prefix, "metres"),
            *([(short, "m")] if short or not prefix else []),
        )
    },
    **dict.fromkeys(("mi", "mile", "miles"), Decimal("1609.344")),
    **dict.fromkeys(("ft", "foot", "feet"), Decimal("0.3048")),
    **dict.fromkeys(("yd", "yard", "yards"), Decimal("0.9144")),
    **dict.fromkeys(("in", "inch", "inches"), Decimal("0.0254")),
    **dict.fromkeys(("nmi", "nautical_mile", "nautical_miles"), Decimal("1852")),
}  # fmt: skip
_THOUSANDS = re.compile(r"(\d+(?:\.\d+)?)\s*k(?=\s|$)", re.IGNORECASE)
_LENGTH = re.compile(
    r"(?:([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\s*/\s*([1-9]\d*))?)?\s*([a-z_]+)"
)
_AROUND = " .!?;:|\\#@`)]}"

_UNITS = {
    "years": (r"ys?|yrs?.?|years?", 365 * 86400),
    "months": (r"mos?.?|mths?.?|months?", 30 * 86400),
    "weeks": (r"w|wks?|weeks?", 7 * 86400),
    "days": (r"d|dys?|days?", 86400),
    "hours": (r"h|hrs?|hours?", 3600),
    "minutes": (r"m|mins?|minutes?", 60),
    "seconds": (r"s|secs?|seconds?", 1),
    "milliseconds": (r"ms|msecs?|millis|milliseconds?", 0.001),
}


def _amounts(*names: str) -> str:
    """A pattern for optional amounts with these units, one after the other."""
    parts = []
    for name in names:
        after = "" if name.endswith("seconds") else r"\s*(?:[,/]\s*)?"
        parts.append(rf"(?:(?P<{name}>[\d.]+)\s*(?:{_UNITS[name][0]}){after})?")
    return r"\s*".join(parts)


_CLOCK_SECONDS = r"(?P<seconds>\d{2}(?:\.\d+)?)"
_DURATIONS = tuple(
    re.compile(rf"\s*{pattern}\s*", re.IGNORECASE)
    for pattern in (
        _amounts(*_UNITS),
        rf"(?P<minutes>\d{{1,2}}):{_CLOCK_SECONDS}",
        rf"{_amounts('weeks', 'days')}\s*"
        rf"(?P<hours>\d+):(?P<minutes>\d{{2}}):{_CLOCK_SECONDS}",
        rf"(?P<days>\d+):(?P<hours>\d{{2}}):(?P<minutes>\d{{2}}):{_CLOCK_SECONDS}",
        rf":{_CLOCK_SECONDS}",
    )
)
_SIGNED = re.compile(r"\s*([+|-])?\s*(.*)")
_HOURS_CLOCK = re.compile(r"(\d+):(\d+)\s*hours?")


def truth(value: object) -> bool:
    """Yes or no from a truth value, a number or a word. Raises `ValueError`."""
    if isinstance(value, bool | int | float):
        return bool(value)
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(f"{value!r} is neither yes nor no")


def number(value: object) -> float:
    """A number from digits or from English words. Raises `ValueError`."""
    if isinstance(value, bool | int | float):
        return float(value)
    text = str(value)
    if not value:
        raise ValueError("an empty value is no number")
    try:
        return float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        return number_in_words(text)


def money(value: object) -> Decimal:
    """An amount from a number or a text with currency signs and separators.

    The last of point and comma is the decimal separator; `free` is nothing to pay. Percentages are
    no amounts. Raises `ValueError`.
    """
    if not value and not isinstance(value, int | float):
        raise ValueError("an empty value is no amount")
    text = str(value)
    sign = -1 if text.startswith("-") else 1
    if sign < 0:
        text = text.replace("-", "")
    found = _AMOUNT.search(re.sub(r"\s+", " ", text))
    if found is None:
        if "free" in text.lower():
            return Decimal(0)
        raise ValueError(f"no amount in {text!r}")
    digits = found.group(1).rstrip(",.").replace("'", "").replace(" ", "")
    digits = digits if digits.count(".") == 1 else digits.lstrip(",.")
    if text.rfind(".") > text.rfind(","):
        digits = digits.replace(",", "")
    else:
        digits = digits.replace(".", "").replace(",", ".")
    try:
        return sign * Decimal(str(float(Decimal(digits))))
    except InvalidOperation as error:
        raise ValueError(f"no amount in {text!r}") from error


def metres(value: object) -> Decimal:
    """A length in metres from a number with its unit. Raises `ValueError` without a unit."""
    text = _THOUSANDS.sub(r"\1 km", str(value)).replace(",", "")
    found = _LENGTH.fullmatch(text.lstrip(" ~>$([{").rstrip(_AROUND))
    if found is None or found.group(3) not in _METRES:
        raise ValueError(f"{value!r} is not a length with its unit")
    try:
        size = Decimal(found.group(1) or 1) / Decimal(found.group(2) or 1)
        return size * _METRES[found.group(3)]
    except ArithmeticError as error:
        raise ValueError(f"{value!r} is no length that can be") from error


def seconds(value: object) -> float:
    """A time span in seconds: amounts with units, or a clock. Raises `ValueError`.

    `4:13` is minutes and seconds, `1:35 hours` is hours and minutes.
    """
    text = _HOURS_CLOCK.sub(r"\1h\2m", str(value))
    if not value or _is_number(text):
        raise ValueError(f"{value!r} has no unit of time")
    signed = _SIGNED.fullmatch(text)
    if signed is not None:
        for form in _DURATIONS:
            found = form.fullmatch(signed.group(2))
            if found is not None and found.group(0).strip():
                return _total(found.groupdict()) * (-1 if signed.group(1) == "-" else 1)
    raise ValueError(f"{value!r} is not a span of time")


def _total(amounts: Mapping[str, str | None]) -> float:
    """Seconds of the amounts together. Raises `ValueError`."""
    return sum(float(amount) * _UNITS[name][1] for name, amount in amounts.items() if amount)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
