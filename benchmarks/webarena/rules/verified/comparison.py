"""Where an object or a list that was read differs from the expected one."""

from collections.abc import Mapping, Sequence
from typing import Any


def difference(
    expected: Any, found: Any, *, ordered: bool = False, extra: bool = False, where: str = "value"
) -> str:
    """The first difference in a sentence, empty where there is none.

    Lists are compared as bags unless `ordered`; fields besides the expected ones are allowed with
    `extra`.
    """
    if expected is None or found is None:
        return "" if expected is found else f"{where}: expected {_shown(expected)}, {_got(found)}"
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping):
            return f"{where}: expected an object, {_got(found)}"
        missing = sorted(expected.keys() - found.keys())
        surplus = [] if extra else sorted(found.keys() - expected.keys())
        if missing or surplus:
            return f"{where}: missing {missing}, not asked for {surplus}"
        differences = (
            difference(value, found[key], ordered=ordered, extra=extra, where=f"{where}.{key}")
            for key, value in expected.items()
        )
        return next(filter(None, differences), "")
    if isinstance(expected, list | tuple):
        if not isinstance(found, list | tuple):
            return f"{where}: expected a list, {_got(found)}"
        compare = _of_rows if ordered else _of_bags
        return compare(expected, found, extra, where)
    return "" if expected == found else f"{where}: expected {_shown(expected)}, {_got(found)}"


def _of_rows(expected: Sequence[Any], found: Sequence[Any], extra: bool, where: str) -> str:
    differences = (
        difference(one, there, ordered=True, extra=extra, where=f"{where}[{at}]")
        for at, (one, there) in enumerate(zip(expected, found, strict=False))
    )
    return next(filter(None, differences), "") or _of_lengths(expected, found, where)


def _of_bags(expected: Sequence[Any], found: Sequence[Any], extra: bool, where: str) -> str:
    """Each expected item takes the first that fits of those left."""
    left = list(found)
    for one in expected:
        at = next(
            (i for i, there in enumerate(left) if not difference(one, there, extra=extra)), -1
        )
        if at < 0:
            return f"{where}: no {_shown(one)} among {_shown(found)}"
        del left[at]
    return _of_lengths(expected, found, where)


def _of_lengths(expected: Sequence[Any], found: Sequence[Any], where: str) -> str:
    if len(expected) == len(found):
        return ""
    return f"{where}: expected {len(expected)} items, found {len(found)}"


def _got(value: Any) -> str:
    return f"found {_shown(value)}"


def _shown(value: Any) -> str:
    text = _plainly(value)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _plainly(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_plainly(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_plainly, value)) + "]"
    return str(value)
