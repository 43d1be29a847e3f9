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
from evaluators.reward.calibration import Calibration
from evaluators.reward.lessons import Lesson, lessons
from webagent.models.builtin.batch import SLOT_INDEX, collate
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.prefix import Prefix, encode
from webagent.models.builtin.targets import Codec
from webagent.models.builtin.tokens import START
from webagent.models.builtin.words import Vocabulary
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
    answered (`account`). Where it was calibrated its probabilities are, and its threshold is the
    one that was chosen then.
    """

    def __init__(
        self,
        model: BuiltinModel,
        calibration: Calibration = Calibration(),  # noqa: B008 - frozen
        others: Sequence[BuiltinModel] = (),
    ):
        self.model = model
        self.others = tuple(others)
        self.calibration = calibration
        self.grammar = VerdictGrammar(Codec(model.vocabulary))

    @classmethod
    def load(cls, folder: Path) -> "RewardModel":
        """A saved one with its calibration. Raises `ModelError`."""
        others = sorted(folder.glob("member-*"))
        return cls(
            BuiltinModel.load(folder),
            Calibration.load(folder),
            [BuiltinModel.load(member) for member in others],
        )

    def save(self, folder: Path) -> None:
        """Write weights, those of the other members in folders of their own, and calibration."""
        self.model.save(folder)
        for number, member in enumerate(self.others, start=1):
            member.save(folder / f"member-{number}")
        self.calibration.save(folder)

    @property
    def version(self) -> str:
        """Hexadecimal digits that change whenever weights, words or calibration do."""
        if not self.others and self.calibration == Calibration():
            return self.model.version
        parts = [self.model.version, *(m.version for m in self.others), repr(self.calibration)]
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
        order = sorted(range(len(acted)), key=lambda i: len(acted[i].steps[-1].observation.nodes))
        said = np.zeros(len(acted))
        for start in range(0, len(order), _AT_ONCE):
            part = order[start : start + _AT_ONCE]
            members = (self.model, *self.others)
            each = [_chances(member, [acted[i] for i in part]) for member in members]
            said[part] = np.mean(each, axis=0)
        calibrated = self.calibration != Calibration()
        chances = iter(self.calibration(said.tolist()) if calibrated else said.tolist())
        return [next(chances) if t.steps else 0.0 for t in trajectories]

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
