"""What the trained model is compared with: its own base, a frozen copy, or figures from before."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias, cast

import torch
from torch import Tensor, nn

from webagent.errors import SetupError
from webagent.training.language.adapters import is_adapted
from webagent.training.language.likelihood import PLAIN, Reading, likelihood, log_probs
from webagent.training.language.packing import Packing, Sheet
from webagent.training.language.rows import TokenRow

Figures: TypeAlias = Mapping[TokenRow, tuple[float, ...]]
"""Log-probabilities of rows' taught ids, as `figures` computes them."""


class Reference:
    """Log-probabilities of taught ids under weights that stay as they are."""

    def __init__(self, model: nn.Module, given: "nn.Module | Figures | None" = None) -> None:
        """`given` is another model or figures from before; without it an adapted model refers to
        its base, any other to a copy of itself as it is now."""
        self._model: nn.Module | None = None
        self._figures: Figures | None = None
        if isinstance(given, nn.Module):
            self._model = _frozen(given)
        elif given is not None:
            self._figures = given
        elif not is_adapted(model):
            self._model = _frozen(copy.deepcopy(model))
        self._trained = model

    def __call__(self, sheet: Sheet, rows: Sequence[TokenRow], reading: Reading) -> Tensor:
        """(taught,), in the sheet's order. Raises `SetupError` where figures lack a row."""
        if self._figures is not None:
            found = [value for index in sheet.rows for value in self._figure(rows[index])]
            return torch.tensor(found, device=next(self._trained.parameters()).device)
        with torch.no_grad():
            if self._model is not None:
                return likelihood(self._model, sheet, rows, reading).log_probs
            with _base_alone(self._trained):
                return likelihood(self._trained, sheet, rows, reading).log_probs

    def to(self, device: torch.device) -> None:
        """Move what is held to the device."""
        if self._model is not None:
            self._model.to(device)

    def _figure(self, row: TokenRow) -> tuple[float, ...]:
        assert self._figures is not None
        if row not in self._figures:
            raise SetupError(
                f"the reference has no figures for a row of episode {row.episode or '?'}; compute"
                " them for all rows that are trained on"
            )
        return self._figures[row]


def figures(
    model: nn.Module, rows: Sequence[TokenRow], packing: Packing, reading: Reading = PLAIN
) -> dict[TokenRow, tuple[float, ...]]:
    """Log-probabilities under the model as it is, so that it need not be kept."""
    with torch.no_grad():
        found = log_probs(model, rows, packing, reading)
    return {row: tuple(values.tolist()) for row, values in zip(rows, found, strict=True)}


def _frozen(model: nn.Module) -> nn.Module:
    return model.requires_grad_(False).train(False)


@contextmanager
def _base_alone(model: nn.Module) -> Iterator[None]:
    """The base without its adapter and without dropout."""
    was_training = model.training
    disable = cast(Callable[[], AbstractContextManager[None]], model.disable_adapter)
    model.train(False)
    try:
        with disable():
            yield
    finally:
        model.train(was_training)
