"""Everyday words by which goals say places, ways, sizes, colours and comparisons."""

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TypeAlias

from PIL import ImageColor

from webagent.memory.goals import Goal

Way: TypeAlias = tuple[int, int]
"""Right and down, each -1, 0 or 1."""

_WAYS: dict[str, Way] = {
    "left": (-1, 0),
    "right": (1, 0),
    "up": (0, -1),
    "upwards": (0, -1),
    "down": (0, 1),
    "downwards": (0, 1),
    "horizontal": (1, 0),
    "vertical": (0, 1),
}
_AXES: dict[str, Way] = {"width": (1, 0), "wide": (1, 0), "height": (0, 1), "tall": (0, 1)}
_SIGNS = dict.fromkeys(("larger", "bigger", "greater", "increase", "more"), 1)
_SIGNS |= dict.fromkeys(("smaller", "shorter", "narrower", "decrease", "less"), -1)
_ACROSS = {"left": -1, "right": 1, "center": 0, "middle": 0, "centre": 0}
_ALONG = {"top": -1, "bottom": 1, "start": -1, "end": 1, "center": 0, "middle": 0, "centre": 0}

_BELOW = r"less|below|under|fewer|lower|smaller|cheaper|at most"
_ABOVE = r"greater|more|above|over|higher|larger|bigger|at least"
_BOUND = re.compile(
    rf"\b({_BELOW}|{_ABOVE})\b(?: than| or equal to)*\s*[£$€]?(-?\d+(?:,\d{{3}})*(?:\.\d+)?)", re.I
)
_PARITY = re.compile(r"\b(odd|even)\b", re.I)
_LEAST = re.compile(
    r"\b(cheapest|lowest|smallest|shortest|least|fewest|minimum|nearest|earliest|slowest)\b", re.I
)
_MOST = re.compile(
    r"\b(most|highest|largest|longest|greatest|biggest|maximum|latest|priciest|fastest)\b", re.I
)
_MONEY = re.compile(r"\b(cheap\w*|expensive|pric\w+|cost\w*|dear\w*)\b", re.I)
_TIME = re.compile(r"\b(short\w*|long\w*|duration|time|quick\w*|fast\w*|slow\w*)\b", re.I)

_QUANTITY = re.compile(
    r"(?P<hours>\d+)\s?h(?:ours?)?\s(?P<minutes>\d+)\s?m|(?P<sign>[£$€])\s?(?P<money>\d[\d,]*(?:\.\d+)?)"
    r"|(?<![\w.,:/#-])(?P<number>-?\d[\d,]*(?:\.\d+)?)(?![\w:/])"
)

SHAPES = frozenset(
    ("circle", "rectangle", "triangle", "square", "ellipse", "polygon", "line", "pentagon")
)
_SIZES = frozenset(("small", "large", "medium", "big", "tiny"))
_SAME = {"aqua": "cyan", "grey": "gray", "fuchsia": "magenta", "big": "large", "rect": "rectangle"}


@lru_cache(4096)
def way_of(goal: Goal) -> Way | None:
    """Return the way that a goal's words name, such as left or taller; None where they name none
    or several."""
    signs = [_SIGNS[word] for word in goal.words if word in _SIGNS]
    axes = [_AXES[word] for word in goal.words if word in _AXES]
    if len(axes) == len(signs) == 1:
        return axes[0][0] * signs[0], axes[0][1] * signs[0]
    ways = {_WAYS[word] for word in goal.words if word in _WAYS}
    return ways.pop() if len(ways) == 1 else None


@lru_cache(4096)
def place_of(goal: Goal) -> Way | None:
    """Return the place that a goal's words name, such as bottom left or center; None for none."""
    across = [_ACROSS[word] for word in goal.words if word in _ACROSS]
    along = [_ALONG[word] for word in goal.words if word in _ALONG]
    if not across and not along:
        return None
    return sum(across[:1]), sum(along[:1])


@lru_cache(4096)
def condition_of(goal: Goal) -> Callable[[float], bool] | None:
    """Return what a goal asks of a number: less or greater than a bound, odd or even."""
    if (match := _BOUND.search(goal.text)) is not None:
        bound = float(match.group(2).replace(",", ""))
        word = match.group(1).lower()
        if word in ("at most", "at least"):
            return lambda value: value <= bound if word == "at most" else value >= bound
        is_below = re.fullmatch(_BELOW, word) is not None
        return lambda value: value < bound if is_below else value > bound
    if (match := _PARITY.search(goal.text)) is not None and "or" not in goal.words:
        rest = 1 if match.group(1).lower() == "odd" else 0
        return lambda value: value % 2 == rest
    return None


@lru_cache(4096)
def superlative_of(goal: Goal) -> tuple[int, str] | None:
    """Return whether a goal asks for the least (-1) or the most (1), and of what: `money`, `time`
    or, where it does not say, the empty text."""
    least, most = _LEAST.search(goal.text), _MOST.search(goal.text)
    if least is None and most is None:
        return None
    text = goal.text
    kind = "money" if _MONEY.search(text) else "time" if _TIME.search(text) else ""
    return (-1 if least else 1), kind


@lru_cache(65536)
def quantities(text: str) -> tuple[tuple[str, float], ...]:
    """Return the amounts in a text, each with its kind: `money`, `time` in minutes, `number`."""
    found: list[tuple[str, float]] = []
    for match in _QUANTITY.finditer(text):
        if match["hours"]:
            found.append(("time", 60.0 * int(match["hours"]) + int(match["minutes"])))
        elif match["money"]:
            found.append(("money", float(match["money"].replace(",", ""))))
        else:
            found.append(("number", float(match["number"].replace(",", ""))))
    return tuple(found)


@cache
def colours() -> dict[str, str]:
    """Return the named colours with their six hexadecimal digits."""
    # Pillow puts numbers in the place of a code once it was asked for, so each is asked for.
    codes = {name: ImageColor.getrgb(name) for name in list(ImageColor.colormap)}
    return {name: bytes(code[:3]).hex() for name, code in codes.items()}


@lru_cache(65536)
def normal_word(word: str) -> str:
    """Return a word without its plural, and the first of those that mean the same; letters that
    stand alone as they are."""
    if len(word) == 1:
        return word
    word = word.lower()
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return _SAME.get(word, word)


@lru_cache(65536)
def is_describing(word: str) -> bool:
    """Whether a word says what something looks like or what it is: a colour, a size, a shape."""
    return word in _SIZES or word in SHAPES or word in colours() or word in _CLASSES


_CLASSES = frozenset(
    ("item", "shape", "letter", "digit", "number", "figure", "text", "textarea", "checkbox")
)
_CLASSES |= frozenset(("radio", "button"))


def properties_of(value: float) -> frozenset[str]:
    """Return words that are true of a number."""
    found = {"positive" if value > 0 else "negative" if value < 0 else "zero"}
    if value == int(value):
        found.add("odd" if int(value) % 2 else "even")
    return frozenset(found)
