"""The built-in reward model: networks that read a trajectory as one page and give P(success)."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from evaluators.evaluator import FunctionEvaluator, Verdict
from evaluators.reward.calibration import UNCALIBRATED, JudgeCalibration, calibrate
from evaluators.reward.examples import TrainingExample, build_examples
from webagent.action import Action
from webagent.action.actions import Answer, GiveUp
from webagent.models.builtin.layout import past_action_of
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import SLOT_INDEX, collate
from webagent.models.builtin.prefix import Prefix, encode
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.models.builtin.vocabulary import START, Vocabulary
from webagent.records import Ending, Node, Observation, Step, Trajectory
from webagent.training.rows import TrainingRow, make_row

SURPRISES = 2
"""How many numbers say how unlike the actor's own the actions were."""
_ACTOR = "actor"
_UNSAYABLE = -4.0
"""Stands for the log-probability of an action that the actor has no words for."""
_LEAST = -8.0
_AT_ONCE = 16
"""Episodes or rows in a pass; more would only need more memory."""


@dataclass(frozen=True, slots=True)
class EnsembleMember:
    """The judge's weights and, where it was taught to act first, those it then had."""

    judge: BuiltinModel
    actor: BuiltinModel | None = None

    @classmethod
    def load(cls, folder: Path) -> "EnsembleMember":
        """Return a saved one. Raises `ModelError`."""
        actor = folder / _ACTOR
        return cls(BuiltinModel.load(folder), BuiltinModel.load(actor) if actor.is_dir() else None)

    def save(self, folder: Path) -> None:
        """Write both."""
        self.judge.save(folder)
        if self.actor is not None:
            self.actor.save(folder / _ACTOR)

    @property
    def version(self) -> str:
        """Hexadecimal digits that change whenever weights or words do."""
        return self.judge.version + (self.actor.version if self.actor else "")


def measure_surprise(
    actor: BuiltinModel, trajectories: Sequence[Trajectory]
) -> NDArray[np.float64]:
    """Return (N, 2) log-probabilities that the actor would have done what was done.

    Of the last action, and of the least likely one among the last ten.
    """
    grammar = ActionGrammar(Codec(actor.vocabulary))
    acted: list[tuple[int, int, TrainingRow | None]] = []
    for number, trajectory in enumerate(trajectories):
        count = len(trajectory.steps)
        for index in range(max(0, count - 10), count):
            step = trajectory.steps[index]
            prefix = encode(
                grammar.vocabulary, "policy", step.observation, trajectory.steps[:index]
            )
            targets = grammar.codec.encode(step.decision.action, prefix, trajectory.task.viewport)
            row = make_row(grammar, prefix, targets) if targets else None
            acted.append((number, index, row))
    likely = iter(_log_probs(actor, [row for _, _, row in acted if row is not None]))
    found = np.full((len(trajectories), SURPRISES), 0.0)
    for number, index, row in acted:
        value = _UNSAYABLE if row is None else max(_LEAST, next(likely))
        found[number, 1] = min(found[number, 1], value)
        if index == len(trajectories[number].steps) - 1:
            found[number, 0] = value
    return found


@torch.inference_mode()
def _log_probs(actor: BuiltinModel, rows: Sequence[TrainingRow]) -> list[float]:
    """Return the natural log-probability of each row's whole target."""
    network = actor.network
    network.train(False)
    found = [0.0] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].prefix))
    for start in range(0, len(order), _AT_ONCE):
        part = order[start : start + _AT_ONCE]
        chosen = [rows[i] for i in part]
        batch = collate(
            [r.prefix for r in chosen], [r.inputs for r in chosen], [r.slots for r in chosen]
        )
        logs = network(batch).log_softmax(-1)
        for place, i in enumerate(part):
            targets = torch.tensor(rows[i].targets)
            taken = logs[place, torch.arange(len(targets)), targets]
            found[i] = float(taken.sum())
    return found


_OPS = ("click", "fill", "select_option", "press", "drag_and_drop", "scroll", "other")

ENDINGS = tuple(f"ending/{ending.value}" for ending in Ending)
DEEDS = tuple(f"deed/{op}" for op in _OPS)
KINDS = (*ENDINGS, *DEEDS, "answer/text", "answer/none", "page/last", "page/acted")
"""The kinds of lines that an account adds to a page, for the vocabulary of saved judges."""


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """What a judge reads of an episode: a page with what came before written on top of it."""

    page: Observation
    before: tuple[Step, ...]
    """The steps before the one in question."""
    action: Action


def build_page(trajectory: Trajectory) -> EpisodePage:
    """Return what decides, with a summary of the episode above it. It has at least one step.

    This is the page after the last action where there is one, else the page it was done on; above
    it how the episode ended, what was answered, and the last eight earlier actions with the element
    as it looked afterwards. An episode under way is read as one that the page ended here. What the
    agent thought is left out: a judge believes it too easily.
    """
    *before, final = trajectory.steps
    last = trajectory.last
    shows = last is not None and not last.over and bool(last.nodes)
    page = last if shows and last is not None else final.observation
    summary = [
        _line("ending", (trajectory.ending or Ending.TASK_OVER).value, 1),
        _line("page", "last" if shows else "acted", 2),
    ]
    match final.decision.action:
        case Answer(text):
            summary.append(_line("answer", "text" if text else "none", 3, text))
        case GiveUp(reason):
            summary.append(_line("answer", "none", 3, reason))
    steps = trajectory.steps if shows else tuple(before)
    pages = [*(step.observation for step in steps), page][1:]
    for number, (step, after) in enumerate(list(zip(steps, pages, strict=True))[-8:], start=10):
        past = past_action_of(step.decision.action, step.observation)
        node = after.node(past.mark) or step.observation.node(past.mark)
        kind = past.op if past.op in _OPS else "other"
        states = tuple(s for s in node.states if s != "focused") if node else ()
        value = past.text or (node.value if node else "")
        name = past.name or _name_above(past.mark, step.observation)
        summary.append(replace(_line("deed", kind, number, name, value), states=states))
    goal = final.observation.goal or trajectory.goal
    return EpisodePage(
        replace(page, goal=goal, nodes=(*summary, *page.nodes)),
        tuple(before),
        final.decision.action,
    )


def _line(role: str, kind: str, number: int, name: str = "", value: str = "") -> Node:
    """Return a line of the summary. Its mark is negative, so that no element is taken for it."""
    return Node(-number, role, name, value, kind=kind)


def _name_above(mark: int, page: Observation) -> str:
    """Return the nearest named line above an element without a name."""
    name = ""
    for node in page.nodes:
        if mark and node.mark == mark:
            return name
        name = node.name or name
    return ""


@dataclass(frozen=True, slots=True)
class VerdictGrammar:
    """One token: it succeeded, or it failed."""

    codec: Codec

    @property
    def vocabulary(self) -> Vocabulary:
        """The codec's vocabulary."""
        return self.codec.vocabulary

    @property
    def start(self) -> int:
        """The id fed in before the verdict."""
        return self.vocabulary.id(START)

    def verdict(self, success: bool) -> int:
        """Return the id that says it."""
        return self.vocabulary.id("is:succeeds" if success else "is:fails")

    def slot(self, ids: Sequence[int]) -> str:
        """Return `outcome` for the first token, then `done`."""
        return "done" if ids else "outcome"

    def allowed(self, ids: Sequence[int], prefix: Prefix) -> NDArray[np.bool_]:
        """Return (capacity + T,) the two verdicts."""
        mask = np.zeros(self.vocabulary.capacity + len(prefix), np.bool_)
        mask[[self.verdict(True), self.verdict(False)]] = True
        return mask


class RewardModel:
    """The built-in network in the role of the judge, alone or as the mean of several.

    It reads the goal, every action, the page that decides, how the episode ended and what was
    answered (`account`). A member that was taught to act first also says how likely it would have
    done the same. Where it was calibrated its probabilities are, and its threshold is the
    one that was chosen then.
    """

    def __init__(
        self,
        model: BuiltinModel,
        calibration: JudgeCalibration = UNCALIBRATED,
        *,
        actor: BuiltinModel | None = None,
        others: Sequence[EnsembleMember] = (),
    ):
        self.model = model
        self.members = (EnsembleMember(model, actor), *others)
        self.calibration = calibration
        self.grammar = VerdictGrammar(Codec(model.vocabulary))

    @classmethod
    def of(
        cls,
        members: Sequence[EnsembleMember],
        calibration: JudgeCalibration = UNCALIBRATED,
    ) -> "RewardModel":
        """Return the mean of these members, of which there is at least one."""
        first, *others = members
        return cls(first.judge, calibration, actor=first.actor, others=others)

    @classmethod
    def load(cls, folder: Path) -> "RewardModel":
        """Return a saved one with its calibration. Raises `ModelError`."""
        folders = [folder, *sorted(folder.glob("member-*"))]
        return cls.of(
            [EnsembleMember.load(each) for each in folders], JudgeCalibration.load(folder)
        )

    def save(self, folder: Path) -> None:
        """Write weights, those of the other members in folders of their own, and calibration."""
        for number, member in enumerate(self.members):
            member.save(folder / f"member-{number}" if number else folder)
        self.calibration.save(folder)

    @property
    def version(self) -> str:
        """Hexadecimal digits that change whenever weights, words or calibration do."""
        if len(self.members) == 1 and self.calibration == UNCALIBRATED:
            return self.members[0].version
        parts = [*(member.version for member in self.members), repr(self.calibration)]
        return hashlib.blake2b(" ".join(parts).encode(), digest_size=6).hexdigest()

    def prompt(self, trajectory: Trajectory) -> Prefix:
        """Return what the network reads. The trajectory has at least one step."""
        return _prompt(self.model, trajectory)

    def rows(
        self,
        trajectories: Iterable[Trajectory],
        success: Mapping[str, float | None],
        negatives: int = 2,
        seed: int = 0,
    ) -> list[TrainingRow]:
        """Return training rows: labelled real episodes, and failures made of each success.

        Words for what accounts say of episodes are added to the vocabulary.
        """
        return self.encode_examples(build_examples(trajectories, success, negatives, seed))

    def encode_examples(self, examples: Iterable[TrainingExample]) -> list[TrainingRow]:
        """Return the rows of training examples, every task its own group."""
        self.model.vocabulary.grow([KINDS], at_least=1)
        return [
            make_row(
                self.grammar,
                self.prompt(example.trajectory),
                [self.grammar.verdict(example.success)],
                group=example.trajectory.task.name,
            )
            for example in examples
        ]

    def probabilities(self, trajectories: Sequence[Trajectory]) -> list[float]:
        """Return P(success) of each trajectory; 0 for one without steps."""
        acted = [t for t in trajectories if t.steps]
        chances, surprise = self.evidence(acted)
        if self.calibration != UNCALIBRATED:
            chances = self.calibration(chances, surprise)
        given = iter(chances)
        return [next(given) if t.steps else 0.0 for t in trajectories]

    def evidence(
        self, trajectories: Sequence[Trajectory]
    ) -> tuple[list[float], NDArray[np.float64]]:
        """Return what calibration is fitted on, of trajectories with steps.

        The members' mean P(success), and how surprised the actors would be, (N, 2), zeros without
        actors.
        """
        # Pages of like length go together, so that little is padded.
        lengths = [len(trajectory.steps[-1].observation.nodes) for trajectory in trajectories]
        order = sorted(range(len(trajectories)), key=lambda i: lengths[i])
        chances = np.zeros(len(trajectories))
        for start in range(0, len(order), _AT_ONCE):
            part = order[start : start + _AT_ONCE]
            chosen = [trajectories[i] for i in part]
            chances[part] = np.mean([_chances(m.judge, chosen) for m in self.members], axis=0)
        actors = [member.actor for member in self.members if member.actor is not None]
        surprise = np.zeros((len(trajectories), SURPRISES))
        if actors and trajectories:
            surprise = np.mean([measure_surprise(a, trajectories) for a in actors], axis=0)
        return chances.tolist(), surprise

    def evaluator(self, threshold: float | None = None) -> FunctionEvaluator:
        """Return an evaluator whose id names the weights; it passes at `threshold` and above.

        Without a threshold it is the calibration's, whose band of abstention then holds, too.
        """
        line = self.calibration.threshold if threshold is None else threshold
        band = self.calibration.abstain_from if threshold is None else None

        def judge(trajectory: Trajectory) -> Verdict:
            chance = self.probabilities([trajectory])[0]
            reason = f"P(success) = {chance:.3f}"
            if band is not None and band <= chance < line:
                return Verdict(None, f"{reason}, neither below {band:.3f} nor at {line:.3f}")
            return Verdict(float(chance >= line), reason)

        return FunctionEvaluator(f"reward_model@{self.version}", "success", judge)


def _prompt(model: BuiltinModel, trajectory: Trajectory) -> Prefix:
    read = build_page(trajectory)
    return encode(model.vocabulary, "judge", read.page, read.before, read.action)


@torch.inference_mode()
def _chances(model: BuiltinModel, trajectories: Sequence[Trajectory]) -> list[float]:
    """Return one network's P(success), in one pass."""
    network = model.network
    grammar = VerdictGrammar(Codec(model.vocabulary))
    network.train(False)
    count = len(trajectories)
    batch = collate([_prompt(model, t) for t in trajectories], [[]] * count, [[]] * count)
    start = torch.full((count,), grammar.start)
    slots = torch.full((count,), SLOT_INDEX["outcome"])
    logits, _ = network.decode(network.prefill(batch), start, slots, 0)
    verdicts = logits[:, [grammar.verdict(True), grammar.verdict(False)]]
    return [float(chance) for chance in verdicts.float().softmax(1)[:, 0]]


HARDEST = ("wrong value", "wrong element", "undone")
"""Kinds of corruption that leave an episode looking as it did."""
_SEED = 7


def calibrate_judge(
    judge: RewardModel,
    trajectories: Sequence[Trajectory],
    labels: Sequence[bool],
    target: float = 0.05,
) -> RewardModel:
    """Return the judge with a calibration fitted on these labelled episodes.

    At most `target` of the real failures among them pass its threshold, and at most as many of the
    failures that are made of the successes in each of the hardest ways. Raises `ValueError` without
    both outcomes.
    """
    chances, surprise = judge.evidence(trajectories)
    line = calibrate(chances, labels, target, surprise)
    success = {t.id: float(label) for t, label in zip(trajectories, labels, strict=True)}
    for kind in HARDEST:
        examples = build_examples(trajectories, success, 1, _SEED, (kind,))
        corrupted = [each.trajectory for each in examples if each.kind == kind]
        line = line.raised(*judge.evidence(corrupted))
    return RewardModel.of(judge.members, line)
