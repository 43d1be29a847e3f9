"""The seam between the trainer and a loss: what a loss sees and what it says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from webagent.training.language.intake import Unit
from webagent.training.language.losses import TaughtTokens
from webagent.training.language.packing import taught
from webagent.training.language.rows import TokenRow


@dataclass(frozen=True, slots=True)
class Whole:
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


@dataclass(frozen=True, slots=True)
class Scored:
    """The taught tokens of some units, row by row."""

    units: tuple[Unit, ...]
    taught: TaughtTokens
    log_probs: Tensor
    """(taught,), under the model that is trained, with gradients."""
    reference: Tensor | None
    """(taught,), under the reference model; None where the objective needs none."""
    entropies: Tensor | None = None

    @property
    def rows(self) -> tuple[TokenRow, ...]:
        """The rows of all units."""
        return tuple(row for unit in self.units for row in unit.rows)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A micro-batch's part of the update's loss."""

    loss: Tensor
    """Scalar. The parts of all micro-batches add up to the loss of the update."""
    figures: Mapping[str, tuple[float, float]]
    """Sums to be reported as means: the sum, and over how many."""


class Objective(Protocol):
    """What is minimised."""

    @property
    def needs(self) -> frozenset[str]:
        """Of `reference`, `entropy`, `behaviour`, `advantages` and `sides`, what it cannot do
        without."""
        ...

    def extra(self, units: Sequence[Unit]) -> list[TokenRow]:
        """Rows to be read without gradient before an update on these units; mostly none."""
        ...

    def __call__(self, scored: Scored, whole: Whole) -> Outcome:
        """The part of the loss that these units make."""
        ...


def whole(units: Sequence[Unit]) -> Whole:
    """The sizes of these units together."""
    rows = [row for unit in units for row in unit.rows]
    return Whole(
        tokens=float(sum(len(taught(row)) for row in rows)),
        sequences=float(sum(_sequences(row) for row in rows)),
        units=float(len(units)),
        pairs=float(sum(0 < unit.better < len(unit.rows) for unit in units)),
    )


def _sequences(row: TokenRow) -> int:
    """How many of the row's replies teach anything; a row without spans is one."""
    spans = row.spans or ((0, len(row.ids)),)
    return sum(any(row.weights[start:stop]) for start, stop in spans)
