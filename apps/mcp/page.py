"""A page as an assistant reads it: within a bound, fenced, with what was left out said."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from webagent.models.prompt import estimate_tokens, fence, shorten
from webagent.observation import render, render_node
from webagent.observation.render import find_changes
from webagent.records import Observation

LEAST_TOKENS = 100
MOST_TOKENS = 20_000
"""What a call may ask for."""
_FENCE_TOKENS = 30
_LONGEST_LINE = 400
_LONGEST_TITLE = 60
_ALL = 1 << 40


def whole(page: Observation, max_tokens: int, before: Observation | None = None) -> str:
    """The page, or what of it matters most; lines that `before` did not have begin with `*`."""
    page = _neat(page)
    room = max_tokens - estimate_tokens(_heading(page)) - _FENCE_TOKENS
    text = render(page, room, before=before)
    said = fence("page", f"{_heading(page)}\n\n{text}")
    if text == render(page, _ALL, before=before):
        return said
    return (
        f"{said}\nNot all of the page's {len(page.nodes)} lines fit. Call observe with start=1 to"
        " read it from the top, or find to search it."
    )


def news(before: Observation, page: Observation, max_tokens: int) -> str:
    """What an action has changed, where that is less than the page; else the page.

    Marks stay with their elements, so what was shown before is still good to act on.
    """
    if not _is_comparable(before, page):
        return whole(page, max_tokens)
    new = find_changes(before, page)
    gone = _gone(before, page)
    if 2 * (len(new) + len(gone)) > len(page.nodes):
        return whole(page, max_tokens, before)
    lines = [f"*{_line(page, index)}" for index in sorted(new)]
    shown = _within(lines, max_tokens)
    missing = len(lines) - len(shown)
    parts = [
        _heading(_neat(page)),
        *([""] if shown or gone else []),
        *shown,
        *([f"... {missing} more changed lines left out"] if missing else []),
        *([shorten(f"gone: {', '.join(gone)}")] if gone else []),
    ]
    as_before = len(page.nodes) - len(new)
    return f"{fence('page', chr(10).join(parts))}\n{as_before} other lines are as before."


def read_on(page: Observation, start: int, max_tokens: int) -> str:
    """The lines in their order from number `start`, counted from 1."""
    lines = [_line(page, index) for index in range(len(page.nodes))][start - 1 :]
    if not lines:
        return f"The page has {len(page.nodes)} lines; there is no line {start}."
    shown = _within(lines, max_tokens) or lines[:1]
    last = start + len(shown) - 1
    said = fence("page", "\n".join([_heading(_neat(page)), "", *shown]))
    end = (
        f"Call observe with start={last + 1} to read on." if last < len(page.nodes) else "The end."
    )
    return f"{said}\nLines {start} to {last} of {len(page.nodes)}. {end}"


def find(page: Observation, text: str, max_tokens: int) -> str:
    """The lines that hold the text, whatever its case, with their numbers."""
    wanted = " ".join(text.split()).casefold()
    every = (render_node(node).strip() for node in page.nodes)
    hits = [index for index, said in enumerate(every) if wanted in said.casefold()]
    if not hits:
        return f"None of the page's {len(page.nodes)} lines holds that text. Try less of it."
    lines = [f"{index + 1}: {_line(page, index, wanted).strip()}" for index in hits]
    shown = _within(lines, max_tokens) or lines[:1]
    left = f"; {len(hits) - len(shown)} more are left out, search for more" * (
        len(shown) < len(hits)
    )
    return (
        f"{fence('found', chr(10).join(shown))}\n{len(hits)} of {len(page.nodes)} lines{left}."
        " Call observe with start at a line's number for what follows it."
    )


def _is_comparable(before: Observation, page: Observation) -> bool:
    """Whether a reader who knows the one can be told the other by what is different."""
    same = ("url", "active_tab", "scroll")
    return len(before.tabs) == len(page.tabs) and all(
        getattr(before, name) == getattr(page, name) for name in same
    )


def _gone(before: Observation, page: Observation) -> list[str]:
    left = {node.mark for node in page.nodes}
    return [f"[{node.mark}]" for node in before.nodes if node.mark and node.mark not in left]


def _heading(page: Observation) -> str:
    outcome = [f"outcome: {shorten(page.outcome)}"] if page.outcome else []
    return "\n".join([*outcome, shorten(page.title, 200) or "(no title)", shorten(page.url)])


def _neat(page: Observation) -> Observation:
    """Titles of tabs are words of pages, too, and can be of any length."""
    return replace(page, tabs=tuple(shorten(title, _LONGEST_TITLE) for title in page.tabs))


def _line(page: Observation, index: int, wanted: str = "") -> str:
    """One line, cut where it is very long: around the text that is wanted, else at its end."""
    text = render_node(page.nodes[index])
    if len(text) <= _LONGEST_LINE:
        return text
    place = max(text.casefold().find(wanted) - _LONGEST_LINE // 2, 0) if wanted else 0
    cut = text[place : place + _LONGEST_LINE]
    return f"{'…' * bool(place)}{cut}… ({len(text)} characters)"


def _within(lines: Sequence[str], max_tokens: int) -> list[str]:
    return list(_taken(lines, max_tokens))


def _taken(lines: Iterable[str], max_tokens: int) -> Iterable[str]:
    room = max_tokens
    for each in lines:
        room -= estimate_tokens(each)
        if room < 0:
            return
        yield each
