"""One update: the gradient of a loss over many micro-batches, as if they were one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from webagent.training.language.intake import Unit, context_length
from webagent.training.language.likelihood import Likelihood, Reading, likelihood
from webagent.training.language.losses import taught_tokens
from webagent.training.language.metrics import Tally
from webagent.training.language.objective import Objective, Scored, Whole
from webagent.training.language.packing import Packing, Sheet, lay_out
from webagent.training.language.reference import Reference
from webagent.training.language.rows import TokenRow


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Units whose loss is computed at once, from one or more forward passes."""

    units: tuple[Unit, ...]
    sheets: tuple[Sheet, ...]
    """They name rows by their place among the rows of all units, counted through."""


def micro_batches(units: Sequence[Unit], packing: Packing) -> list[MicroBatch]:
    """The units in parts that stay within the packing's tokens, those that begin alike together.

    A unit is never parted, so that one unit above the tokens is a micro-batch of its own, of
    several forward passes.
    """
    if all(len(unit.rows) == 1 for unit in units):
        return [_of_sheet(units, sheet) for sheet in lay_out([u.rows[0] for u in units], packing)]
    parts: list[list[Unit]] = []
    room = 0
    for unit in sorted(units, key=lambda unit: (unit.rows[0].images, unit.rows[0].ids)):
        tokens = sum(sheet.tokens for sheet in lay_out(unit.rows, packing))
        if not parts or tokens > room:
            parts.append([])
            room = packing.tokens
        parts[-1].append(unit)
        room -= tokens
    return [_of_units(part, packing) for part in parts]


def _of_sheet(units: Sequence[Unit], sheet: Sheet) -> MicroBatch:
    here = tuple(units[index] for index in sheet.rows)
    return MicroBatch(here, (replace(sheet, rows=tuple(range(len(here)))),))


def _of_units(units: Sequence[Unit], packing: Packing) -> MicroBatch:
    rows = [row for unit in units for row in unit.rows]
    return MicroBatch(tuple(units), tuple(lay_out(rows, packing)))


@dataclass(frozen=True, slots=True)
class Learner:
    """A model with what its gradient is made of."""

    model: nn.Module
    objective: Objective
    reading: Reading
    packing: Packing
    reference: Reference | None

    def accumulate(self, units: Sequence[Unit], whole: Whole, tally: Tally) -> float:
        """Add the gradient of the loss of these units to the model's; the loss."""
        loss = 0.0
        for batch in micro_batches(units, self.packing):
            rows = [row for unit in batch.units for row in unit.rows]
            needs = self.objective.needs
            reading = replace(self.reading, entropy="entropy" in needs)
            before = None
            if self.reference is not None and "reference" in needs:
                parts = [self.reference(sheet, rows, self.reading) for sheet in batch.sheets]
                before = _in_order(batch.sheets, parts)
            read = [likelihood(self.model, sheet, rows, reading) for sheet in batch.sheets]
            log_probs = _in_order(batch.sheets, [each.log_probs for each in read])
            scored = Scored(
                units=batch.units,
                taught=taught_tokens(rows, device=log_probs.device),
                log_probs=log_probs,
                reference=before,
                entropies=_entropies(batch.sheets, read),
            )
            outcome = self.objective(scored, whole)
            outcome.loss.backward()
            loss += float(outcome.loss.detach())
            tally.add(outcome.figures)
            tally.add(_drift(scored))
            tally.add({"padded_tokens": (sum(sheet.tokens for sheet in batch.sheets), 0)})
        return loss

    def log_ratios(self, rows: Sequence[TokenRow]) -> tuple[float, float]:
        """The sum of the rows' log-ratios to the reference, and how many rows it is over: those
        beyond the context are left out."""
        longest = context_length(self.model) or math.inf
        rows = [row for row in rows if len(row.ids) <= longest]
        total = 0.0
        for sheet in lay_out(rows, self.packing) if rows else ():
            assert self.reference is not None
            before = self.reference(sheet, rows, self.reading)
            with torch.no_grad():
                now = likelihood(self.model, sheet, rows, self.reading).log_probs
            total += float((now - before).sum())
        return total, float(len(rows))


def _entropies(sheets: Sequence[Sheet], read: Sequence[Likelihood]) -> Tensor | None:
    parts = [each.entropies for each in read if each.entropies is not None]
    return _in_order(sheets, parts) if parts else None


def _in_order(sheets: Sequence[Sheet], values: Sequence[Tensor]) -> Tensor:
    """The sheets' values of taught tokens, by rows as they were given."""
    found: dict[int, Tensor] = {}
    for sheet, value in zip(sheets, values, strict=True):
        found |= zip(sheet.rows, value.split(sheet.counts), strict=True)
    return torch.cat([found[index] for index in sorted(found)])


def _drift(scored: Scored) -> dict[str, tuple[float, float]]:
    """How far the model is from the sampling and from the reference, over tokens."""
    figures = {}
    now, count = scored.log_probs.detach(), float(scored.log_probs.numel())
    if scored.taught.behaviour is not None:
        ratio = now - scored.taught.behaviour
        figures["ratio"] = (float(ratio.exp().sum()), count)
        figures["ratio_squared"] = (float((2 * ratio).exp().sum()), count)
        figures["kl_sampling"] = (_k3(-ratio), count)
    if scored.reference is not None:
        figures["kl"] = (_k3(scored.reference - now), count)
    if scored.entropies is not None:
        figures["entropy"] = (float(scored.entropies.detach().sum()), count)
    return figures


def _k3(ratio: Tensor) -> float:
    """Sum of the estimate k3 of a divergence (Schulman 2020): exp(r) - r - 1."""
    value = float((ratio.exp() - ratio - 1).sum())
    return value if math.isfinite(value) else float("nan")
