"""Dates and months in the spellings that people use."""

import calendar
import math
import re
from datetime import datetime

from dateutil import parser  # type: ignore[import-untyped]

_DEFAULTS = (datetime(2000, 1, 1), datetime(2004, 2, 2))


def date(value: object) -> tuple[str, str]:
    """The day as `YYYY-MM-DD`, month before day where that is open. Raises `ValueError`.

    Read twice, with other days assumed for what is left out, so that `May 2023` equals itself and
    no day of that month, whatever day it is today. (The published scorer fills in today.)
    """
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is not a date")
    text = re.sub(r",(?! )", ", ", value)
    first, second = (_parsed(text, default).date().isoformat() for default in _DEFAULTS)
    return first, second


def month(value: object) -> str:
    """The month's English name, from its number, its name or a date. Raises `ValueError`."""
    if isinstance(value, int | float):
        if not math.isfinite(value) or value != int(value):
            raise ValueError(f"{value!r} is not a month")
        return _named(int(value))
    text = str(value).strip()
    if not value or not text:
        raise ValueError("an empty value is no month")
    try:
        numbered = int(text)
    except ValueError:
        return _named(_parsed(text, _DEFAULTS[0]).month)
    return _named(numbered)


def _named(number: int) -> str:
    if not 1 <= number <= 12:
        raise ValueError(f"there is no month {number}")
    return calendar.month_name[number]


def _parsed(text: str, default: datetime) -> datetime:
    try:
        found: datetime = parser.parse(text, default=default, dayfirst=False, ignoretz=True)
    except OverflowError as error:
        raise ValueError(f"{text!r} is out of range for a date") from error
    return found
