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

from webagent.observation.render import cut_to_tokens, list_tabs, on_one_line, render_node
from webagent.records import Node, Observation

_CELLS = " | "


def prune(observation: Observation, max_tokens: int = 2000) -> str:
    """Return the page now: every element that can be acted on, and every text once."""
    lines = _write(_merge(observation.nodes))
    return cut_to_tokens([*list_tabs(observation), *lines], max_tokens)


def recall(observation: Observation, pivotal: Collection[int], max_tokens: int = 200) -> str:
    """Return elements of an earlier page by mark, with ancestors, siblings, descendants."""
    nodes = observation.nodes
    places: set[int] = set()
    for place, node in enumerate(nodes):
        if node.mark and node.mark in pivotal:
            depth = node.depth
            # Its siblings, else its neighbours, and what lies below it.
            if depth == 0:
                places.update(range(max(0, place - 2), min(len(nodes), place + 3)))
            start, end = place, place + 1
            while depth and start and nodes[start - 1].depth >= depth:
                start -= 1
            while end < len(nodes) and nodes[end].depth > (depth - 1 if depth else 0):
                end += 1
            places.update(range(start, end))
            for above in range(place - 1, -1, -1):
                if nodes[above].depth < depth:
                    depth = nodes[above].depth
                    places.add(above)
    kept = [nodes[place] for place in sorted(places)]
    named = [node for node in kept if node.name or node.value]
    return cut_to_tokens(list(_write(_merge(named))), max_tokens)


def _merge(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes without nameless drawings and without text beside its own element."""
    kept: list[Node] = []
    for place, node in enumerate(nodes):
        beside = nodes[max(0, place - 1) : place + 2]
        is_repeated = not node.mark and any(o.mark and o.name == node.name for o in beside)
        is_blank = node.role == "graphic" and not (node.name or node.value or node.states)
        if not (is_repeated or is_blank):
            kept.append(node)
    return kept


def _write(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield cells as a table, options behind their list, the rest one by one."""

    def form_of(node: Node) -> str:
        if node.role == "option" and node.kind == "option":
            return "option"
        return "table" if not node.mark and _CELLS in node.name else ""

    for form, run in groupby(nodes, key=form_of):
        group = list(run)
        indent = "  " * group[0].depth
        if form == "option":
            names = (f"*{x.name}*" if "selected" in x.states else x.name for x in group)
            yield f"{indent}options: {on_one_line(_CELLS.join(names))}"
        for place, node in enumerate(group if form == "table" else ()):
            yield f"{indent}| {on_one_line(node.name)} |"
            if place == 0 and len(group) > 1:
                yield f"{indent}|{' --- |' * (node.name.count(_CELLS) + 1)}"
        for node in group if not form else ():
            line = render_node(node)
            if node.mark:
                is_generic = node.role == "generic"
                yield line.replace("] generic", "] clickable", 1) if is_generic else line
            elif heading := re.fullmatch(r"h([1-6])", node.kind):
                yield f"{'#' * int(heading[1])} {on_one_line(node.name)}"
            else:
                yield indent + ("- " if node.kind == "li" else "") + line.strip()
