"""The losses as the trainer minimises them, part by part of an update."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from webagent.errors import SetupError
from webagent.training.language.intake import Unit
from webagent.training.language.losses import (
    Clipping,
    Desirability,
    Pairs,
    Per,
    advantage_regression,
    desirability,
    policy_gradient,
    preferences,
    sequence_means,
    sequence_sums,
    supervised,
)
from webagent.training.language.objective import Outcome, Scored, Whole
from webagent.training.language.rows import TokenRow
from webagent.training.language.selection import mismatched


@dataclass(frozen=True, slots=True)
class Supervised:
    """Imitation of what is taught: SFT, rejection fine-tuning, world models, verdicts."""

    per: Per = "token"
    constant: float = 0.0
    """What the sum over an update is divided by, for `per="constant"`."""
    needs = frozenset[str]()

    def extra(self, units: Sequence[Unit]) -> list[TokenRow]:
        """None."""
        return []

    def __call__(self, scored: Scored, whole: Whole) -> Outcome:
        """Negative log-likelihood."""
        taught, log_probs = scored.taught, scored.log_probs
        divide = _denominator(self.per, whole, self.constant)
        loss = supervised(log_probs, taught.weights, taught.sequences, self.per, divide)
        return Outcome(loss, {})


@dataclass(frozen=True, slots=True)
class PolicyGradient:
    """GRPO, DAPO, Dr. GRPO and GSPO over rows with advantages."""

    options: Clipping = field(default_factory=Clipping)
    constant: float = 0.0
    """What the sum over an update is divided by, for `per="constant"`."""
    recomputed: bool = False
    """Whether ratios are to the policy as it is now, and the way from the sampling to it is made
    up for by truncated importance weights. For one update on each row."""

    @property
    def needs(self) -> frozenset[str]:
        """A reference where there is a divergence."""
        needed = {"behaviour", "advantages"}
        return frozenset(needed | ({"reference"} if self.options.divergence else set()))

    def extra(self, units: Sequence[Unit]) -> list[TokenRow]:
        """None."""
        return []

    def __call__(self, scored: Scored, whole: Whole) -> Outcome:
        """The clipped surrogate."""
        old = scored.log_probs.detach() if self.recomputed else None
        loss = policy_gradient(
            scored.log_probs,
            scored.taught,
            self.options,
            old=old,
            reference=scored.reference,
            denominator=_denominator(self.options.per, whole, self.constant),
        )
        return Outcome(loss, {"clip_share": _clip_share(scored, self.options)})


@dataclass(frozen=True, slots=True)
class Preference:
    """DPO over pairs of rows or of episodes."""

    beta: float = 0.1
    label_smoothing: float = 0.0
    needs = frozenset({"reference", "sides"})

    def extra(self, units: Sequence[Unit]) -> list[TokenRow]:
        """None."""
        return []

    def __call__(self, scored: Scored, whole: Whole) -> Outcome:
        """The preferences' loss, with the share of pairs that already stand the right way."""
        now, before = (_sides(scored, values) for values in _both(scored))
        pairs = Pairs(now[0], now[1], before[0], before[1])
        loss = preferences(pairs, self.beta, self.label_smoothing, whole.pairs)
        margins = ((now[0] - before[0]) - (now[1] - before[1])).detach() * self.beta
        count = float(margins.numel())
        figures = {
            "margin": (float(margins.sum()), count),
            "accuracy": (float((margins > 0).sum()), count),
        }
        return Outcome(loss, figures)


@dataclass(frozen=True, slots=True)
class Desirable:
    """KTO over units that are good or bad as they stand."""

    weights: Desirability = field(default_factory=Desirability)
    needs = frozenset({"reference"})

    def extra(self, units: Sequence[Unit]) -> list[TokenRow]:
        """Each prompt with the reply of the unit before, of which the baseline is estimated."""
        return mismatched([unit.rows[0] for unit in units if len(unit.rows[0].spans) == 1])

    def __call__(self, scored: Scored, whole: Whole) -> Outcome:
        """The desirability loss against the baseline of the whole update."""
        now, before = (_unit_sums(scored, values) for values in _both(scored))
        good = torch.tensor([unit.better > 0 for unit in scored.units], device=now.device)
        baseline = max(0.0, whole.extra[0] / max(1.0, whole.extra[1]))
        loss = desirability(now - before, good, baseline, self.weights, whole.units)
        return Outcome(loss, {"baseline": (baseline, 1.0)})


@dataclass(frozen=True, slots=True)
class Regression:
    """WebRL's regression of log-ratios onto advantages, over replies."""

    beta: float = 1.0
    needs = frozenset({"reference", "advantages"})

    def extra(self, units: Sequence[Unit]) -> list[TokenRow]:
        """None."""
        return []

    def __call__(self, scored: Scored, whole: Whole) -> Outcome:
        """The squared distance, a mean over replies."""
        taught = scored.taught
        assert taught.advantages is not None and scored.reference is not None
        ratios = scored.log_probs - scored.reference
        sums = sequence_sums(ratios, taught.sequences, taught.count)
        counts = torch.bincount(taught.sequences, minlength=taught.count)
        advantages = sequence_sums(taught.advantages, taught.sequences, taught.count) / counts
        loss = advantage_regression(sums, advantages, self.beta, whole.sequences)
        return Outcome(loss, {})


def _denominator(per: Per, whole: Whole, constant: float) -> float:
    return {"token": whole.tokens, "sequence": whole.sequences, "constant": constant}[per]


def _both(scored: Scored) -> tuple[Tensor, Tensor]:
    assert scored.reference is not None
    return scored.log_probs, scored.reference


def _row_sums(scored: Scored, values: Tensor) -> list[Tensor]:
    """For each row the sum over its taught tokens."""
    counts = [sum(map(bool, row.weights)) for row in scored.rows]
    return [part.sum() for part in values.split(counts)]


def _unit_sums(scored: Scored, values: Tensor) -> Tensor:
    sums = iter(_row_sums(scored, values))
    return torch.stack(
        [sum((next(sums) for _ in unit.rows), values.new_zeros(())) for unit in scored.units]
    )


def _sides(scored: Scored, values: Tensor) -> tuple[Tensor, Tensor]:
    """For each pair the sums over its chosen and over its rejected rows."""
    sums = iter(_row_sums(scored, values))
    zero = values.new_zeros(())
    chosen, rejected = [], []
    for unit in scored.units:
        chosen.append(sum((next(sums) for _ in range(unit.better)), zero))
        rejected.append(sum((next(sums) for _ in unit.rows[unit.better :]), zero))
    return torch.stack(chosen), torch.stack(rejected)


def _clip_share(scored: Scored, options: Clipping) -> tuple[float, float]:
    """How many tokens' ratios to the sampling are outside the bounds where that stops them."""
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
