"""An observation's text for people: whole, folded where it is long, quotes and targets marked."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.judge.findings import stands_in
from webagent.observation import render
from webagent.records import Observation

_OPEN = 40
"""Lines that are shown at once."""
_MOST = 1000
"""Lines that a page holds; the rest is in the file of the whole."""
_LONGEST = 1000
"""Characters shown of one line."""
_LEAST_QUOTED = 4
"""Characters of a line that can be a part of a quote of several lines."""
_EVERYTHING = 10**9
"""Tokens that no page has."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the text."""

    text: str
    is_target: bool = False
    """Whether the action was on its element."""
    is_quoted: bool = False
    """Whether a judge quoted it."""
    is_new: bool = False
    """Whether it is new or different since the page before."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is shown of a page's text."""

    shown: tuple[Line, ...]
    folded: tuple[Line, ...]
    left_out: int
    """Lines that are only in the file of the whole."""
    cut: int
    """Lines of which only the beginning is shown."""


def whole_text(page: Observation, before: Observation | None = None) -> str:
    """Every line of the page; those new since the page before begin with `*`."""
    return render(page, _EVERYTHING, before=before)


def reading(
    page: Observation, before: Observation | None, targets: Sequence[int], quote: str = ""
) -> Reading:
    """The page's text with its marked lines; a quote that is folded away unfolds nothing."""
    written = whole_text(page, before).split("\n") if page.nodes else []
    lines = [_line(text, targets, quote) for text in written[:_MOST]]
    first = _OPEN if len(lines) > _OPEN + 5 else len(lines)
    return Reading(
        shown=tuple(lines[:first]),
        folded=tuple(lines[first:]),
        left_out=max(0, len(written) - _MOST),
        cut=sum(len(text) > _LONGEST for text in written[:_MOST]),
    )


def _line(text: str, targets: Sequence[int], quote: str) -> Line:
    bare = text.lstrip(" ").removeprefix("*")
    return Line(
        text=text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…",
        is_target=any(bare.startswith(f"[{mark}] ") for mark in targets if mark),
        is_quoted=bool(quote) and _is_part(quote, bare),
        is_new=text.lstrip(" ").startswith("*"),
    )


def _is_part(quote: str, line: str) -> bool:
    """Whether the quote stands in the line, or the line in a quote of several."""
    words = line.partition("] ")[2] or line
    is_long = len(words.strip()) >= _LEAST_QUOTED
    return stands_in(quote, line) or (is_long and stands_in(words, quote))
