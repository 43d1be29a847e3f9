"""Whether metrics say what people say of episodes that the metrics were not made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import BaseModel, Field

from evaluators.agreement.measures import rate_clusters
from evaluators.behaviours.feedback import Aspect, ask_for, fill_episode_slots, prompt
from evaluators.behaviours.metrics import Metric, format_remark, split_terms
from evaluators.statistics import Interval
from webagent.models.model import Model
from webagent.models.prompt import fence
from webagent.models.replies import UnusableError, read_form
from webagent.records import Trajectory
from webagent.similarity import TermVectors, normalize_rows


@dataclass(frozen=True, slots=True)
class Trait:
    """A metric that shows in an episode, well or badly."""

    metric: int
    """Its place among the metrics."""
    is_positive: bool


@dataclass(frozen=True, slots=True)
class Matched:
    """Held-out remarks of one turn beside the metrics."""

    aspects: tuple[tuple[Aspect, bool], ...]
    """With whether a metric says it, too."""
    traits: tuple[tuple[str, bool], ...]
    """What metrics say, by episode, with whether a person said it, too."""


@dataclass(frozen=True, slots=True)
class MetricQuality:
    """How good a set of metrics is, by what people said of other episodes."""

    coverage: Interval | None
    """Share of people's remarks that a metric says, too."""
    redundancy: Interval | None
    """Share of what metrics say that no person said, or that another metric says already."""
    uncovered: tuple[Aspect, ...]
    """Remarks that no metric says."""

    @property
    def worth(self) -> float:
        """Coverage less redundancy, by which sets are compared."""
        covered = self.coverage.value if self.coverage else 0.0
        return covered - (self.redundancy.value if self.redundancy else 0.0)


class _Rating(BaseModel):
    measure: int
    rating: Literal["good", "bad", "none"]


class _Ratings(BaseModel):
    ratings: list[_Rating]


class _Match(BaseModel):
    remark: int
    trait: int = Field(ge=0)


class _Matches(BaseModel):
    matches: list[_Match]


def match_by_words(metrics: Sequence[Metric], held_out: Sequence[Aspect]) -> Matched:
    """Return each remark with the metrics that its words are near to, without a model.

    Near is as near to the metric's middle as every second remark is to the one most like it. What
    two metrics say of one remark, one of them says in vain: there is no model that would see a
    metric in an episode where nobody spoke of it, which is the paper's redundancy.
    """
    texts = [aspect.text for metric in metrics for aspect in metric.aspects]
    owners = np.array([n for n, metric in enumerate(metrics) for _ in metric.aspects])
    vectors = TermVectors(texts, split_terms)
    known = vectors.transform(texts)
    among = known @ known.T
    np.fill_diagonal(among, -1.0)
    enough = max(float(np.median(among.max(axis=1))), 1e-9)
    middles = normalize_rows(
        np.stack([known[owners == n].mean(axis=0) for n in range(len(metrics))])
    )
    near = vectors.transform([aspect.text for aspect in held_out]) @ middles.T >= enough
    covered, traits = [], []
    for aspect, row in zip(held_out, near, strict=True):
        covered.append((aspect, bool(row.any())))
        traits += [(aspect.episode, place == 0) for place in range(int(row.sum()))]
    return Matched(tuple(covered), tuple(traits))


async def rate_episode(
    model: Model, trajectory: Trajectory, metrics: Sequence[Metric]
) -> tuple[Trait, ...]:
    """Return the metrics that a model sees in an episode, good or bad.

    Raises `UnusableError` or `ModelError`.
    """
    listed = "\n".join(f"{n}. {m.name}: {m.definition}" for n, m in enumerate(metrics, start=1))
    slots = {"user": {**fill_episode_slots(trajectory), "measures": listed}}

    def read(text: str) -> tuple[Trait, ...]:
        ratings = read_form(text, _Ratings).ratings
        if sorted(each.measure for each in ratings) != [*range(1, len(metrics) + 1)]:
            raise UnusableError(f"there has to be one rating for each of {len(metrics)} measures")
        return tuple(
            Trait(each.measure - 1, each.rating == "good")
            for each in ratings
            if each.rating != "none"
        )

    return await ask_for(model, prompt("rate"), slots, read)


async def match_by_model(
    model: Model, metrics: Sequence[Metric], traits: Sequence[Trait], aspects: Sequence[Aspect]
) -> Matched:
    """Return the remarks on one episode and the traits in it, matched by a model.

    A remark goes only with a trait of its own sign, as the paper has it; one without a sign goes
    with either. Raises `UnusableError` or `ModelError`.
    """
    covered: dict[int, bool] = {}
    used: set[int] = set()
    for sign in (True, False, None):
        theirs = [n for n, aspect in enumerate(aspects) if aspect.is_positive is sign]
        fitting = [n for n, trait in enumerate(traits) if sign in (None, trait.is_positive)]
        picked = [aspects[n] for n in theirs]
        found = await _match_remarks(model, metrics, [traits[n] for n in fitting], picked)
        for n, place in zip(theirs, found, strict=True):
            covered[n] = place is not None
            used |= {fitting[place]} if place is not None else set()
    episode = aspects[0].episode if aspects else ""
    return Matched(
        tuple((aspect, covered[n]) for n, aspect in enumerate(aspects)),
        tuple((episode, n in used) for n in range(len(traits))),
    )


def measure_quality(turns: Sequence[Matched]) -> MetricQuality:
    """Return coverage and redundancy over all that was held out; intervals resample episodes."""
    aspects = [pair for turn in turns for pair in turn.aspects]
    traits = [pair for turn in turns for pair in turn.traits]
    return MetricQuality(
        rate_clusters((aspect.episode, is_covered) for aspect, is_covered in aspects),
        rate_clusters((episode, not is_said) for episode, is_said in traits),
        tuple(aspect for aspect, is_covered in aspects if not is_covered),
    )


async def _match_remarks(
    model: Model, metrics: Sequence[Metric], traits: Sequence[Trait], aspects: Sequence[Aspect]
) -> list[int | None]:
    """Return for each remark the place of its trait; no model is asked where there are none."""
    if not aspects or not traits:
        return [None] * len(aspects)
    remarks = "\n".join(
        f"{n}. {format_remark(aspect)}" for n, aspect in enumerate(aspects, start=1)
    )
    listed = "\n".join(
        f"{n}. {metrics[t.metric].name}: {metrics[t.metric].definition}"
        for n, t in enumerate(traits, start=1)
    )
    slots = {"user": {"remarks": fence("remarks", remarks), "traits": fence("traits", listed)}}

    def read(text: str) -> list[int | None]:
        found = {each.remark: each.trait for each in read_form(text, _Matches).matches}
        if sorted(found) != [*range(1, len(aspects) + 1)]:
            raise UnusableError(f"there has to be one entry for each of {len(aspects)} remarks")
        if max(found.values()) > len(traits):
            raise UnusableError(f"there is no trait {max(found.values())}, only {len(traits)}")
        return [found[n] - 1 if found[n] else None for n in sorted(found)]

    return await ask_for(model, prompt("match"), slots, read)
