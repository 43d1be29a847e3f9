"""What a run teaches, whoever is to read it: replies to learn, to prefer, to tell apart, to try."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tasks.suite import split_of
from tasks.task import Json, Task
from webagent.action import format_action
from webagent.agent.asking import Asking
from webagent.errors import ActionError, SetupError, StoreError
from webagent.models import CannedModel, Message
from webagent.policy.reply import read_reply
from webagent.records import Decision, Observation, Score, Step, Trajectory
from webagent.store import EpisodeSummary, ImageFolder, Store, Where
from webagent.training.language.selection import compute_step_weights

LEARNT_FROM = ("", "demonstrate", "collect", "imagine")
"""Phases that are meant to be learnt from; an episode outside of any plan has none."""


@dataclass(frozen=True, slots=True)
class ExportedEpisode:
    """An episode to be exported."""

    entry: EpisodeSummary
    scores: tuple[Score, ...]
    success: float | None
    """The frozen judge's headline score; None where it abstained or was not asked."""

    @property
    def succeeded(self) -> bool | None:
        """Whether the judge passed it; None where it did not say."""
        return None if self.success is None else self.success >= 0.5

    @property
    def imagined(self) -> bool:
        """Whether no real page was touched."""
        return self.entry.world == "imagined"


@dataclass(frozen=True, slots=True)
class Selection:
    """The episodes of an export, in the order of their plans."""

    real: tuple[ExportedEpisode, ...]
    imagined: tuple[ExportedEpisode, ...]
    left_out: Counter[str]
    """How many episodes were not taken, by reason."""


def select(
    store: Store, judge: str, where: Where, phases: Sequence[str], *, imagined: bool
) -> Selection:
    """Return the played episodes of these phases; no phase means all.

    With the phases that are meant to be learnt from come measurements on training seeds, too: it is
    the split of its seed that says whether an episode is for training.

    Infrastructure failures and episodes under way say nothing about the agent and are never taken.
    Raises `SetupError` when others judged the run, but this judge did not.
    """
    scores = store.scores("played", **where)
    _check_judge(scores, judge)
    left_out = Counter(_untold(entry) for entry in store.entries("any", **where))
    left_out.pop("", None)
    real, dreamt = [], []
    for entry in store.entries("played", **where):
        is_chosen = not phases or entry.phase in phases
        if not is_chosen and not (tuple(phases) == LEARNT_FROM and _is_for_training(entry)):
            left_out[f"of phase {entry.phase}"] += 1
            continue
        said = scores.get(entry.id, ())
        chosen = ExportedEpisode(entry, said, _headline(said, judge))
        if not chosen.imagined:
            real.append(chosen)
        elif imagined:
            dreamt.append(chosen)
        else:
            left_out["imagined"] += 1
    return Selection(tuple(real), tuple(dreamt), left_out)


def _is_for_training(entry: EpisodeSummary) -> bool:
    try:
        return entry.phase == "evaluate" and split_of(entry.seed) == "train"
    except ValueError:  # a seed of no split
        return False


def _untold(entry: EpisodeSummary) -> str:
    """Why nothing is told of an episode; empty where something is."""
    if entry.ending is None:
        return "under way"
    return "failed for a reason outside the agent" if entry.ending.is_infrastructure else ""


def _headline(scores: Sequence[Score], judge: str) -> float | None:
    said = (s.value for s in scores if s.name == "success" and s.evaluator.startswith(judge))
    return next(said, None)


def _check_judge(scores: Mapping[str, Sequence[Score]], judge: str) -> None:
    judges = {s.evaluator for said in scores.values() for s in said if s.name == "success"}
    if judges and not any(name.startswith(judge) for name in judges):
        raise SetupError(
            f"no episode has a `success` score by {judge!r}; the run was judged by"
            f" {', '.join(sorted(judges))}: name one of them with --judge"
        )


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """One stored step, put to a language model."""

    position: int
    step: Step
    messages: tuple[Message, ...]
    """The prompt; empty for a step that no model was asked for."""
    reply: str
    """The thought and the action, in the form the prompt asks for."""
    is_as_shown: bool
    """Whether a language policy with this very prompt decided the step; what another policy
    decided, or another version of the prompt, is put as this version would put it."""


class PromptRebuilder:
    """Puts stored steps to a model as the run's policy did."""

    def __init__(self, asking: Asking, images: ImageFolder | None, played_as: str = "text") -> None:
        """`asking` is the run's own, in the form of page that is written."""
        self._images, self._variant = images, asking.variant
        self._is_own = played_as == asking.observation
        self._policy = asking.policy(CannedModel([]), images)

    def turns(self, trajectory: Trajectory) -> Iterator[StoredTurn]:
        """Every step in order. Raises `StoreError` where the form of page was not recorded."""
        for position in range(len(trajectory.steps)):
            yield self.turn(trajectory, position)

    def turn(self, trajectory: Trajectory, position: int) -> StoredTurn:
        """One step. Raises `StoreError` where the form of page was not recorded."""
        step = trajectory.steps[position]
        if self._variant.capture and not step.observation.captured:
            raise StoreError(
                f"episode {trajectory.id} was not recorded as {self._variant.name}; export it with"
                " the --observation that it was played with, or with text"
            )
        before = replace(
            trajectory, steps=trajectory.steps[:position], last=step.observation, ending=None
        )
        brief = self._policy.brief(before, step.observation)
        messages = () if step.decision.source == "loop" else brief.messages
        is_own = self._is_own and self._policy.prompt_hash == step.decision.prompt_hash
        shown, reply = self._as_shown(step.decision, messages), reply_of(step.decision)
        return StoredTurn(position, step, shown, reply, is_own)

    def _as_shown(self, decision: Decision, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The messages with the pictures that were stored with the decision, where there are any
        and they fit."""
        count = sum(len(message.images) for message in messages)
        if self._images is None or not count or len(decision.images) != count:
            return messages
        stored = iter([self._images.get(reference) for reference in decision.images])
        return tuple(
            replace(message, images=tuple(next(stored) for _ in message.images))
            for message in messages
        )


def reply_of(decision: Decision) -> str:
    """The reply that says this decision, such that `read_reply` reads it back."""
    action = format_action(decision.action)
    said = f"Action: {action}"
    for thought in (decision.thought, " ".join(decision.thought.split())):
        text = f"Thought: {thought}\n{said}"
        if thought and _says(text, thought, decision):
            return text
    return said


def _says(text: str, thought: str, decision: Decision) -> bool:
    try:
        return read_reply(text) == (thought, decision.action)
    except ActionError:
        return False


def pictures(messages: Iterable[Message]) -> list[dict[str, bytes | str]]:
    """The pictures of a prompt in the order of their places, each named by its content."""
    return [
        {"bytes": image, "path": f"{hashlib.sha256(image).hexdigest()}.png"}
        for message in messages
        for image in message.images
    ]


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
class ExampleSource:
    """Where examples are made from, and a count of what became of it."""

    store: Store
    asker: PromptRebuilder
    counts: Counter[str]
    """Of `as shown` and `rebuilt` prompts, and of what was left out."""
    loaded: Callable[[], None] = lambda: None
    """Told of every episode that is loaded."""

    def load(self, chosen: ExportedEpisode) -> Trajectory:
        """The episode with its steps."""
        self.loaded()
        trajectory = self.store.load(chosen.entry.id)
        assert trajectory is not None
        return trajectory

    def takes(self, turn: StoredTurn) -> bool:
        """Whether the turn has a prompt; notes whether it is the one that was shown."""
        kind = "as shown" if turn.is_as_shown else "rebuilt"
        self.counts[f"prompts {kind}" if turn.messages else "steps no model was asked for"] += 1
        return bool(turn.messages)


async def to_imitate(
    source: ExampleSource, selection: Selection, imagined_share: float
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


async def to_tell_apart(source: ExampleSource, selection: Selection) -> AsyncIterator[Example]:
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


async def to_prefer(source: ExampleSource, selection: Selection) -> AsyncIterator[Example]:
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


async def to_try(source: ExampleSource, selection: Selection) -> AsyncIterator[Example]:
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


async def _useful(source: ExampleSource, trajectory: Trajectory) -> AsyncIterator[Example]:
    for position, weight in enumerate(compute_step_weights(trajectory)):
        if not weight:
            source.counts["steps without effect, and detours"] += 1
        elif trajectory.steps[position].decision.source == "explore":
            source.counts["random steps"] += 1
        else:
            turn = source.asker.turn(trajectory, position)
            if source.takes(turn):
                yield _example(trajectory, turn)


def _not_a_success(chosen: ExportedEpisode) -> str:
    return "episodes the judge did not score" if chosen.success is None else "failed episodes"


def _example(trajectory: Trajectory, turn: StoredTurn) -> Example:
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


def _by_start(episodes: Iterable[ExportedEpisode]) -> list[list[ExportedEpisode]]:
    """Episodes on the same task and seed together, in the order of their first."""
    groups: dict[tuple[str, int], list[ExportedEpisode]] = defaultdict(list)
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
