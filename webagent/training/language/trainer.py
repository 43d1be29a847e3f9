"""The trainer of language and vision-language models, whatever they are to learn: one update.

The same one serves policy, world model and reward model; they differ in rows and objective.
"""

import math
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from webagent.errors import ModelError, SetupError
from webagent.training.language.config import DEFAULTS, TrainConfig
from webagent.training.language.likelihood import (
    PLAIN,
    ForwardOptions,
    attention_span,
    compute_likelihood,
    compute_log_probs,
    find_image_tree_obstacle,
    find_tree_obstacle,
    image_ids,
)
from webagent.training.language.losses import taught_tokens
from webagent.training.language.objectives import Objective, ScoredUnits, UpdateTotals, count_totals
from webagent.training.language.packing import Packing, Sheet, lay_out
from webagent.training.language.preparation import (
    Reference,
    build_optimizer,
    fingerprint,
    is_adapted,
    prepare_model,
    save_adapter,
)
from webagent.training.language.rows import TokenRow
from webagent.training.language.sharding import gather, is_sharding_asked, shard_model, walk_in_step
from webagent.training.language.units import TrainingUnit

_T = TypeVar("_T")


class FigureSums:
    """Sums over the micro-batches of one update, reported as means."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._counts: defaultdict[str, float] = defaultdict(float)

    def add(self, figures: Mapping[str, tuple[float, float]]) -> None:
        """Take in sums with what they are over."""
        for name, (total, count) in figures.items():
            self._sums[name] += total
            self._counts[name] += count

    def means(self) -> dict[str, float]:
        """Return each sum over its count, or the sum itself where it is over nothing."""
        return {name: total / (self._counts[name] or 1) for name, total in self._sums.items()}


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Units whose loss is computed at once, from one or more forward passes."""

    units: tuple[TrainingUnit, ...]
    sheets: tuple[Sheet, ...]
    """They name rows by their place among the rows of all units, counted through."""


def micro_batches(units: Sequence[TrainingUnit], packing: Packing) -> list[MicroBatch]:
    """Part the units so that each part stays within the packing's tokens, like ones together.

    A unit is never parted, so that one unit above the tokens is a micro-batch of its own, of
    several forward passes.
    """
    if all(len(unit.rows) == 1 for unit in units):
        batches = []
        for sheet in lay_out([unit.rows[0] for unit in units], packing):
            here = tuple(units[index] for index in sheet.rows)
            batches.append(MicroBatch(here, (replace(sheet, rows=tuple(range(len(here)))),)))
        return batches
    parts: list[list[TrainingUnit]] = []
    room = 0
    for unit in sorted(units, key=lambda unit: (unit.rows[0].images, unit.rows[0].ids)):
        tokens = sum(sheet.tokens for sheet in lay_out(unit.rows, packing))
        if not parts or tokens > room:
            parts.append([])
            room = packing.tokens
        parts[-1].append(unit)
        room -= tokens
    return [
        MicroBatch(
            tuple(part), tuple(lay_out([row for unit in part for row in unit.rows], packing))
        )
        for part in parts
    ]


@dataclass(frozen=True, slots=True)
class GradientAccumulator:
    """A model with what its gradient is made of."""

    model: nn.Module
    objective: Objective
    reading: ForwardOptions
    packing: Packing
    reference: Reference | None
    place: tuple[int, int] = (0, 1)
    """Which of how many processes this one is, where they part the weights; else the first of
    one, whatever share of the units it is given."""

    def accumulate(
        self, units: Sequence[TrainingUnit], whole: UpdateTotals, sums: FigureSums
    ) -> float:
        """Add the gradient of the loss of these units to the model's; return the loss.

        Where weights are parted, of this process's share of them, with as many passes as in every
        other process, and times their number, as the gradients' mean is taken.
        """
        loss, count = 0.0, self.place[1]
        batches = micro_batches(units, self.packing)
        if count > 1:
            batches.sort(key=lambda batch: len(batch.sheets))
        for batch, counts, together in walk_in_step(batches, *self.place):
            passes = max(len(each.sheets) for each in together)
            scored, idle = self._score(batch, passes - len(batch.sheets))
            part = self.objective(scored, whole)
            ((part.loss * float(counts) + idle) * count).backward()
            if counts:
                loss += float(part.loss.detach())
                sums.add(part.figures)
                # How far the model is from the sampling and from the reference, over tokens.
                now, tokens = scored.log_probs.detach(), float(scored.log_probs.numel())
                if scored.taught.behaviour is not None:
                    ratio = now - scored.taught.behaviour
                    sums.add({"ratio": (float(ratio.exp().sum()), tokens)})
                    sums.add({"ratio_squared": (float((2 * ratio).exp().sum()), tokens)})
                    sums.add({"kl_sampling": (_k3(-ratio), tokens)})
                if scored.reference is not None:
                    sums.add({"kl": (_k3(scored.reference - now), tokens)})
                sums.add({"padded_tokens": (sum(sheet.tokens for sheet in batch.sheets), 0)})
        return loss

    def _score(self, batch: MicroBatch, idle: int) -> tuple[ScoredUnits, Tensor | float]:
        """Return what the model thinks of the batch, and zero, with the gradient of so many passes
        that are made for the other processes only."""
        rows = [row for unit in batch.units for row in unit.rows]
        needs = self.objective.needs
        sheets, own = (*batch.sheets, *batch.sheets[:1] * idle), len(batch.sheets)
        before = None
        if self.reference is not None and "reference" in needs:
            parts = [self.reference(sheet, rows, self.reading) for sheet in sheets]
            before = _in_order(batch.sheets, parts[:own])
        read = [compute_likelihood(self.model, sheet, rows, self.reading) for sheet in sheets]
        log_probs = _in_order(batch.sheets, read[:own])
        scored = ScoredUnits(
            units=batch.units,
            taught=taught_tokens(rows, device=log_probs.device),
            log_probs=log_probs,
            reference=before,
        )
        return scored, sum((0 * each.sum() for each in read[own:]), 0.0)


def _in_order(sheets: Sequence[Sheet], values: Sequence[Tensor]) -> Tensor:
    """Return the sheets' values of taught tokens, by rows as they were given."""
    found: dict[int, Tensor] = {}
    for sheet, value in zip(sheets, values, strict=True):
        found |= zip(sheet.rows, value.split(sheet.counts), strict=True)
    return torch.cat([found[index] for index in sorted(found)])


def _k3(ratio: Tensor) -> float:
    """Sum of the estimate k3 of a divergence (Schulman 2020): exp(r) - r - 1."""
    value = float((ratio.exp() - ratio - 1).sum())
    return value if math.isfinite(value) else float("nan")


@dataclass(frozen=True, slots=True)
class Updated:
    """What one update did."""

    figures: dict[str, float]
    """Loss, gradient norm, tokens, divergences, ratios and whatever the objective reports."""
    skipped: bool
    """Whether nothing was changed, since the loss or the gradient was no number."""


class Trainer:
    """Holds the model, its optimiser and its reference; makes one update at a time."""

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        config: TrainConfig = DEFAULTS,
        *,
        reading: ForwardOptions = PLAIN,
        reference: nn.Module | None = None,
        adapter: Path | None = None,
    ) -> None:
        """Take the model over: `model` is it with its adapter, on its device.

        Without a `reference` a model refers to itself as it is now: a copy, of an adapter alone
        where it has one.
        `adapter` is the folder of one to go on with. Seeds PyTorch. Raises `SetupError` for
        adapters and modules that do not fit.
        """
        from accelerate import Accelerator  # type: ignore[import-untyped]

        self.accelerator = Accelerator()
        launched = self.accelerator.distributed_type.value
        if launched in ("DEEPSPEED", "MEGATRON_LM"):
            raise SetupError(
                f"launched with {launched}, which this trainer does not know: launch with"
                " --use_fsdp to part the weights over the GPUs, or with --multi_gpu to keep them"
                " whole on each"
            )
        self.is_sharded = is_sharding_asked() and self.accelerator.num_processes > 1
        """Whether each process holds a part of the weights only."""
        torch.manual_seed(config.seed)
        self.config = config
        self.objective = objective
        self.model = prepare_model(model, config, adapter)
        self.base = fingerprint(self.model) if is_adapted(self.model) else ""
        """What an adapter's base is known by."""
        if not self.is_sharded:  # else layer by layer, as a part of each
            self.model.to(self.accelerator.device)
        self.no_tree = "switched off" if not config.tree else find_tree_obstacle(self.model)
        """Why rows are not woven into trees; empty where they are."""
        self.no_image_tree = self.no_tree or find_image_tree_obstacle(self.model)
        held = None
        if "reference" in objective.needs and not is_adapted(self.model):
            held = Reference(self.model, reference)
            held.to(self.accelerator.device, self.is_sharded)
        if self.is_sharded:
            shard_model(self.model, self.accelerator.device)
        if "reference" in objective.needs and held is None:  # an adapter, split as it is trained
            held = Reference(self.model, reference)
            held.to(self.accelerator.device, self.is_sharded)
        place = self.accelerator.process_index, self.accelerator.num_processes
        self._learner = GradientAccumulator(
            self.model,
            objective,
            replace(reading, bf16=reading.bf16 or config.bf16),
            Packing(
                tokens=config.micro_batch_tokens,
                tree=not self.no_tree,
                image_tree=not self.no_image_tree,
                lane=config.lane_tokens,
                attention=attention_span(self.model),
                image_ids=image_ids(self.model),
            ),
            held,
            place if self.is_sharded else (0, 1),
        )
        self.optimizer = build_optimizer(self.model, config, self.accelerator.device)
        torch.manual_seed(config.seed + self.accelerator.process_index)

    @property
    def micro_batch_tokens(self) -> int:
        """As configured, or what was left of it after memory ran out."""
        return self._learner.packing.tokens

    @micro_batch_tokens.setter
    def micro_batch_tokens(self, tokens: int) -> None:
        packing = replace(self._learner.packing, tokens=tokens)
        self._learner = replace(self._learner, packing=packing)

    def log_probs(self, rows: Sequence[TokenRow]) -> list[Tensor]:
        """Return the log-probabilities in nats of each row's taught ids, by the current weights."""
        self.model.eval()
        with torch.no_grad():
            return compute_log_probs(self.model, rows, self._learner.packing, self._learner.reading)

    def update(self, units: Sequence[TrainingUnit], rate: float | None = None) -> Updated:
        """Take one step of the optimiser on the loss of these units, at this learning rate.

        Every process is given all units and takes its share. Raises `ModelError` when memory does
        not suffice for one unit at a time, and what the forward pass raises for rows that do not
        fit the objective or the model.
        """
        if not units:
            raise SetupError("an update needs at least one unit")
        name = type(self.objective).__name__
        rows = [row for unit in units for row in unit.rows]
        lacking = {
            "behaviour": sum(not row.log_probs for row in rows),
            "advantages": sum(not row.advantages for row in rows),
            "sides": sum(not 0 < unit.better < len(unit.rows) for unit in units),
        }
        for need, count in lacking.items():
            if need in self.objective.needs and count:
                what = {
                    "behaviour": "rows have no behaviour log-probabilities",
                    "advantages": "rows have no advantages",
                    "sides": "units have no chosen or no rejected row; make them with `pair_rows`",
                }[need]
                raise SetupError(f"{name} cannot learn from these units: {count} {what}")
        started, count = time.perf_counter(), self.accelerator.num_processes
        # Where weights are parted, passes are shared in place of units.
        mine = units if self.is_sharded else units[self.accelerator.process_index :: count]
        self.model.train()
        totals = count_totals(units)

        def attempt() -> tuple[float, FigureSums]:
            sums = FigureSums()
            return self._learner.accumulate(mine, totals, sums), sums

        loss, sums = self._retry(mine, attempt)
        if self.accelerator.num_processes > 1:
            held = torch.tensor(loss, dtype=torch.float64, device=self.accelerator.device)
            loss = float(self.accelerator.reduce(held, "sum"))
        norm = self._join_gradient()
        skipped = not (math.isfinite(loss) and math.isfinite(norm))
        rate = self.config.learning_rate if rate is None else rate
        if not skipped:
            self._apply(rate)
        self.optimizer.zero_grad(set_to_none=True)
        seconds = time.perf_counter() - started
        return Updated(_figures(units, (loss, norm, rate, seconds), sums), skipped)

    def save(self, folder: Path) -> None:
        """Write the weights, or the adapter, as transformers and peft load them; every process has
        to call it."""
        weights = gather(self.model.state_dict()) if self.is_sharded else None
        if not self.accelerator.is_main_process:
            return
        folder.mkdir(parents=True, exist_ok=True)
        model: Any = self.model
        if is_adapted(model):
            save_adapter(model, folder, self.base, weights)
        elif hasattr(model, "save_pretrained"):
            from transformers.utils.logging import disable_progress_bar

            disable_progress_bar()
            model.save_pretrained(folder, state_dict=weights)
        else:
            raise SetupError(
                f"{type(model).__name__} has no save_pretrained; its weights are in the checkpoints"
            )

    def _retry(self, mine: Sequence[TrainingUnit], attempt: Callable[[], _T]) -> _T:
        """Return what the attempt does, again with smaller micro-batches where memory runs out.

        Each starts from the same random numbers and without a gradient: nothing counts twice.
        """
        gpu = self.accelerator.device if self.accelerator.device.type == "cuda" else None
        state, gpu_state = torch.get_rng_state(), torch.cuda.get_rng_state(gpu) if gpu else None
        while True:
            self.optimizer.zero_grad(set_to_none=True)
            torch.set_rng_state(state)
            if gpu and gpu_state is not None:
                torch.cuda.set_rng_state(gpu_state, gpu)
            try:
                return attempt()
            except torch.OutOfMemoryError as error:
                reason = str(error).splitlines()[0] if str(error) else "no further word"
                if self.is_sharded:  # the others wait for this process in the middle of a pass
                    raise ModelError(
                        f"out of memory with {self.micro_batch_tokens} tokens a pass ({reason});"
                        " lower train.micro-batch-tokens, and start again to resume"
                    ) from error
            if gpu:
                torch.cuda.empty_cache()
            batches = micro_batches(mine, self._learner.packing)
            largest = max(sheet.tokens for batch in batches for sheet in batch.sheets)
            if all(len(batch.units) == 1 for batch in batches) or largest < 2:
                advice = "" if self.config.gradient_checkpointing else "gradient_checkpointing, "
                raise ModelError(
                    f"out of memory with one unit at a time, the largest of {largest} tokens"
                    f" ({reason}); take {advice}shorter rows, an adapter in place of full weights,"
                    " or a larger GPU"
                )
            self.micro_batch_tokens = min(self.micro_batch_tokens, largest) // 2

    def _join_gradient(self) -> float:
        """Sum the gradients of all processes, clip them; their norm before."""
        learnt = [p for p in self.model.parameters() if p.requires_grad]
        if self.accelerator.num_processes > 1 and not self.is_sharded:
            for parameter in learnt:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                parameter.grad = self.accelerator.reduce(parameter.grad, "sum")
        norm = nn.utils.clip_grad_norm_(learnt, self.config.clip or math.inf)
        return float(gather(norm))

    def _apply(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        try:
            self.optimizer.step()
        except torch.OutOfMemoryError as error:
            raise ModelError(
                "out of memory for the optimiser's state, two numbers a weight; train an adapter in"
                " place of full weights, or resume on a larger GPU"
            ) from error


def _figures(
    units: Sequence[TrainingUnit], result: tuple[float, float, float, float], sums: FigureSums
) -> dict[str, float]:
    loss, norm, rate, seconds = result
    figures = sums.means()
    tokens = sum(unit.tokens for unit in units)
    if "ratio" in figures:
        variance = figures.pop("ratio_squared") - figures["ratio"] ** 2
        figures["ratio_deviation"] = math.sqrt(max(0.0, variance))
    return {
        "loss": loss,
        "gradient_norm": norm,
        "learning_rate": rate,
        "tokens": float(tokens),
        "tokens_per_second": tokens / max(seconds, 1e-9),
        "imagined": sum(unit.tokens for unit in units if unit.imagined) / max(1, tokens),
        "peak_memory": float(peak_memory()),
        **figures,
    }


def peak_memory() -> int:
    """Return the most bytes held so far: on the GPU where there is one, else by the process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
