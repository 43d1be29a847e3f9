"""Groups of remarks that are alike, for every number of groups at once."""

from collections import Counter
from collections.abc import Sequence
from math import comb

import numpy as np

from evaluators.behaviours.similarity import Array, Vectors, unit


def grouped(texts: Sequence[str], sizes: Sequence[int]) -> dict[int, list[int]]:
    """For each number of groups the group of each text, numbered from 0 in the order of the texts.

    Average linkage (Sokal and Michener, 1958) over the cosine of term vectors, in which terms that
    keep company with the same others stand for each other (Deerwester et al., "Indexing by latent
    semantic analysis", JASIS 1990). Sizes above the number of texts give as many groups as there
    are texts.
    """
    if not texts:
        return {size: [] for size in sizes}
    vectors = Vectors.fitted(texts).of(texts)
    near = vectors @ vectors.T
    company = unit(near)
    alike = np.asarray((near + company @ company.T) / 2)
    wanted = {max(1, min(size, len(texts))) for size in sizes}
    cuts = _merged(alike, wanted)
    return {size: cuts[max(1, min(size, len(texts)))] for size in sizes}


def adjusted_rand(one: Sequence[object], other: Sequence[object]) -> float:
    """Agreement of two groupings beyond chance: Hubert and Arabie (Journal of Classification 1985).

    1 for the same groups, about 0 for chance.
    """
    if len(one) != len(other):
        raise ValueError(f"groupings of {len(one)} and of {len(other)} cannot be compared")
    both = _pairs(Counter(zip(one, other, strict=True)))
    first, second, total = _pairs(Counter(one)), _pairs(Counter(other)), comb(len(one), 2)
    chance = first * second / total if total else 0.0
    most = (first + second) / 2
    return 1.0 if most == chance else (both - chance) / (most - chance)


def _pairs(counts: "Counter[object] | Counter[tuple[object, object]]") -> int:
    return sum(comb(count, 2) for count in counts.values())


def _merged(alike: Array, wanted: set[int]) -> dict[int, list[int]]:
    """The groups at each wanted number, joining the two most alike until one is left."""
    count = len(alike)
    similarity = alike.copy()
    np.fill_diagonal(similarity, -np.inf)
    members = {place: [place] for place in range(count)}
    cuts = {count: _numbered(members, count)} if count in wanted else {}
    while len(members) > 1:
        a, b = sorted(divmod(int(np.argmax(similarity)), count))
        size, other = len(members[a]), len(members[b])
        joined = (size * similarity[a] + other * similarity[b]) / (size + other)
        similarity[a], similarity[:, a] = joined, joined
        similarity[a, a] = -np.inf
        similarity[b], similarity[:, b] = -np.inf, -np.inf
        members[a] += members.pop(b)
        if len(members) in wanted:
            cuts[len(members)] = _numbered(members, count)
    return cuts


def _numbered(members: dict[int, list[int]], count: int) -> list[int]:
    groups = [0] * count
    for number, theirs in enumerate(sorted(members.values(), key=min)):
        for place in theirs:
            groups[place] = number
    return groups
