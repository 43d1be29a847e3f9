"""Metrics induced from feedback: as many as say most of what people say with least beside it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluators.behaviours.aspects import Aspect
from evaluators.behaviours.clustering import adjusted_rand
from evaluators.behaviours.coverage import (
    Matched,
    Meta,
    matched_by_model,
    matched_by_words,
    meta,
    rated,
)
from evaluators.behaviours.metrics import Metric, by_model, by_words
from webagent.errors import ModelError, SetupError
from webagent.models.model import Model
from webagent.models.replies import UnusableError
from webagent.records import Trajectory

SIZES = tuple(range(2, 16))
TURNS = 5


@dataclass(frozen=True, slots=True)
class Induced:
    """What came of it."""

    metrics: tuple[Metric, ...]
    """Made of all remarks, as many as did best."""
    tried: Mapping[int, Meta]
    """For each number of metrics how good such a set is, made of some remarks and measured on
    others."""
    problems: tuple[str, ...] = ()
    """What could not be asked or read, and was left out."""
    rand: float | None = None
    """Agreement with the groups that people gave, beyond chance; None where they gave none."""

    @property
    def size(self) -> int:
        """How many metrics were found to do best."""
        return best(self.tried)


def best(tried: Mapping[int, Meta]) -> int:
    """The number with the greatest coverage less redundancy; the fewest of those that do as well
    within two points."""
    most = max(found.worth for found in tried.values())
    return min(size for size, found in tried.items() if found.worth >= most - 0.02)


def induce_by_words(aspects: Sequence[Aspect], sizes: Sequence[int] = SIZES) -> Induced:
    """Without a model: by words, each fifth of the episodes held out in turn.

    Raises `SetupError` where there is too little feedback to hold any out.
    """
    parts = _parts(aspects)
    turns: defaultdict[int, list[Matched]] = defaultdict(list)
    for held_out in parts:
        kept = [aspect for part in parts if part is not held_out for aspect in part]
        for size, metrics in by_words(kept, [s for s in sizes if s <= len(kept)]).items():
            turns[size].append(matched_by_words(metrics, held_out))
    tried = {size: meta(found) for size, found in turns.items() if len(found) == len(parts)}
    metrics = by_words(aspects, [best(tried)])[best(tried)]
    return Induced(metrics, tried, rand=_rand(metrics))


async def induce_by_model(
    model: Model,
    aspects: Sequence[Aspect],
    episodes: Mapping[str, Trajectory],
    sizes: Sequence[int] = SIZES,
) -> Induced:
    """With a model that sorts, names, rates and matches; a fifth of the episodes is held out once.

    A size for which the model gives nothing usable is left out and named. Raises `ModelError` when
    none is left, `SetupError` where there is too little feedback.
    """
    held_out, *others = _parts(aspects)
    kept = [aspect for part in others for aspect in part]
    tried: dict[int, Meta] = {}
    problems: list[str] = []
    for size in sorted({min(size, len(kept)) for size in sizes}):
        try:
            metrics = await by_model(model, kept, size)
            tried[size] = meta(await _matched(model, metrics, held_out, episodes))
        except (UnusableError, ModelError) as error:
            problems.append(f"{size} metrics: {error}")
    if not tried:
        raise ModelError(f"no set of metrics could be made: {'; '.join(problems)}")
    try:
        metrics = await by_model(model, aspects, best(tried))
    except UnusableError as error:
        raise ModelError(f"no final set of {best(tried)} metrics could be made: {error}") from error
    return Induced(metrics, tried, tuple(problems), _rand(metrics))


async def _matched(
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
        traits = await rated(model, episodes[episode], metrics)
        found.append(await matched_by_model(model, metrics, traits, aspects))
    return found


def _parts(aspects: Sequence[Aspect]) -> list[list[Aspect]]:
    """The remarks in fifths of their episodes, so that no episode is on both sides."""
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
    return adjusted_rand([n for n, _ in grouped], [group for _, group in grouped])
