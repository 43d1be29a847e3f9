"""Training examples from a run: replies to imitate, to prefer, to classify, and prompts to try."""

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from loop.summary.comparisons import BELIEVED
from tasks.suite import split_of
from tasks.task import Json, Task
from webagent.action import format_action
from webagent.agent.asking import Asking
from webagent.errors import ActionError, SetupError, StoreError
from webagent.models import CannedModel, Message
from webagent.models.prompt import break_control_tokens
from webagent.policy.reply import read_reply
from webagent.records import SET_APART, Decision, Score, Step, Trajectory
from webagent.store import EpisodeSummary, ImageFolder, Store, Where

_PRACTICE, _SINGLE = "practice", "single"
LEARNT_FROM = (_SINGLE, "demonstrate", "collect", "imagine", _PRACTICE)
"""Phases that are meant for training."""
_LOCAL_FOLDER = re.compile(r"file:///[^\s\"'<>|]*/")


def name_phase(phase: str, seed: int) -> str:
    """Return what an episode was played for: `practice` for an evaluation on a training seed,
    `single` for an episode outside of any plan."""
    if phase != "evaluate":
        return phase or _SINGLE
    return _PRACTICE if split_of(seed) == "train" else phase


def write_text(text: str) -> str:
    """Return text that any trainer may read: without control tokens that a page spelled, folders of
    this machine, and what UTF-8 cannot write."""
    return _LOCAL_FOLDER.sub("file:///", break_control_tokens(text))


@dataclass(frozen=True, slots=True)
class ExportedEpisode:
    """An episode to be exported."""

    entry: EpisodeSummary
    scores: tuple[Score, ...]
    success: float | None
    """The frozen judge's headline score; None where it abstained or did not score."""

    @property
    def succeeded(self) -> bool | None:
        """Whether the judge passed it; None where it did not say."""
        return None if self.success is None else self.success >= 0.5

    @property
    def failure(self) -> str:
        """Why it is no success."""
        return "episodes the judge did not score" if self.success is None else "failed episodes"

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
    """Return the played episodes of these phases; no phase means all that are of the policy.

    Infrastructure failures and episodes under way say nothing about the agent and are never taken.
    Raises `SetupError` when others judged the run, but this judge did not.
    """
    scores = store.scores("any", **where)
    judges = {s.evaluator for given in scores.values() for s in given if s.name == "success"}
    if judges and not any(name.startswith(judge) for name in judges):
        raise SetupError(
            f"no episode has a `success` score by {judge!r}; the run was judged by"
            f" {', '.join(sorted(judges))}: name one of them with --judge"
        )
    left_out: Counter[str] = Counter()
    real, imagined_episodes = [], []
    for entry in store.entries("any", **where):
        phase = name_phase(entry.phase, entry.seed)
        given = scores.get(entry.id, ())
        values = (s.value for s in given if s.name == "success" and s.evaluator.startswith(judge))
        chosen = ExportedEpisode(entry, given, next(values, None))
        if entry.ending is None:
            left_out["episodes under way"] += 1
        elif entry.ending.is_infrastructure:
            left_out["episodes that failed for a reason outside the agent"] += 1
        elif not {phase, entry.phase or phase} & {*phases} and (phases or phase in SET_APART):
            left_out[f"episodes of phase {phase}"] += 1
        elif not chosen.imagined:
            real.append(chosen)
        elif imagined:
            imagined_episodes.append(chosen)
        else:
            left_out["imagined episodes"] += 1
    return Selection(tuple(real), tuple(imagined_episodes), left_out)


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """One stored step, put to a language model."""

    position: int
    step: Step
    messages: tuple[Message, ...]
    """The prompt; empty for a step without a model request."""
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
        """Yield every step in order. Raises `StoreError`, as `turn` does."""
        for position in range(len(trajectory.steps)):
            yield self.turn(trajectory, position)

    def turn(self, trajectory: Trajectory, position: int) -> StoredTurn:
        """Return one step. Raises `StoreError` where the form of page was not recorded."""
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
        count = sum(len(message.images) for message in messages)
        if self._images is not None and count and len(step.decision.images) == count:
            # The pictures that were stored with the decision take the places of those now made.
            stored = iter([self._images.get(reference) for reference in step.decision.images])
            messages = tuple(
                replace(message, images=tuple(next(stored) for _ in message.images))
                for message in messages
            )
        messages = tuple(replace(each, text=write_text(each.text)) for each in messages)
        return StoredTurn(position, step, messages, write_text(reply_of(step.decision)), is_own)


def reply_of(decision: Decision) -> str:
    """Return the reply that says this decision, such that `read_reply` reads it back."""
    action = f"Action: {format_action(decision.action)}"
    for thought in filter(None, (decision.thought, " ".join(decision.thought.split()))):
        text = f"Thought: {thought}\n{action}"
        try:
            if read_reply(text) == (thought, decision.action):
                return text
        except ActionError:  # the thought reads as an action of its own
            continue
    return action


def pictures(messages: Iterable[Message]) -> list[dict[str, bytes | str]]:
    """Return the pictures of a prompt in the order of their places, each named by its content."""
    return [
        {"bytes": image, "path": f"{hashlib.sha256(image).hexdigest()}.png"}
        for message in messages
        for image in message.images
    ]


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt with its replies."""

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
        """Return the episode with its steps."""
        self.loaded()
        trajectory = self.store.load(chosen.entry.id)
        assert trajectory is not None
        return trajectory

    def takes(self, turn: StoredTurn) -> bool:
        """Return whether the turn has a prompt, and count where that comes from."""
        kind = "as shown" if turn.is_as_shown else "rebuilt"
        self.counts[f"prompts {kind}" if turn.messages else "steps no model was asked for"] += 1
        return bool(turn.messages)


def to_imitate(
    source: ExampleSource, selection: Selection, imagined_share: float
) -> Iterator[Example]:
    """Yield the steps of successes that led there: not those without effect, detours or random.

    Imagined episodes come after the real ones, those that the run's judge passed, until they make
    up `imagined_share` of all examples.
    """
    real = imagined = 0
    for chosen in selection.real:
        if not chosen.succeeded:
            source.counts[chosen.failure] += 1
            continue
        for example in _useful_steps(source, source.load(chosen)):
            real += 1
            yield example
    most = most_imagined(real, imagined_share)
    for chosen in selection.imagined:
        if imagined == most:
            source.counts["imagined episodes above the cap"] += 1
            continue
        trajectory = source.load(chosen)
        verdicts = [each.value for each in chosen.scores if each.name == BELIEVED]
        # Those of the run's judge, as in its training; of runs without one what the world says.
        predicted = bool(trajectory.evidence.get("imagined_success"))
        if not ((verdicts[-1] or 0) >= 0.5 if verdicts else predicted):
            source.counts["imagined episodes that failed"] += 1
            continue
        for example in _useful_steps(source, trajectory):
            if imagined < most:
                imagined += 1
                yield example


def most_imagined(real: int, share: float) -> int:
    """Return how many imagined rows may stand beside so many real ones."""
    return math.floor(real * share / (1 - share) + 1e-9)


def to_tell_apart(source: ExampleSource, selection: Selection) -> Iterator[Example]:
    """Yield every step of every judged episode, labelled as its episode was judged."""
    for chosen in selection.real:
        if chosen.succeeded is None:
            source.counts[chosen.failure] += 1
            continue
        trajectory = source.load(chosen)
        if chosen.succeeded:
            yield from _useful_steps(source, trajectory)
        else:
            for turn in source.asker.turns(trajectory):
                if source.takes(turn):
                    yield replace(_example(trajectory, turn), label=False)


def to_prefer(source: ExampleSource, selection: Selection) -> Iterator[Example]:
    """Yield for each failure the step at which it parts from a success on the same task and seed.

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
            found = _find_divergence(winners, loser)
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


def to_try(source: ExampleSource, selection: Selection) -> Iterator[Example]:
    """Yield the first prompt of each task and seed, from which a trainer plays on itself."""
    for group in _by_start(selection.real):
        played = next((chosen for chosen in group if chosen.entry.steps), None)
        if played is None:
            source.counts["tasks without a first step"] += 1
            continue
        trajectory = source.load(played)
        turn = source.asker.turn(trajectory, 0)
        if not source.takes(turn):
            continue
        outcomes = [chosen.success for chosen in group if chosen.success is not None]
        tried: dict[str, Json] = {"tries": len(outcomes), "successes": sum(outcomes)}
        example = _example(trajectory, turn)
        yield replace(example, reply="", origin={**example.origin, **tried})


def _useful_steps(source: ExampleSource, trajectory: Trajectory) -> Iterator[Example]:
    """Yield the steps that led on, random ones left out."""
    # Loads torch, which neither the help of the command nor other exports need.
    from webagent.training.language.selection import compute_step_weights

    for position, weight in enumerate(compute_step_weights(trajectory)):
        if not weight:
            source.counts["steps without effect, and detours"] += 1
        elif trajectory.steps[position].decision.source == "explore":
            source.counts["random steps"] += 1
        else:
            turn = source.asker.turn(trajectory, position)
            if source.takes(turn):
                yield _example(trajectory, turn)


def _example(trajectory: Trajectory, turn: StoredTurn) -> Example:
    place, decision = trajectory.provenance, turn.step.decision
    origin: dict[str, Json] = {
        "episode": trajectory.id,
        "position": turn.position,
        "task": trajectory.task.id,
        "seed": trajectory.task.seed,
        "phase": name_phase(place.phase, trajectory.task.seed),
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
    """Return episodes on the same task and seed together, in the order of their first."""
    groups: dict[tuple[str, int], list[ExportedEpisode]] = defaultdict(list)
    for chosen in episodes:
        groups[chosen.entry.task, chosen.entry.seed].append(chosen)
    return list(groups.values())


def _find_divergence(
    winners: Iterable[Trajectory], loser: Trajectory
) -> tuple[Trajectory, int] | None:
    """Return the first winner that went another way from a page that both saw, and where."""
    for winner in winners:
        for position, (good, bad) in enumerate(zip(winner.steps, loser.steps, strict=False)):
            # Bytes of pictures may differ where nothing else does.
            pages = [replace(step.observation, screenshot="") for step in (good, bad)]
            if pages[0] != pages[1]:
                break
            if good.decision.action != bad.decision.action:
                return winner, position
    return None
