"""The losses as the trainer minimises them, part by part of an update."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from webagent.errors import SetupError
from webagent.training.language.losses import (
    Clipping,
    Desirability,
    Pairs,
    Per,
    TaughtTokens,
    advantage_regression,
    desirability,
    policy_gradient,
    preferences,
    sequence_means,
    sequence_sums,
    supervised,
)
from webagent.training.language.packing import taught_indices
from webagent.training.language.rows import TokenRow
from webagent.training.language.selection import mismatch_replies
from webagent.training.language.units import TrainingUnit


@dataclass(frozen=True, slots=True)
class UpdateTotals:
    """An update as a whole, over all its micro-batches and processes: what losses divide by."""

    tokens: float
    """Taught tokens."""
    sequences: float
    """Replies: the spans of the rows."""
    units: float
    pairs: float
    """Units with rows of both sides."""
    extra: tuple[float, float] = (0.0, 0.0)
    """Of the rows asked for with `extra`: the sum of their log-ratios of model to reference, each
    summed over its tokens, and how many rows they are."""

    def denominator(self, per: Per) -> float:
        """Return what a loss of this kind divides by."""
        return self.tokens if per == "token" else self.sequences


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

    def extra(self, units: Sequence[TrainingUnit]) -> list[TokenRow]:
        """Return rows to be read without gradient before an update on these units; mostly none."""
        ...

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Return the part of the loss that these units make."""
        ...


def count_totals(units: Sequence[TrainingUnit]) -> UpdateTotals:
    """Return the sizes of these units together."""
    rows = [row for unit in units for row in unit.rows]
    return UpdateTotals(
        tokens=float(sum(len(taught_indices(row)) for row in rows)),
        # Replies that teach anything; a row without spans is one.
        sequences=float(
            sum(
                any(row.weights[start:stop])
                for row in rows
                for start, stop in row.spans or ((0, len(row.ids)),)
            )
        ),
        units=float(len(units)),
        pairs=float(sum(0 < unit.better < len(unit.rows) for unit in units)),
    )


@dataclass(frozen=True, slots=True)
class Supervised:
    """Imitation of what is taught: SFT, rejection fine-tuning, world models, verdicts."""

    per: Per = "token"
    needs = frozenset[str]()

    def extra(self, units: Sequence[TrainingUnit]) -> list[TokenRow]:
        """Return none."""
        return []

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Negative log-likelihood."""
        taught, log_probs = scored.taught, scored.log_probs
        divide = whole.denominator(self.per)
        loss = supervised(log_probs, taught.weights, taught.sequences, self.per, divide)
        return LossPart(loss, {})


@dataclass(frozen=True, slots=True)
class PolicyGradient:
    """GRPO, DAPO and GSPO over rows with advantages."""

    options: Clipping = field(default_factory=Clipping)
    recomputed: bool = False
    """Whether ratios are to the policy as it is now, and the way from the sampling to it is made
    up for by truncated importance weights. For one update on each row."""

    @property
    def needs(self) -> frozenset[str]:
        """A reference where there is a divergence."""
        needed = {"behaviour", "advantages"}
        return frozenset(needed | ({"reference"} if self.options.divergence else set()))

    def extra(self, units: Sequence[TrainingUnit]) -> list[TokenRow]:
        """Return none."""
        return []

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Return the clipped surrogate."""
        old = scored.log_probs.detach() if self.recomputed else None
        loss = policy_gradient(
            scored.log_probs,
            scored.taught,
            self.options,
            old=old,
            reference=scored.reference,
            denominator=whole.denominator(self.options.per),
        )
        return LossPart(loss, {"clip_share": _clip_share(scored, self.options)})


@dataclass(frozen=True, slots=True)
class Preference:
    """DPO over pairs of rows or of episodes."""

    beta: float = 0.1
    needs = frozenset({"reference", "sides"})

    def extra(self, units: Sequence[TrainingUnit]) -> list[TokenRow]:
        """Return none."""
        return []

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Return the preferences' loss, with the share of pairs that already stand the right
        way."""
        now, before = (_sides(scored, values) for values in _both(scored))
        pairs = Pairs(now[0], now[1], before[0], before[1])
        loss = preferences(pairs, self.beta, whole.pairs)
        margins = ((now[0] - before[0]) - (now[1] - before[1])).detach() * self.beta
        count = float(margins.numel())
        figures = {
            "margin": (float(margins.sum()), count),
            "accuracy": (float((margins > 0).sum()), count),
        }
        return LossPart(loss, figures)


@dataclass(frozen=True, slots=True)
class Desirable:
    """KTO over units that are good or bad as they stand."""

    weights: Desirability = field(default_factory=Desirability)
    needs = frozenset({"reference"})

    def extra(self, units: Sequence[TrainingUnit]) -> list[TokenRow]:
        """Each prompt with the reply of the unit before, of which the baseline is estimated."""
        return mismatch_replies([unit.rows[0] for unit in units if len(unit.rows[0].spans) == 1])

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Return the desirability loss against the baseline of the whole update."""
        now, before = (_unit_sums(scored, values) for values in _both(scored))
        good = torch.tensor([unit.better > 0 for unit in scored.units], device=now.device)
        baseline = max(0.0, whole.extra[0] / max(1.0, whole.extra[1]))
        loss = desirability(now - before, good, baseline, self.weights, whole.units)
        return LossPart(loss, {"baseline": (baseline, 1.0)})


@dataclass(frozen=True, slots=True)
class Regression:
    """WebRL's regression of log-ratios onto advantages, over replies."""

    beta: float = 1.0
    needs = frozenset({"reference", "advantages"})

    def extra(self, units: Sequence[TrainingUnit]) -> list[TokenRow]:
        """Return none."""
        return []

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Return the squared distance, a mean over replies."""
        taught = scored.taught
        assert taught.advantages is not None and scored.reference is not None
        ratios = scored.log_probs - scored.reference
        sums = sequence_sums(ratios, taught.sequences, taught.count)
        counts = torch.bincount(taught.sequences, minlength=taught.count)
        advantages = sequence_sums(taught.advantages, taught.sequences, taught.count) / counts
        loss = advantage_regression(sums, advantages, self.beta, whole.sequences)
        return LossPart(loss, {})


def _both(scored: ScoredUnits) -> tuple[Tensor, Tensor]:
    assert scored.reference is not None
    return scored.log_probs, scored.reference


def _row_sums(scored: ScoredUnits, values: Tensor) -> list[Tensor]:
    """For each row the sum over its taught tokens."""
    counts = [sum(map(bool, row.weights)) for row in scored.rows]
    return [part.sum() for part in values.split(counts)]


def _unit_sums(scored: ScoredUnits, values: Tensor) -> Tensor:
    sums = iter(_row_sums(scored, values))
    return torch.stack(
        [sum((next(sums) for _ in unit.rows), values.new_zeros(())) for unit in scored.units]
    )


def _sides(scored: ScoredUnits, values: Tensor) -> tuple[Tensor, Tensor]:
    """For each pair the sums over its chosen and over its rejected rows."""
    sums = iter(_row_sums(scored, values))
    zero = values.new_zeros(())
    chosen, rejected = [], []
    for unit in scored.units:
        chosen.append(sum((next(sums) for _ in range(unit.better)), zero))
        rejected.append(sum((next(sums) for _ in unit.rows[unit.better :]), zero))
    return torch.stack(chosen), torch.stack(rejected)


def _clip_share(scored: ScoredUnits, options: Clipping) -> tuple[float, float]:
    """Return how many tokens' ratios to the sampling are outside the bounds where that stops
    them."""
    behaviour, advantages = scored.taught.behaviour, scored.taught.advantages
    if behaviour is None or advantages is None:
        raise SetupError("a policy gradient needs sampled rows with advantages")
    log_ratios = scored.log_probs.detach() - behaviour
    if options.level == "sequence":
        sequences = scored.taught.sequences
        log_ratios = sequence_means(log_ratios, sequences, scored.taught.count)[sequences]
    ratios = log_ratios.exp()
    stopped = ((ratios > 1 + options.high) & (advantages > 0)) | (
        (ratios < 1 - options.low) & (advantages < 0)
    )
    return float(stopped.sum()), float(stopped.numel())
