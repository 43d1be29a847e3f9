"""The taught tokens of a batch as flat tensors: what losses need beside log-probabilities."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from webagent.training.language.rows import TokenRow

Unit: TypeAlias = Literal["step", "row", "episode"]
"""What counts as a sequence: the reply of one step; all replies of a row; all of an episode. Only
steps and episodes are the same whether rows were merged or not."""


@dataclass(frozen=True, slots=True)
class TaughtTokens:
    """Row by row, the tokens of weight other than 0, in their order: T of them."""

    weights: Tensor
    """(T,)."""
    sequences: Tensor
    """(T,), which sequence each belongs to, numbered from 0 as they come."""
    count: int
    """How many sequences there are."""
    advantages: Tensor | None = None
    """(T,), or None where a row has none."""
    behaviour: Tensor | None = None
    """(T,), log-probabilities at the sampling, or None where a row was not sampled."""

    def __len__(self) -> int:
        return self.weights.numel()


def taught_tokens(
    rows: Sequence[TokenRow],
    unit: Unit = "step",
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> TaughtTokens:
    """The tensors of these rows, in their order. An advantage or a behaviour log-probability is
    there for all tokens or for none."""
    weights: list[float] = []
    advantages: list[float] = []
    behaviour: list[float] = []
    sequences: list[int] = []
    numbers: dict[object, int] = {}
    for line, row in enumerate(rows):
        for place, key in _places(row, line, unit):
            sequences.append(numbers.setdefault(key, len(numbers)))
            weights.append(row.weights[place])
            if row.advantages:
                advantages.append(row.advantages[place])
            if row.log_probs:
                behaviour.append(row.log_probs[place])

    def whole(values: list[float]) -> Tensor | None:
        complete = len(values) == len(weights)
        return torch.tensor(values, dtype=dtype, device=device) if complete else None

    return TaughtTokens(
        weights=torch.tensor(weights, dtype=dtype, device=device),
        sequences=torch.tensor(sequences, dtype=torch.int64, device=device),
        count=len(numbers),
        advantages=whole(advantages),
        behaviour=whole(behaviour),
    )


def _places(row: TokenRow, line: int, unit: Unit) -> Iterator[tuple[int, object]]:
    """The places of taught ids, each with what names its sequence."""
    spans = row.spans or ((1, len(row.ids)),)
    for number, (start, stop) in enumerate(spans):
        key: object = line if unit == "row" else (line, number)
        if unit == "episode" and row.episode:
            key = row.episode
        for place in range(start, stop):
            if row.weights[place]:
                yield place, key
