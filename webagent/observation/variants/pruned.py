"""The lines of a page without what repeats or decorates, lists and tables as Markdown.

After "AgentOccam: A Simple Yet Strong Baseline for LLM-Based Web Agents" (Yang et al. 2024, arXiv
2410.13825), section on the observation space: text that repeats the element beside it is merged
with it, tables and lists are written as Markdown, and of earlier pages only what lies around the
pivotal elements is kept. There the model names the pivotal elements; here they are those it acted
on. The order of lines is the page's, as there.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from webagent.observation.render import cut_to_tokens, render_node
from webagent.records import Node, Observation

_CELLS = " | "
_SHORT_ROLES = {"generic": "clickable"}


def prune(observation: Observation, max_tokens: int = 2000) -> str:
    """Return the page now: every element that can be acted on, and every text once."""
    return cut_to_tokens([*_tabs(observation), *_written(_merged(observation.nodes))], max_tokens)


def recall(observation: Observation, pivotal: Collection[int], max_tokens: int = 200) -> str:
    """Return elements of an earlier page by mark, with ancestors, siblings, descendants."""
    kept = [node for node in _around(observation.nodes, pivotal) if node.name or node.value]
    return cut_to_tokens(list(_written(_merged(kept))), max_tokens)


def _tabs(observation: Observation) -> Iterator[str]:
    if len(observation.tabs) > 1:
        for index, title in enumerate(observation.tabs):
            yield f"tab {index}: {title}{' (current)' if index == observation.active_tab else ''}"


def _merged(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes without nameless drawings and without text beside its own element."""
    kept: list[Node] = []
    for place, node in enumerate(nodes):
        beside = nodes[max(0, place - 1) : place + 2]
        is_said = not node.mark and any(o.mark and o.name == node.name for o in beside)
        is_blank = node.role == "graphic" and not (node.name or node.value or node.states)
        if not (is_said or is_blank):
            kept.append(node)
    return kept


def _written(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield cells as a table, options behind their list, the rest one by one."""
    for form, run in groupby(nodes, key=_form):
        group = list(run)
        if form == "table":
            yield from _table(group)
        elif form == "option":
            yield "  " * group[0].depth + "options: " + _CELLS.join(map(_option, group))
        else:
            yield from map(_line, group)


def _form(node: Node) -> str:
    if node.role == "option" and node.kind == "option":
        return "option"
    return "table" if not node.mark and _CELLS in node.name else ""


def _table(rows: Sequence[Node]) -> Iterator[str]:
    indent = "  " * rows[0].depth
    for place, row in enumerate(rows):
        yield f"{indent}| {row.name} |"
        if place == 0 and len(rows) > 1:
            yield f"{indent}|{' --- |' * (row.name.count(_CELLS) + 1)}"


def _option(option: Node) -> str:
    return f"*{option.name}*" if "selected" in option.states else option.name


def _line(node: Node) -> str:
    indent = "  " * node.depth
    if node.mark:
        role = _SHORT_ROLES.get(node.role, "")
        return (
            render_node(node).replace(f"] {node.role}", f"] {role}", 1)
            if role
            else render_node(node)
        )
    if heading := re.fullmatch(r"h([1-6])", node.kind):
        return f"{'#' * int(heading[1])} {node.name}"
    return indent + ("- " if node.kind == "li" else "") + render_node(node).strip()


def _around(nodes: Sequence[Node], pivotal: Collection[int]) -> list[Node]:
    """Return the nodes above, beside and below the pivotal ones, by their indentation."""
    kept: set[int] = set()
    for place, node in enumerate(nodes):
        if node.mark and node.mark in pivotal:
            kept.update(_ancestors(nodes, place))
            kept.update(_family(nodes, place))
    return [nodes[place] for place in sorted(kept)]


def _ancestors(nodes: Sequence[Node], place: int) -> Iterator[int]:
    depth = nodes[place].depth
    for above in range(place - 1, -1, -1):
        if nodes[above].depth < depth:
            depth = nodes[above].depth
            yield above


def _family(nodes: Sequence[Node], place: int) -> Iterator[int]:
    """Yield a nested node's siblings, else its neighbours, and what lies below it."""
    depth = nodes[place].depth
    if depth == 0:
        yield from range(max(0, place - 2), min(len(nodes), place + 3))
    start = place
    while depth and start and nodes[start - 1].depth >= depth:
        start -= 1
    end = place + 1
    while end < len(nodes) and nodes[end].depth > (depth - 1 if depth else 0):
        end += 1
    yield from range(start, end)
