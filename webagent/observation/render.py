"""An observation as indented lines of text, within a bound."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from operator import attrgetter

from webagent.records import Node, Observation


def find_changes(before: Observation, after: Observation) -> frozenset[int]:
    """Return the indices of the nodes of `after` that `before` did not have, or had otherwise.

    Elements are known by their marks, static text by its words. None on a page at another address,
    where everything is new.
    """
    if before.url != after.url:
        return frozenset()
    known = {node.mark: node for node in before.nodes if node.mark}
    texts = Counter(node.name for node in before.nodes if not node.mark)
    look = attrgetter("role", "name", "value", "states")
    changed = set()
    for index, node in enumerate(after.nodes):
        if node.mark:
            is_known = node.mark in known and look(known[node.mark]) == look(node)
        else:
            texts[node.name] -= 1
            is_known = texts[node.name] >= 0
        if not is_known:
            changed.add(index)
    return frozenset(changed)


_CHARACTERS_PER_TOKEN = 3.5
_LONGEST_TEXT = 240
"""Characters of a line of text on a page that does not fit as a whole."""
_HEADING_KINDS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "note", "passed", "iframe"))
_HEADINGS_TOLD = 3
_LINE_BREAK = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""All that Unicode counts as the end of a line: text of a page must not begin one."""
_FORGED = re.compile(r"(?:^|\|)[\s*]*\[\d+\]")
"""Text of a page that would read as an element, or as one that is new, also in a row of a table."""


def render(
    observation: Observation,
    max_tokens: int = 2000,
    boxes: bool = False,
    before: Observation | None = None,
) -> str:
    """Return the page as a reader sees it: one line a node, `[12] button "Submit"`, and a row of a
    table on one, `[3] checkbox unchecked | Kayak | [4] button "Edit"`.

    Tokens are estimated at 3.5 characters each. Where not all fits, long texts are shortened first;
    then what matters least goes: text out of view, elements out of view, text in view. What is
    left out is said where it was. `boxes` adds the place of every line; drawings always show
    theirs. With `before`, lines that are new or different since then begin with `*`.
    """
    new = find_changes(before, observation) if before is not None else frozenset[int]()
    heading = list_tabs(observation)
    above, below = observation.scroll
    if above or below:
        heading.append(f"scrolled: {above} px above, {below} px below")
    lines = []
    for index, node in enumerate(observation.nodes):
        line = render_node(node, boxes)
        text = line.lstrip(" ")
        lines.append(f"{line[: len(line) - len(text)]}*{text}" if index in new else line)
    budget = int(max_tokens * _CHARACTERS_PER_TOKEN) - sum(len(line) + 1 for line in heading)
    whole = _with_gaps(lines, observation, set(range(len(lines))))
    if sum(len(line) + 1 for line in whole) <= budget:
        return "\n".join((*heading, *whole))
    for index, (line, node) in enumerate(zip(lines, observation.nodes, strict=True)):
        if not node.mark and len(line) > _LONGEST_TEXT:
            cut = len(line) - _LONGEST_TEXT
            lines[index] = f"{line[:_LONGEST_TEXT]}... ({cut} more characters)"
    return "\n".join((*heading, *_fit_lines(lines, observation, new, budget)))


def list_tabs(observation: Observation) -> list[str]:
    """Return a line for each tab; none where there is only one."""
    if len(observation.tabs) < 2:
        return []
    front = observation.active_tab
    return [
        f"tab {index}: {on_one_line(title)}{' (current)' if index == front else ''}"
        for index, title in enumerate(observation.tabs)
    ]


def render_node(node: Node, boxes: bool = False) -> str:
    """Return one line, without the line break."""
    indent = "  " * node.depth
    if not node.mark:
        text = on_one_line(node.name)
        line = " ".join((f'text "{text}"' if _FORGED.search(text) else text, *node.states))
        return indent + line + (_place(node) if boxes and any(node.box) else "")
    words = [f"[{node.mark}]", node.role]
    if node.name:
        words.append(f'"{on_one_line(node.name)}"')
    if node.value:
        words.append(f'value="{on_one_line(node.value)}"')
    line = indent + " ".join((*words, *node.states))
    if node.description:
        line += f" ({on_one_line(node.description)})"
    if boxes or node.role == "graphic":
        line += _place(node)
    return line


def _place(node: Node) -> str:
    left, top, width, height = node.box
    return f" at {left},{top} size {width}x{height}"


def _fit_lines(
    lines: Sequence[str], observation: Observation, new: Collection[int], budget: int
) -> list[str]:
    """Return the most lines, by what matters, that fit together with what is said of the others."""
    ranks = [_rank(node, observation, i in new) for i, node in enumerate(observation.nodes)]
    order = sorted(range(len(lines)), key=lambda index: (ranks[index], index))
    least, most = 0, len(order)
    while least < most:
        middle = (least + most + 1) // 2
        written = _with_gaps(lines, observation, set(order[:middle]))
        if sum(len(line) + 1 for line in written) <= budget:
            least = middle
        else:
            most = middle - 1
    return _with_gaps(lines, observation, set(order[:least]))


def _rank(node: Node, observation: Observation, is_new: bool) -> int:
    """Return how soon a line goes when there is no room: the higher, the sooner."""
    if node.mark and node.mark == observation.focus:
        return 0
    screens = abs(_screens_away(node, observation))
    if not screens and (is_new or node.mark or node.kind in _HEADING_KINDS):
        return 1
    if not screens:
        return 2
    return 3 + 2 * min(screens, 9) + (0 if node.mark or node.kind in _HEADING_KINDS else 1)


def _screens_away(node: Node, observation: Observation) -> int:
    """Return how many screens to scroll until the node is seen: 0 in view, negative above."""
    height = observation.viewport[1]
    if not height or node.box == (0, 0, 0, 0):
        return 0
    top, bottom = node.box[1], node.box[1] + node.box[3]
    if top >= height:
        return top // height
    return bottom // height if bottom < 0 else 0


def _with_gaps(lines: Sequence[str], observation: Observation, kept: set[int]) -> list[str]:
    written: list[str] = []
    gap: list[int] = []
    for index, line in enumerate(lines):
        if index not in kept:
            gap.append(index)
            continue
        if gap:
            written.append(_gap(gap, observation, is_last=False))
            gap = []
        if observation.nodes[index].continues and index - 1 in kept:
            written[-1] += f" | {line.lstrip()}"
        else:
            written.append(line)
    return [*written, _gap(gap, observation, is_last=True)] if gap else written


def _gap(gap: Sequence[int], observation: Observation, is_last: bool) -> str:
    """Return what was left out in one place: how much of what, and how far it is."""
    count = f"... {len(gap)}{' more' if is_last else ''} lines left out"
    nodes = [observation.nodes[index] for index in gap]
    away = max((_screens_away(node, observation) for node in nodes), key=abs, default=0)
    if not away:
        return count
    where = "above" if away < 0 else "below"
    parts = [f"{count}, up to {abs(away)} screen{'s' if abs(away) > 1 else ''} {where}"]
    roles = Counter(node.role for node in nodes if node.mark and node.role != "option")
    parts.extend(
        f"{count} {role}{'s' if count > 1 else ''}" for role, count in roles.most_common(3)
    )
    titles = [node.name for node in nodes if node.kind in _HEADING_KINDS and not node.mark]
    parts.extend(f'"{on_one_line(title)[:40]}"' for title in titles[:_HEADINGS_TOLD])
    return "; ".join(parts) if is_last else parts[0]


def on_one_line(text: str) -> str:
    """Return a page's text with its line breaks as `\\n`."""
    return text if text.isprintable() else _LINE_BREAK.sub(r"\\n", text)


def cut_to_tokens(lines: Sequence[str], max_tokens: int) -> str:
    """Return the first lines that fit at 3.5 characters a token, and how many were left out."""
    budget = int(max_tokens * _CHARACTERS_PER_TOKEN)
    used = 0
    for index, line in enumerate(lines):
        used += len(line) + 1
        if used > budget:
            kept = [*lines[:index], f"... {len(lines) - index} more lines left out"]
            return "\n".join(kept)
    return "\n".join(lines)
