"""The prefix: a laid-out prompt as arrays, with the relations between its words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webagent.action import Action
from webagent.models.builtin.features import compute_features
from webagent.models.builtin.layout import lay_out_prompt
from webagent.models.builtin.relations import compute_relations, find_matches
from webagent.models.builtin.vocabulary import Vocabulary, Word
from webagent.records import Observation, Step


@dataclass(frozen=True, slots=True)
class Prefix:
    """One prompt of T tokens. `relations[i, j]` is a bit set over `Relation`."""

    ids: NDArray[np.int64]
    """(T,) vocabulary ids."""
    fields: NDArray[np.int64]
    """(T,) `Field`."""
    places: NDArray[np.int64]
    """(T,) position inside the field of the line."""
    lines: NDArray[np.int64]
    """(T,) number of the line from 1, 0 outside the page."""
    features: NDArray[np.float32]
    """(T, FEATURES) `Feature`."""
    relations: NDArray[np.int32]
    """(T, T)"""
    words: tuple[Word | None, ...]
    """What a copy of each token would say; None where there is nothing to copy."""
    marks: NDArray[np.int64]
    """(T,) at the head of a line its mark (-1 for static text), 0 elsewhere."""
    options: NDArray[np.bool_]
    """(T,) whether the token heads an option of a list."""
    origins: NDArray[np.int64]
    """(T,) at the head of a line the index of its node in the observation, -1 elsewhere."""

    def __len__(self) -> int:
        return len(self.ids)


def encode(
    vocabulary: Vocabulary,
    role: str,
    observation: Observation,
    steps: Sequence[Step],
    action: Action | None = None,
) -> Prefix:
    """Return the prompt for `role` at `observation` after `steps`, and of `action` if given."""
    written = lay_out_prompt(role, observation, steps, action)
    matches = find_matches(written)
    keys, fields, places, lines, words = zip(*written.tokens, strict=True)
    count = len(keys)
    marks, origins = np.zeros(count, np.int64), np.full(count, -1)
    options = np.zeros(count, np.bool_)
    for line in written.lines:
        marks[line.head], origins[line.head] = line.node.mark or -1, line.origin
        options[line.head] = line.node.role == "option"
    return Prefix(
        ids=np.array([vocabulary.id(key) for key in keys]),
        fields=np.array(fields),
        places=np.array(places),
        lines=np.array(lines),
        features=compute_features(written, matches),
        relations=compute_relations(written, matches),
        words=words,
        marks=marks,
        options=options,
        origins=origins,
    )
