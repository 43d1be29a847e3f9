"""What a run teaches, whoever is to read it: replies to learn, to prefer, to tell apart, to try."""

import math
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from apps.export.selection import Chosen, Selection
from apps.export.turns import Asker, Turn
from tasks.task import Json, Task
from webagent.models.model import Message
from webagent.records import Observation, Step, Trajectory
from webagent.store import Store
from webagent.training.language.selection import step_weights


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt with what may be said after it."""

    messages: tuple[Message, ...]
    origin: dict[str, Json]
    """Episode, position, task, seed, weights, whether imagined, and what else names its source."""
    task: Task
    reply: str = ""
    """The reply to learn; empty where the prompt alone is wanted."""
    rejected: str = ""
    """The reply to like less, in a pair."""
    label: bool = True
    """Whether the reply is one to like."""
    imagined: bool = False
    number: int = 0
    """Its place among the examples of the export."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where examples are made from, and a count of what became of it."""

    store: Store
    asker: Asker
    counts: Counter[str]
    """Of `as shown` and `rebuilt` prompts, and of what was left out."""
    loaded: Callable[[], None] = lambda: None
    """Told of every episode that is loaded."""

    def load(self, chosen: Chosen) -> Trajectory:
        """The episode with its steps."""
        self.loaded()
        trajectory = self.store.load(chosen.entry.id)
        assert trajectory is not None
        return trajectory

    def takes(self, turn: Turn) -> bool:
        """Whether the turn has a prompt; notes whether it is the one that was shown."""
        kind = "as shown" if turn.is_as_shown else "rebuilt"
        self.counts[f"prompts {kind}" if turn.messages else "steps no model was asked for"] += 1
        return bool(turn.messages)


async def to_imitate(
    source: Source, selection: Selection, imagined_share: float
) -> AsyncIterator[Example]:
    """The steps of successes that led there: not those without effect, detours or random ones.

    Imagined episodes come after the real ones, those the world model believes in, until they make
    up `imagined_share` of all examples.
    """
    real = dreamt = 0
    for chosen in selection.real:
        if chosen.succeeded:
            async for example in _useful(source, source.load(chosen)):
                real += 1
                yield example
        else:
            source.counts[_not_a_success(chosen)] += 1
    most = most_imagined(real, imagined_share)
    for chosen in selection.imagined:
        if dreamt == most:
            source.counts["imagined episodes above the cap"] += 1
            continue
        trajectory = source.load(chosen)
        if not trajectory.evidence.get("imagined_success"):
            source.counts["imagined episodes that failed"] += 1
            continue
        async for example in _useful(source, trajectory):
            if dreamt < most:
                dreamt += 1
                yield example


def most_imagined(real: int, share: float) -> int:
    """How many imagined rows may stand beside so many real ones."""
    return math.floor(real * share / (1 - share) + 1e-9)


async def to_tell_apart(source: Source, selection: Selection) -> AsyncIterator[Example]:
    """Every step of every judged episode, labelled as its episode was judged."""
    for chosen in selection.real:
        if chosen.succeeded is None:
            source.counts[_not_a_success(chosen)] += 1
            continue
        trajectory = source.load(chosen)
        if chosen.succeeded:
            async for example in _useful(source, trajectory):
                yield example
        else:
            for turn in source.asker.turns(trajectory):
                if source.takes(turn):
                    yield replace(_example(trajectory, turn), label=False)


async def to_prefer(source: Source, selection: Selection) -> AsyncIterator[Example]:
    """For each failure the step at which it parts from a success on the same task and seed.

    Up to there both saw the same pages and did the same, so that they share the prompt. A failure
    that shares no page with any success is counted, not exported.
    """
    for group in _by_start(selection.real):
        winners = [source.load(chosen) for chosen in group if chosen.succeeded]
        losers = [chosen for chosen in group if chosen.succeeded is False]
        if not winners:
            source.counts["failures without a success beside them"] += len(losers)
            continue
        for chosen in losers:
            loser = source.load(chosen)
            found = next(_partings(winners, loser), None)
            if found is None:
                source.counts["failures that part from no success on a shared page"] += 1
                continue
            winner, position = found
            better = source.asker.turn(winner, position)
            worse = source.asker.turn(loser, position)
            if source.takes(better):
                example = _example(winner, better)
                origin = {**example.origin, "rejected_episode": loser.id}
                yield replace(example, rejected=worse.reply, origin=origin)


async def to_try(source: Source, selection: Selection) -> AsyncIterator[Example]:
    """The first prompt of each task and seed, for a trainer that plays on from there itself."""
    for group in _by_start(selection.real):
        begun = (source.load(chosen) for chosen in group if chosen.entry.steps)
        trajectory = next(begun, None)
        if trajectory is None:
            source.counts["tasks without a first step"] += 1
            continue
        turn = source.asker.turn(trajectory, 0)
        if not source.takes(turn):
            continue
        outcomes = [chosen.success for chosen in group if chosen.success is not None]
        tried: dict[str, Json] = {"tries": len(outcomes), "successes": sum(outcomes)}
        example = _example(trajectory, turn)
        yield replace(example, reply="", origin={**example.origin, **tried})


async def _useful(source: Source, trajectory: Trajectory) -> AsyncIterator[Example]:
    for position, weight in enumerate(step_weights(trajectory)):
        if not weight:
            source.counts["steps without effect, and detours"] += 1
        elif trajectory.steps[position].decision.source == "explore":
            source.counts["random steps"] += 1
        else:
            turn = source.asker.turn(trajectory, position)
            if source.takes(turn):
                yield _example(trajectory, turn)


def _not_a_success(chosen: Chosen) -> str:
    return "episodes the judge did not score" if chosen.success is None else "failed episodes"


def _example(trajectory: Trajectory, turn: Turn) -> Example:
    place, decision = trajectory.provenance, turn.step.decision
    origin: dict[str, Json] = {
        "episode": trajectory.id,
        "position": turn.position,
        "task": trajectory.task.id,
        "seed": trajectory.task.seed,
        "phase": place.phase,
        "source": decision.source,
        "weights": decision.weights,
        "prompt": "as shown" if turn.is_as_shown else "rebuilt",
        "imagined": place.imagined,
    }
    if place.imagined:
        origin["seeded_from"] = place.seeded_from
    return Example(
        turn.messages, origin, trajectory.task, turn.reply, imagined=trajectory.provenance.imagined
    )


def _by_start(episodes: Iterable[Chosen]) -> list[list[Chosen]]:
    """Episodes on the same task and seed together, in the order of their first."""
    groups: dict[tuple[str, int], list[Chosen]] = defaultdict(list)
    for chosen in episodes:
        groups[chosen.entry.task, chosen.entry.seed].append(chosen)
    return list(groups.values())


def _partings(winners: Sequence[Trajectory], loser: Trajectory) -> Iterator[tuple[Trajectory, int]]:
    """Where each winner went another way from a page that both saw."""
    for winner in winners:
        for position, (good, bad) in enumerate(zip(winner.steps, loser.steps, strict=False)):
            if _seen(good) != _seen(bad):
                break
            if good.decision.action != bad.decision.action:
                yield winner, position
                break


def _seen(step: Step) -> Observation:
    """The page without its picture, whose bytes may differ where nothing else does."""
    return replace(step.observation, screenshot="")
