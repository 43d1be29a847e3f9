"""Which lines of a page are new or different since the look before."""

from collections import Counter

from webagent.records import Node, Observation


def changed(before: Observation, after: Observation) -> frozenset[int]:
    """Indices of the nodes of `after` that `before` did not have, or had otherwise.

    Elements are known by their marks, static text by its words. None on a page at another address,
    where everything is new.
    """
    if before.url != after.url:
        return frozenset()
    known = {node.mark: _look(node) for node in before.nodes if node.mark}
    texts = Counter(node.name for node in before.nodes if not node.mark)
    return frozenset(index for index, node in enumerate(after.nodes) if _is_new(node, known, texts))


def _is_new(node: Node, known: dict[int, tuple[object, ...]], texts: Counter[str]) -> bool:
    if node.mark:
        return known.get(node.mark) != _look(node)
    texts[node.name] -= 1
    return texts[node.name] < 0


def _look(node: Node) -> tuple[object, ...]:
    return node.role, node.name, node.value, node.states
