"""Elements that are like each other, and which of them the goal means."""

from collections.abc import Iterable, Sequence

from evaluators.attribution.words import mentions, names_in, stands_in
from webagent.records import Node, Observation

TICKED = frozenset(("checked", "selected"))
TICKABLE = frozenset(("checkbox", "radio", "option", "switch"))


def better_twin(page: Observation, node: Node, goal: str) -> Node | None:
    """Another element of the same role and name beside which the goal's names stand, while none
    stands beside this one."""
    twins = [n for n in page.nodes if n.mark and (n.role, n.name) == (node.role, node.name)]
    called = {one.name.casefold() for one in page.nodes if one.mark}
    names = [name for name in names_in(goal) if name.casefold() not in called]
    if len(twins) < 2 or not names:
        return None
    beside = {twin.mark: _beside(page, twin, twins) for twin in twins}
    counts = {mark: sum(stands_in(n, text) for n in names) for mark, text in beside.items()}
    best = max(twins, key=lambda twin: counts[twin.mark])
    if not counts[node.mark]:
        return best if counts[best.mark] else None
    only = sum(count == counts[best.mark] for count in counts.values()) == 1
    return best if only and counts[best.mark] > counts[node.mark] else None


def better_line(page: Observation, node: Node, goal: str) -> Node | None:
    """The one line of the same role that has a name of the goal in it, while this line has none."""
    names = names_in(goal)
    if len(node.name.split()) < 2 or mentions(node, names):
        return None
    alike = [one for one in page.nodes if one.mark and one.role == node.role]
    found = [one for one in alike if mentions(one, names)]
    return (
        found[0] if len(found) == 1 and node.name.count("|") == found[0].name.count("|") else None
    )


def wrongly_ticked(page: Observation, named: Iterable[Node]) -> Node | None:
    """Something ticked or chosen that the goal does not name, where it names others of its role
    that are not."""
    missing = {n.role for n in named if n.role in TICKABLE and not TICKED & set(n.states)}
    marks = {node.mark for node in named}
    chosen = (n for n in page.nodes if n.role in missing and TICKED & set(n.states))
    return next((node for node in chosen if node.mark not in marks), None)


def _beside(page: Observation, twin: Node, twins: Sequence[Node]) -> str:
    """What stands between the twin before this one and this one: its row, its heading."""
    marks = {one.mark for one in twins}
    lines: list[str] = []
    for node in page.nodes:
        if node.mark == twin.mark:
            return "\n".join(lines)
        if node.mark in marks:
            lines = []
        else:
            lines.append(f"{node.name} {node.value}")
    return "\n".join(lines)
