"""The learned outcome reward model: whether an episode succeeded, told from what was seen."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from evaluators.evaluator import Judged, Verdict
from evaluators.reward.account import KINDS as LINE_KINDS
from evaluators.reward.account import account
from evaluators.reward.calibration import UNCALIBRATED, Calibration
from evaluators.reward.lessons import Lesson, lessons
from evaluators.reward.member import SURPRISES, Member, surprises
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import SLOT_INDEX, collate
from webagent.models.builtin.prefix import Prefix, encode
from webagent.models.builtin.targets import Codec
from webagent.models.builtin.vocabulary import START, Vocabulary
from webagent.records import Trajectory
from webagent.training.rows import Row, row

_AT_ONCE = 16
"""Episodes in a pass; more would only need more memory."""


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
        """The id that says it."""
        return self.vocabulary.id("is:succeeds" if success else "is:fails")

    def slot(self, ids: Sequence[int]) -> str:
        """`outcome` once, then `done`."""
        return "done" if ids else "outcome"

    def allowed(self, ids: Sequence[int], prefix: Prefix) -> NDArray[np.bool_]:
        """(capacity + T,) the two verdicts."""
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
        calibration: Calibration = UNCALIBRATED,
        *,
        actor: BuiltinModel | None = None,
        others: Sequence[Member] = (),
    ):
        self.model = model
        self.members = (Member(model, actor), *others)
        self.calibration = calibration
        self.grammar = VerdictGrammar(Codec(model.vocabulary))

    @classmethod
    def of(
        cls,
        members: Sequence[Member],
        calibration: Calibration = UNCALIBRATED,
    ) -> "RewardModel":
        """The mean of these members, of which there is at least one."""
        first, *others = members
        return cls(first.judge, calibration, actor=first.actor, others=others)

    @classmethod
    def load(cls, folder: Path) -> "RewardModel":
        """A saved one with its calibration. Raises `ModelError`."""
        folders = [folder, *sorted(folder.glob("member-*"))]
        return cls.of([Member.load(each) for each in folders], Calibration.load(folder))

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
        """What the network reads. The trajectory has at least one step."""
        return _prompt(self.model, trajectory)

    def rows(
        self,
        trajectories: Iterable[Trajectory],
        success: Mapping[str, float | None],
        negatives: int = 2,
        seed: int = 0,
    ) -> list[Row]:
        """Training rows: labelled real episodes, and for each success as many failures made of it.

        Words for what accounts say of episodes are added to the vocabulary.
        """
        return self.taught(lessons(trajectories, success, negatives, seed))

    def taught(self, chosen: Iterable[Lesson]) -> list[Row]:
        """The rows of lessons, every task its own group."""
        self.model.vocabulary.grow([LINE_KINDS], at_least=1)
        return [self._row(lesson.trajectory, lesson.success) for lesson in chosen]

    def _row(self, trajectory: Trajectory, success: bool) -> Row:
        targets = [self.grammar.verdict(success)]
        return row(self.grammar, self.prompt(trajectory), targets, group=trajectory.task.name)

    def probabilities(self, trajectories: Sequence[Trajectory]) -> list[float]:
        """P(success) of each trajectory; 0 for one without steps."""
        acted = [t for t in trajectories if t.steps]
        said, surprise = self.evidence(acted)
        if self.calibration != UNCALIBRATED:
            said = self.calibration(said, surprise)
        chances = iter(said)
        return [next(chances) if t.steps else 0.0 for t in trajectories]

    def evidence(
        self, trajectories: Sequence[Trajectory]
    ) -> tuple[list[float], NDArray[np.float64]]:
        """What calibration is fitted on: the members' mean P(success) of trajectories with steps,
        and how surprised the actors would be, (N, 2), zeros without actors."""
        order = sorted(range(len(trajectories)), key=lambda i: _size(trajectories[i]))
        said = np.zeros(len(trajectories))
        for start in range(0, len(order), _AT_ONCE):
            part = order[start : start + _AT_ONCE]
            chosen = [trajectories[i] for i in part]
            said[part] = np.mean([_chances(m.judge, chosen) for m in self.members], axis=0)
        actors = [member.actor for member in self.members if member.actor is not None]
        if not actors or not trajectories:
            return said.tolist(), np.zeros((len(trajectories), SURPRISES))
        return said.tolist(), np.mean([surprises(a, trajectories) for a in actors], axis=0)

    def evaluator(self, threshold: float | None = None) -> Judged:
        """It as an evaluator whose id names its weights; passes at `threshold` and above.

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

        return Judged(f"reward_model@{self.version}", "success", judge)


def _size(trajectory: Trajectory) -> int:
    """About how long the prompt is, so that like comes with like."""
    return len(trajectory.steps[-1].observation.nodes)


def _prompt(model: BuiltinModel, trajectory: Trajectory) -> Prefix:
    told = account(trajectory)
    return encode(model.vocabulary, "judge", told.page, told.before, told.action)


@torch.inference_mode()
def _chances(model: BuiltinModel, trajectories: Sequence[Trajectory]) -> list[float]:
    """One network's P(success), in one pass."""
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
