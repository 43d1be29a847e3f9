"""The learned outcome reward model: whether an episode succeeded, told from what was seen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from evaluators.evaluator import Judged, Verdict
from webagent.models.builtin.batch import SLOT_INDEX, collate
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.prefix import Prefix, encode
from webagent.models.builtin.targets import Codec
from webagent.models.builtin.tokens import START
from webagent.models.builtin.words import Vocabulary
from webagent.records import Trajectory
from webagent.training.rows import Row, row


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
    """The built-in network in the role of the judge.

    It reads the goal, what was done, the last page that was acted on and the last action: the
    outcome of a task is decided there, and pages such as MiniWoB's show nothing afterwards.
    """

    def __init__(self, model: BuiltinModel):
        self.model = model
        self.grammar = VerdictGrammar(Codec(model.vocabulary))

    @classmethod
    def load(cls, folder: Path) -> "RewardModel":
        """A saved one. Raises `ModelError`."""
        return cls(BuiltinModel.load(folder))

    def prompt(self, trajectory: Trajectory) -> Prefix:
        """What the network reads. The trajectory has at least one step."""
        step = trajectory.steps[-1]
        before = trajectory.steps[:-1]
        return encode(
            self.model.vocabulary, "judge", step.observation, before, step.decision.action
        )

    def rows(
        self, trajectories: Iterable[Trajectory], success: Mapping[str, float | None]
    ) -> list[Row]:
        """Training rows: labelled real episodes, and each success cut off before its last action
        as a failure that nearly was not one."""
        rows = []
        for trajectory in trajectories:
            label = success.get(trajectory.id)
            if label is None or not trajectory.steps or trajectory.provenance.imagined:
                continue
            rows.append(self._row(trajectory, label >= 0.5))
            if label >= 0.5 and len(trajectory.steps) > 1:
                rows.append(self._row(_cut(trajectory), False))
        return rows

    def _row(self, trajectory: Trajectory, success: bool) -> Row:
        targets = [self.grammar.verdict(success)]
        return row(self.grammar, self.prompt(trajectory), targets, group=trajectory.task.name)

    @torch.inference_mode()
    def probabilities(self, trajectories: Sequence[Trajectory]) -> list[float]:
        """P(success) of each trajectory, in one pass; 0 for one without steps."""
        acted = [t for t in trajectories if t.steps]
        if not acted:
            return [0.0] * len(trajectories)
        network = self.model.network
        network.train(False)
        count = len(acted)
        batch = collate([self.prompt(t) for t in acted], [[]] * count, [[]] * count)
        start = torch.full((count,), self.grammar.start)
        slots = torch.full((count,), SLOT_INDEX["outcome"])
        logits, _ = network.decode(network.prefill(batch), start, slots, 0)
        verdicts = logits[:, [self.grammar.verdict(True), self.grammar.verdict(False)]]
        chances = iter(verdicts.float().softmax(1)[:, 0].tolist())
        return [next(chances) if t.steps else 0.0 for t in trajectories]

    def evaluator(self, threshold: float = 0.5) -> Judged:
        """It as an evaluator whose id names its weights; passes at `threshold` and above."""

        def judge(trajectory: Trajectory) -> Verdict:
            chance = self.probabilities([trajectory])[0]
            return Verdict(float(chance >= threshold), f"P(success) = {chance:.3f}")

        return Judged(f"reward_model@{self.model.version}", "success", judge)


def _cut(trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, steps=trajectory.steps[:-1])
