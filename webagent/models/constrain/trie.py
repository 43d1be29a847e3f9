"""Closed choices as a tree of ids, in which each text has its one canonical spelling."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from webagent.errors import ModelError
from webagent.models.constrain.vocabulary import Vocabulary


@dataclass(slots=True)
class Node:
    """What may follow one beginning."""

    children: dict[int, "Node"] = field(default_factory=dict)
    is_whole: bool = False
    """Whether the beginning is itself one of the choices."""


def plant(choices: Sequence[str], vocabulary: Vocabulary) -> Node:
    """The tree of the choices. Raises `ModelError` for an empty one, `SetupError` for one that the
    tokenizer cannot spell."""
    if not all(choices):
        raise ModelError("a choice is empty; a reply of no text cannot be chosen, leave it out")
    root = Node()
    for ids in vocabulary.spell(choices):
        node = root
        for token in ids:
            node = node.children.setdefault(token, Node())
        node.is_whole = True
    return root


class TrieMatcher:
    """Follows one reply down the tree."""

    def __init__(self, root: Node, ends: tuple[int, ...], width: int) -> None:
        self._node: Node | None = root
        self._ends = ends
        self._width = width

    def mask(self) -> NDArray[np.bool_]:
        """Which ids may come next, (width,); none once the reply has ended."""
        allowed = np.zeros(self._width, dtype=np.bool_)
        if self._node is not None:
            allowed[list(self._node.children)] = True
            if self._node.is_whole:
                allowed[list(self._ends)] = True
        return allowed

    def accept(self, token: int) -> None:
        """The id that came. Raises `ModelError` for one that may not."""
        node = self._node
        if node is not None and token in node.children:
            self._node = node.children[token]
        elif node is not None and node.is_whole and token in self._ends:
            self._node = None
        else:
            raise ModelError(refusal(token, self.is_complete))

    @property
    def is_complete(self) -> bool:
        """Whether the reply has ended."""
        return self._node is None


def refusal(token: int, is_complete: bool) -> str:
    """What is wrong with an id that the constraint does not allow."""
    if is_complete:
        return f"id {token} came after the reply had ended"
    return (
        f"id {token} is not allowed here by the constraint; sample under its masks, and replay ids"
        " with the constraint and the tokenizer they were sampled with"
    )
