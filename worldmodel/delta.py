"""Page changes: the difference between two observations as edits, and edits applied to a page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from webagent.records import Node, Observation


@dataclass(frozen=True, slots=True)
class Edit:
    """One changed line."""

    kind: str
    """`remove`, `add`, `name`, `value` or `states`."""
    line: int
    """Index of the line in the page before; for `add` the line it comes after, -1 for the top."""
    node: Node
    """The line as it is afterwards (for `remove` as it was)."""


def difference(before: Observation, after: Observation) -> tuple[Edit, ...]:
    """Return the edits that turn the lines of one page into those of the next, in page order.

    Elements are the same when their mark is; static text is matched by its words. An element
    that moved among the others counts as removed and added. Boxes and focus are not compared.
    """
    old, new = before.nodes, after.nodes
    matcher = SequenceMatcher(None, _identities(old), _identities(new), autojunk=False)
    edits: list[Edit] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            edits.extend(Edit("remove", i, old[i]) for i in range(i1, i2))
            edits.extend(Edit("add", i2 - 1, new[j]) for j in range(j1, j2))
            continue
        for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
            changed = [k for k in ("name", "value") if getattr(old[i], k) != getattr(new[j], k)]
            if _lasting_states(old[i]) != _lasting_states(new[j]):
                changed.append("states")
            edits.extend(Edit(kind, i, new[j]) for kind in changed)
    return tuple(edits)


def apply(edits: Sequence[Edit], before: Observation) -> tuple[Node, ...]:
    """Return the lines of the page after the edits; added elements get marks not used before."""
    lines: list[Node | None] = list(before.nodes)
    added: dict[int, list[Node]] = {}
    next_mark = max((node.mark for node in before.nodes), default=0) + 1
    for edit in edits:
        if edit.kind == "add":
            node = edit.node
            if node.mark:
                node = replace(node, mark=next_mark)
                next_mark += 1
            added.setdefault(edit.line, []).append(node)
            continue
        line = lines[edit.line]
        if edit.kind == "remove":
            lines[edit.line] = None
        elif line is not None:
            lines[edit.line] = replace(line, **{edit.kind: getattr(edit.node, edit.kind)})
    out = list(added.get(-1, []))
    for i, line in enumerate(lines):
        out += [line] if line is not None else []
        out += added.get(i, [])
    return tuple(out)


def _identities(nodes: Sequence[Node]) -> list[tuple[int, str]]:
    return [(node.mark, "" if node.mark else node.name) for node in nodes]


def _lasting_states(node: Node) -> tuple[str, ...]:
    """Return states other than focus, which follows every click."""
    return tuple(sorted(state for state in node.states if state != "focused"))
