"""The losses as the trainer minimises them, part by part of an update."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from webagent.training.language.losses import (
    Pairs,
    TaughtTokens,
    policy_gradient,
    preferences,
    supervised,
)
from webagent.training.language.packing import taught_indices
from webagent.training.language.rows import TokenRow
from webagent.training.language.units import TrainingUnit


@dataclass(frozen=True, slots=True)
class UpdateTotals:
    """An update as a whole, over all its micro-batches and processes: what losses divide by."""

    tokens: float
    """Taught tokens."""
    pairs: float
    """Units with rows of both sides."""


@dataclass(frozen=True, slots=True)
class ScoredUnits:
    """The taught tokens of some units, row by row."""

    units: tuple[TrainingUnit, ...]
    taught: TaughtTokens
    log_probs: Tensor
    """(taught,), under the model that is trained, with gradients."""
    reference: Tensor | None
    """(taught,), under the reference model; None where the objective needs none."""

    @property
    def rows(self) -> tuple[TokenRow, ...]:
        """The rows of all units."""
        return tuple(row for unit in self.units for row in unit.rows)


@dataclass(frozen=True, slots=True)
class LossPart:
    """A micro-batch's part of the update's loss."""

    loss: Tensor
    """Scalar. The parts of all micro-batches add up to the loss of the update."""
    figures: Mapping[str, tuple[float, float]]
    """Sums to be reported as means: the sum, and over how many."""


class Objective(Protocol):
    """What is minimised."""

    @property
    def needs(self) -> frozenset[str]:
        """Of `reference`, `behaviour`, `advantages` and `sides`, what it cannot do without."""
        ...

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Return the part of the loss that these units make."""
        ...


def count_totals(units: Sequence[TrainingUnit]) -> UpdateTotals:
    """Return the sizes of these units together."""
    tokens = sum(len(taught_indices(row)) for unit in units for row in unit.rows)
    pairs = sum(0 < unit.better < len(unit.rows) for unit in units)
    return UpdateTotals(float(tokens), float(pairs))


@dataclass(frozen=True, slots=True)
class Supervised:
    """Imitation of what is taught: SFT, rejection fine-tuning, world models, verdicts."""

    needs = frozenset[str]()

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Negative log-likelihood."""
        return LossPart(supervised(scored.log_probs, scored.taught.weights, whole.tokens), {})


@dataclass(frozen=True, slots=True)
class PolicyGradient:
    """GRPO over rows with advantages."""

    penalty: float = 0.0
    """Coefficient of the divergence from the reference policy."""
    cap: float = 2.0
    """Most that a token counts for having become likelier since it was sampled."""

    @property
    def needs(self) -> frozenset[str]:
        """A reference where there is a penalty."""
        needed = {"behaviour", "advantages"}
        return frozenset(needed | ({"reference"} if self.penalty else set()))

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Return the surrogate."""
        loss = policy_gradient(
            scored.log_probs,
            scored.taught,
            penalty=self.penalty,
            cap=self.cap,
            reference=scored.reference,
            denominator=whole.tokens,
        )
        return LossPart(loss, {})


@dataclass(frozen=True, slots=True)
class Preference:
    """DPO over pairs of rows or of episodes."""

    beta: float = 0.1
    needs = frozenset({"reference", "sides"})

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Return the preferences' loss, with the share of pairs already in the right order."""
        assert scored.reference is not None
        now, before = _sum_sides(scored, scored.log_probs), _sum_sides(scored, scored.reference)
        pairs = Pairs(now[0], now[1], before[0], before[1])
        loss = preferences(pairs, self.beta, whole.pairs)
        margins = ((now[0] - before[0]) - (now[1] - before[1])).detach() * self.beta
        count = float(margins.numel())
        figures = {
            "margin": (float(margins.sum()), count),
            "accuracy": (float((margins > 0).sum()), count),
        }
        return LossPart(loss, figures)


def _sum_sides(scored: ScoredUnits, values: Tensor) -> tuple[Tensor, Tensor]:
    """Return for each pair the sums over the taught tokens of its chosen and its rejected rows."""
    counts = [sum(map(bool, row.weights)) for row in scored.rows]
    sums = iter([part.sum() for part in values.split(counts)])
    zero = values.new_zeros(())
    chosen, rejected = [], []
    for unit in scored.units:
        chosen.append(sum((next(sums) for _ in range(unit.better)), zero))
        rejected.append(sum((next(sums) for _ in unit.rows[unit.better :]), zero))
    return torch.stack(chosen), torch.stack(rejected)
