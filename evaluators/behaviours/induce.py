"""Metrics induced from feedback: the set that covers most remarks with least redundancy."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field

from evaluators.behaviours.feedback import (
    Aspect,
    Metric,
    ask_for,
    compare_groupings,
    fill_episode_slots,
    format_remark,
    make_by_model,
    make_by_words,
    prompt,
    split_terms,
)
from evaluators.statistics import Interval
from webagent.errors import ModelError, SetupError
from webagent.models.model import Model
from webagent.models.prompt import fence
from webagent.models.replies import UnusableError, read_form
from webagent.records import Trajectory


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
    import numpy as np

    from webagent.similarity import TermVectors, normalize_rows

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
            raise UnusableError(f"expected one rating for each of {len(metrics)} measures")
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
    from evaluators.agreement.measures import rate_clusters

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
            raise UnusableError(f"expected one entry for each of {len(aspects)} remarks")
        if max(found.values()) > len(traits):
            raise UnusableError(f"there is no trait {max(found.values())}, only {len(traits)}")
        return [found[n] - 1 if found[n] else None for n in sorted(found)]

    return await ask_for(model, prompt("match"), slots, read)


SIZES = tuple(range(2, 16))
TURNS = 5


@dataclass(frozen=True, slots=True)
class InducedMetrics:
    """What came of it."""

    metrics: tuple[Metric, ...]
    """Made of all remarks, as many as did best."""
    tried: Mapping[int, MetricQuality]
    """For each number of metrics how good such a set is, made of some remarks and measured on
    others."""
    problems: tuple[str, ...] = ()
    """What could not be asked or read, and was left out."""
    rand: float | None = None
    """Agreement with the groups that people gave, beyond chance; None where they gave none."""

    @property
    def size(self) -> int:
        """How many metrics were found to do best."""
        return choose_size(self.tried)


def choose_size(tried: Mapping[int, MetricQuality]) -> int:
    """Return the fewest metrics within two points of the best coverage less redundancy."""
    most = max(found.worth for found in tried.values())
    return min(size for size, found in tried.items() if found.worth >= most - 0.02)


def induce_by_words(aspects: Sequence[Aspect], sizes: Sequence[int] = SIZES) -> InducedMetrics:
    """Induce metrics by words, without a model, each fifth of the episodes held out in turn.

    Raises `SetupError` where there is too little feedback to hold any out.
    """
    parts = _parts(aspects)
    turns: defaultdict[int, list[Matched]] = defaultdict(list)
    for held_out in parts:
        kept = [aspect for part in parts if part is not held_out for aspect in part]
        for size, metrics in make_by_words(kept, [s for s in sizes if s <= len(kept)]).items():
            turns[size].append(match_by_words(metrics, held_out))
    tried = {
        size: measure_quality(found) for size, found in turns.items() if len(found) == len(parts)
    }
    metrics = make_by_words(aspects, [choose_size(tried)])[choose_size(tried)]
    return InducedMetrics(metrics, tried, rand=_rand(metrics))


async def induce_by_model(
    model: Model,
    aspects: Sequence[Aspect],
    episodes: Mapping[str, Trajectory],
    sizes: Sequence[int] = SIZES,
) -> InducedMetrics:
    """Have a model sort, name, rate and match; a fifth of the episodes is held out once.

    A size for which the model gives nothing usable is left out and named. Raises `ModelError` when
    none is left, `SetupError` where there is too little feedback.
    """
    held_out, *others = _parts(aspects)
    kept = [aspect for part in others for aspect in part]
    tried: dict[int, MetricQuality] = {}
    problems: list[str] = []
    for size in sorted({min(size, len(kept)) for size in sizes}):
        try:
            metrics = await make_by_model(model, kept, size)
            tried[size] = measure_quality(await _match_held_out(model, metrics, held_out, episodes))
        except (UnusableError, ModelError) as error:
            problems.append(f"{size} metrics: {error}")
    if not tried:
        raise ModelError(f"no set of metrics could be made: {'; '.join(problems)}")
    try:
        metrics = await make_by_model(model, aspects, choose_size(tried))
    except UnusableError as error:
        raise ModelError(
            f"no final set of {choose_size(tried)} metrics could be made: {error}"
        ) from error
    return InducedMetrics(metrics, tried, tuple(problems), _rand(metrics))


async def _match_held_out(
    model: Model,
    metrics: Sequence[Metric],
    held_out: Sequence[Aspect],
    episodes: Mapping[str, Trajectory],
) -> list[Matched]:
    theirs: defaultdict[str, list[Aspect]] = defaultdict(list)
    for aspect in held_out:
        theirs[aspect.episode].append(aspect)
    found = []
    for episode, aspects in theirs.items():
        traits = await rate_episode(model, episodes[episode], metrics)
        found.append(await match_by_model(model, metrics, traits, aspects))
    return found


def _parts(aspects: Sequence[Aspect]) -> list[list[Aspect]]:
    """Return the remarks in fifths of their episodes, so that no episode is on both sides."""
    episodes = list(dict.fromkeys(aspect.episode for aspect in aspects))
    if len(episodes) < 2 or len(aspects) < 4:
        raise SetupError(
            f"{len(aspects)} remarks on {len(episodes)} episodes are too few to make metrics of"
            " some and measure them on others; at least 4 on 2 are needed"
        )
    count = min(TURNS, len(episodes))
    part = {episode: n % count for n, episode in enumerate(episodes)}
    return [[a for a in aspects if part[a.episode] == n] for n in range(count)]


def _rand(metrics: Sequence[Metric]) -> float | None:
    grouped = [(n, a.group) for n, metric in enumerate(metrics) for a in metric.aspects if a.group]
    if not grouped:
        return None
    return compare_groupings([n for n, _ in grouped], [group for _, group in grouped])


def format_json(induced: InducedMetrics) -> dict[str, Any]:
    """Return everything as plain data for a file."""
    tried = {
        str(size): {
            "coverage": found.coverage._asdict() if found.coverage else None,
            "redundancy": found.redundancy._asdict() if found.redundancy else None,
            "uncovered": [format_remark(aspect) for aspect in found.uncovered],
        }
        for size, found in sorted(induced.tried.items())
    }
    metrics = [
        {
            "name": metric.name,
            "definition": metric.definition,
            "positive": list(metric.positive),
            "negative": list(metric.negative),
            "unsigned": list(metric.unsigned),
            "aspects": [
                {name: getattr(aspect, name) for name in _ASPECT_FIELDS}
                for aspect in metric.aspects
            ],
        }
        for metric in induced.metrics
    ]
    return {
        "size": induced.size,
        "adjusted_rand": induced.rand,
        "metrics": metrics,
        "tried": tried,
        "problems": list(induced.problems),
    }


_ASPECT_FIELDS = ("episode", "step", "feedback", "behaviour", "is_positive")


def format_markdown(induced: InducedMetrics) -> str:
    """Return the metrics with their examples, then how good each number of them was."""
    lines = ["# Metrics from people's feedback", ""]
    for metric in induced.metrics:
        lines += [f"## {metric.name}", "", metric.definition, ""]
        for title, examples in (
            ("Good", metric.positive),
            ("Bad", metric.negative),
            ("Said", metric.unsigned),
        ):
            lines += [f"- {title}: {_line(example)}" for example in examples]
        episodes = len({aspect.episode for aspect in metric.aspects})
        lines += ["", f"{len(metric.aspects)} remarks on {episodes} episodes.", ""]
    lines += ["## How many", "", "| metrics | coverage % | redundancy % | |", "|---|---|---|---|"]
    for size, found in sorted(induced.tried.items()):
        mark = "taken" if size == induced.size else ""
        shares = [_format_interval(each) for each in (found.coverage, found.redundancy)]
        lines.append(f"| {size} | {' | '.join(shares)} | {mark} |")
    uncovered = induced.tried[induced.size].uncovered
    lines += ["", f"## Not covered: {len(uncovered)} held-out remarks", ""]
    lines += [f"- {_line(format_remark(aspect))}" for aspect in uncovered]
    if induced.rand is not None:
        lines += ["", f"Agreement with the given groups (adjusted Rand): {induced.rand:.2f}."]
    lines += [f"- left out: {_line(problem)}" for problem in induced.problems]
    return "\n".join(lines) + "\n"


def _format_interval(found: Interval | None) -> str:
    if found is None:
        return "–"
    return f"{100 * found.value:.0f} [{100 * found.low:.0f}, {100 * found.high:.0f}]"


def _line(text: str) -> str:
    return " ".join(text.split())
