"""A member of a reward model: a network that judges, and one that would have acted itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import collate
from webagent.models.builtin.prefix import encode
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.records import Trajectory
from webagent.training.rows import Row, row

SURPRISES = 2
"""How many numbers say how unlike the actor's own the actions were."""
_ACTOR = "actor"
_UNSAYABLE = -4.0
"""Stands for the log-probability of an action that the actor has no words for."""
_LEAST = -8.0
_LATEST = 10
_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Member:
    """The judge's weights and, where it was taught to act first, those it then had."""

    judge: BuiltinModel
    actor: BuiltinModel | None = None

    @classmethod
    def load(cls, folder: Path) -> "Member":
        """A saved one. Raises `ModelError`."""
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


def surprises(actor: BuiltinModel, trajectories: Sequence[Trajectory]) -> NDArray[np.float64]:
    """(N, 2) log-probabilities that the actor would have done what was done: of the last action,
    and of the least likely one among the last ten."""
    grammar = ActionGrammar(Codec(actor.vocabulary))
    told: list[tuple[int, int, Row | None]] = []
    for number, trajectory in enumerate(trajectories):
        count = len(trajectory.steps)
        for index in range(max(0, count - _LATEST), count):
            told.append((number, index, _row(grammar, trajectory, index)))
    rows = [each for _, _, each in told if each is not None]
    likely = iter(_log_probs(actor, rows))
    found = np.full((len(trajectories), SURPRISES), 0.0)
    for number, index, each in told:
        value = _UNSAYABLE if each is None else max(_LEAST, next(likely))
        found[number, 1] = min(found[number, 1], value)
        if index == len(trajectories[number].steps) - 1:
            found[number, 0] = value
    return found


def _row(grammar: ActionGrammar, trajectory: Trajectory, index: int) -> Row | None:
    step = trajectory.steps[index]
    prefix = encode(grammar.vocabulary, "policy", step.observation, trajectory.steps[:index])
    targets = grammar.codec.encode(step.decision.action, prefix, trajectory.task.viewport)
    return row(grammar, prefix, targets) if targets else None


@torch.inference_mode()
def _log_probs(actor: BuiltinModel, rows: Sequence[Row]) -> list[float]:
    """Of each row's whole target, natural logarithm."""
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
