"""Metrics made of remarks, grouped by their words or by a model."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from evaluators.behaviours.feedback import Aspect, ask_for, prompt
from webagent.models.model import Model
from webagent.models.prompt import fence
from webagent.models.replies import UnusableError, read_form

Array: TypeAlias = NDArray[np.float64]

_WORDS = """
a about after again all also an and any are as at be been before but by can could did do does doing
done for from get got had has have he her his how i if in into is it its itself just me more most my
no not of on once one only or other our out over own really same she should so some still such than
that the their them then there these they this those through to too up very was we were what when
where which while who why will with would you your agent bot didn't don't doesn't wasn't even though
because instead
"""
_COMMON = frozenset(_WORDS.split())
_ENDINGS = ("ingly", "edly", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s")


def terms(text: str) -> list[str]:
    """The words that say something, without their endings."""
    words = re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.casefold().replace("’", "'"))
    return [stem(word) for word in words if word not in _COMMON]


def stem(word: str) -> str:
    """The word without an English ending, where enough of it is left."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            rest = word[: -len(ending)]
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


@dataclass(frozen=True, slots=True)
class Vectors:
    """Texts as unit vectors over the terms of those that they were fitted to."""

    vocabulary: dict[str, int]
    weights: Array
    """Inverse document frequency of each term."""

    @classmethod
    def fitted(cls, texts: Sequence[str]) -> "Vectors":
        """With the terms of these texts and how rare they are (Spärck Jones, 1972, smoothed)."""
        held = [set(terms(text)) for text in texts]
        counts = Counter(term for theirs in held for term in theirs)
        vocabulary = {term: i for i, term in enumerate(sorted(counts))}
        rare = [np.log((1 + len(texts)) / (1 + counts[term])) + 1 for term in vocabulary]
        return cls(vocabulary, np.array(rare, dtype=np.float64))

    def of(self, texts: Sequence[str]) -> Array:
        """(texts, terms), each of length one; zeros for a text without a known term."""
        found = np.zeros((len(texts), len(self.vocabulary)))
        for row, text in enumerate(texts):
            for term, count in Counter(terms(text)).items():
                if term in self.vocabulary:
                    column = self.vocabulary[term]
                    found[row, column] = (1 + np.log(count)) * self.weights[column]
        return unit(found)


def unit(rows: Array) -> Array:
    """Each row at length one; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0))


def group_texts(texts: Sequence[str], sizes: Sequence[int]) -> dict[int, list[int]]:
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


_EXAMPLES = 3
_NAMING = 3


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure by which agents can be judged, as people's feedback has it."""

    name: str
    definition: str
    aspects: tuple[Aspect, ...]
    """The remarks it was made of."""

    @property
    def positive(self) -> tuple[str, ...]:
        """Behaviours that people approved of."""
        return _examples(self.aspects, True)

    @property
    def negative(self) -> tuple[str, ...]:
        """Behaviours that people did not."""
        return _examples(self.aspects, False)

    @property
    def unsigned(self) -> tuple[str, ...]:
        """Behaviours of which nobody said whether they were good."""
        return _examples(self.aspects, None)


class _Measure(BaseModel):
    name: str = Field(min_length=1)
    definition: str = Field(min_length=1)
    remarks: list[int] = Field(min_length=1)


class _Measures(BaseModel):
    measures: list[_Measure]


def make_by_words(aspects: Sequence[Aspect], sizes: Sequence[int]) -> dict[int, tuple[Metric, ...]]:
    """For each number of metrics those that the words of the remarks make, without a model.

    A metric is named by the words that set it apart, and its definition is the remark in its
    middle: a person or a model has to put it better.
    """
    texts = [aspect.text for aspect in aspects]
    vectors = Vectors.fitted(texts).of(texts) if texts else np.zeros((0, 0))
    made = {}
    for size, groups in group_texts(texts, sizes).items():
        places = [[i for i, group in enumerate(groups) if group == n] for n in sorted({*groups})]
        made[size] = tuple(_by_words(aspects, vectors, theirs) for theirs in places)
    return made


async def make_by_model(model: Model, aspects: Sequence[Aspect], size: int) -> tuple[Metric, ...]:
    """So many metrics, sorted, named and defined by a model.

    Every remark has to be in exactly one. Raises `UnusableError` when no reply can be used,
    `ModelError` when the model failed.
    """
    size = min(size, len(aspects))
    listed = "\n".join(f"{n}. {format_remark(aspect)}" for n, aspect in enumerate(aspects, start=1))
    slots = {"system": {"count": str(size)}, "user": {"remarks": fence("remarks", listed)}}

    def read(text: str) -> tuple[Metric, ...]:
        measures = read_form(text, _Measures).measures
        count = len(aspects)
        if len(measures) != size:
            raise UnusableError(f"there are {len(measures)} measures, not {size}")
        named = [number for each in measures for number in each.remarks]
        twice = sorted({number for number in named if named.count(number) > 1})
        missing = sorted({*range(1, count + 1)} - {*named})
        unknown = sorted({*named} - {*range(1, count + 1)})
        for problem, numbers in (
            ("in no measure", missing),
            ("in several", twice),
            ("not among the remarks", unknown),
        ):
            if numbers:
                raise UnusableError(f"remarks {', '.join(map(str, numbers[:10]))} are {problem}")
        return tuple(
            Metric(each.name, each.definition, tuple(aspects[n - 1] for n in sorted(each.remarks)))
            for each in measures
        )

    return await ask_for(model, prompt("cluster"), slots, read, max_tokens=16384)


def format_remark(aspect: Aspect) -> str:
    """An aspect in one line: its sign, the behaviour, the person's words."""
    sign = {True: "good", False: "bad", None: "unsaid"}[aspect.is_positive]
    words = "" if aspect.behaviour == aspect.feedback else f" (“{aspect.feedback}”)"
    return f"{sign}: {' '.join((aspect.behaviour + words).split())}"


def _by_words(aspects: Sequence[Aspect], vectors: Array, places: Sequence[int]) -> Metric:
    theirs = [aspects[place] for place in places]
    middle = unit(vectors[places].mean(axis=0))
    central = theirs[int(np.argmax(vectors[places] @ middle))]
    return Metric(_words(aspects, theirs), central.behaviour, tuple(theirs))


def _words(aspects: Sequence[Aspect], theirs: Sequence[Aspect]) -> str:
    """The words that are frequent in these remarks and rare in all, as people wrote them."""
    own, every = _shares(theirs), _shares(aspects)
    best = sorted(own, key=lambda term: (-own[term] * np.log(1 + own[term] / every[term]), term))
    written: dict[str, str] = {}
    for aspect in theirs:
        for word in aspect.text.casefold().replace("’", "'").split():
            plain = word.strip(".,;:!?()“”\"'")
            for term in terms(plain):
                written.setdefault(term, plain)
    return ", ".join(written[term] for term in best[:_NAMING] if term in written) or "unnamed"


def _shares(aspects: Sequence[Aspect]) -> dict[str, float]:
    held = [set(terms(aspect.text)) for aspect in aspects]
    return {
        term: sum(term in theirs for theirs in held) / len(held)
        for theirs in held
        for term in theirs
    }


def _examples(aspects: Sequence[Aspect], sign: bool | None) -> tuple[str, ...]:
    said = [aspect.behaviour for aspect in aspects if aspect.is_positive is sign]
    return tuple(dict.fromkeys(said))[:_EXAMPLES]
