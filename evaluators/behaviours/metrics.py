"""Metrics made of remarks: a name, a definition, and what meets it and what does not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, Field

from evaluators.behaviours.aspects import Aspect
from evaluators.behaviours.clustering import grouped
from evaluators.behaviours.replies import prompt, replied
from evaluators.behaviours.similarity import Array, Vectors, terms, unit
from webagent.models.model import Model
from webagent.models.prompt import fence
from webagent.models.replies import UnusableError, read_form

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


def by_words(aspects: Sequence[Aspect], sizes: Sequence[int]) -> dict[int, tuple[Metric, ...]]:
    """For each number of metrics those that the words of the remarks make, without a model.

    A metric is named by the words that set it apart, and its definition is the remark in its
    middle: a person or a model has to put it better.
    """
    texts = [aspect.text for aspect in aspects]
    vectors = Vectors.fitted(texts).of(texts) if texts else np.zeros((0, 0))
    made = {}
    for size, groups in grouped(texts, sizes).items():
        places = [[i for i, group in enumerate(groups) if group == n] for n in sorted({*groups})]
        made[size] = tuple(_by_words(aspects, vectors, theirs) for theirs in places)
    return made


async def by_model(model: Model, aspects: Sequence[Aspect], size: int) -> tuple[Metric, ...]:
    """So many metrics, sorted, named and defined by a model.

    Every remark has to be in exactly one. Raises `UnusableError` when no reply can be used,
    `ModelError` when the model failed.
    """
    size = min(size, len(aspects))
    listed = "\n".join(f"{n}. {remark(aspect)}" for n, aspect in enumerate(aspects, start=1))
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

    return await replied(model, prompt("cluster"), slots, read, max_tokens=16384)


def remark(aspect: Aspect) -> str:
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
