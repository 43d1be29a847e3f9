"""Lines that a world model could have known, from what is remembered and from what is at hand."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from webagent.memory.pages import is_within
from webagent.records import Node
from worldmodel.cases import Occasion
from worldmodel.lines import name_of
from worldmodel.transitions import Transition


@dataclass(slots=True)
class KnowableLines:
    """The content of remembered transitions, to decide what a model could have known."""

    lines: set[int] = field(default_factory=set)
    _edges: dict[tuple[str, ...], Counter[int]] = field(default_factory=dict)
    _tries: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def learn(self, transitions: Iterable[Transition]) -> None:
        """Add the content of transitions."""
        for t in transitions:
            self.lines |= {name_of(node) for node in t.after.nodes}
            self._count(t, 1)

    @contextmanager
    def without(self, transitions: Iterable[Transition]) -> Iterator[None]:
        """Decide as if these transitions had not been learned."""
        left_out = list(transitions)
        for t in left_out:
            self._count(t, -1)
        try:
            yield
        finally:
            for t in left_out:
                self._count(t, 1)

    def _count(self, t: Transition, times: int) -> None:
        edge = _edge(t)
        self._tries[edge] += times
        names = {name_of(node) for node in t.after.nodes}
        self._edges.setdefault(edge, Counter()).update(dict.fromkeys(names, times))

    def holds(self, node: Node, t: Transition, said: Sequence[str]) -> bool:
        """Return whether a line of the page after a transition could be known before it: its name
        is in one of these texts, or appeared in half of the similar transitions."""
        text = node.name.lower()
        if not text or any(text == held or is_within(text, held) for held in said):
            return True
        edge = _edge(t)
        return 2 * self._edges.get(edge, Counter())[name_of(node)] >= max(1, self._tries[edge])


def _edge(t: Transition) -> tuple[str, ...]:
    there = Occasion(t.situation)
    node = there.node
    return (there.kind, there.op, *((node.role, node.name) if node else ()))
