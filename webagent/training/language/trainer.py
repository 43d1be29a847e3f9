"""The trainer of language and vision-language models, whatever they are to learn: one update.

The same one serves policy, world model and reward model; they differ in rows and objective.
"""

import math
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from webagent.errors import ModelError, SetupError
from webagent.training.language.adapters import is_adapted, save_adapter
from webagent.training.language.config import DEFAULTS, TrainConfig
from webagent.training.language.intake import Unit
from webagent.training.language.likelihood import PLAIN, Reading, image_ids
from webagent.training.language.metrics import Tally
from webagent.training.language.objective import Objective, Whole, whole
from webagent.training.language.packing import Packing
from webagent.training.language.preparation import optimizer, prepared
from webagent.training.language.reference import Figures, Reference
from webagent.training.language.update import Learner, micro_batches
from webagent.training.language.weaving import attention_span, no_image_tree, no_tree

_T = TypeVar("_T")


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
        reading: Reading = PLAIN,
        reference: "nn.Module | Figures | None" = None,
        adapter: Path | None = None,
    ) -> None:
        """Takes the model over: `model` is it with its adapter, on its device.

        `reference` is another model or figures of `reference.figures`; without it an adapted model
        refers to its base, another to a copy of itself. `adapter` is the folder of one to go on
        with. Seeds PyTorch. Raises `SetupError` for adapters and modules that do not fit.
        """
        from accelerate import Accelerator  # type: ignore[import-untyped]

        self.accelerator = Accelerator()
        _check_launch(self.accelerator)
        torch.manual_seed(config.seed)
        self.config = config
        self.objective = objective
        self.model = prepared(model, config, adapter).to(self.accelerator.device)
        self.no_tree = "switched off" if not config.tree else no_tree(self.model)
        """Why rows are not woven into trees; empty where they are."""
        self.no_image_tree = self.no_tree or no_image_tree(self.model)
        held = None
        if "reference" in objective.needs:
            held = Reference(self.model, reference)
            held.to(self.accelerator.device)
        self._learner = Learner(
            self.model,
            objective,
            replace(reading, bf16=reading.bf16 or config.bf16),
            self._packing(config),
            held,
        )
        self.optimizer = optimizer(self.model, config, self.accelerator.device)
        torch.manual_seed(config.seed + self.accelerator.process_index)

    @property
    def micro_batch_tokens(self) -> int:
        """As configured, or what was left of it after memory ran out."""
        return self._learner.packing.tokens

    @micro_batch_tokens.setter
    def micro_batch_tokens(self, tokens: int) -> None:
        packing = replace(self._learner.packing, tokens=tokens)
        self._learner = replace(self._learner, packing=packing)

    def update(self, units: Sequence[Unit], rate: float | None = None) -> Updated:
        """One step of the optimiser on the loss of these units, at this learning rate.

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
                    "sides": "units have no chosen or no rejected row; make them with `pair`",
                }[need]
                raise SetupError(f"{name} cannot learn from these units: {count} {what}")
        started = time.perf_counter()
        mine = self._share(units)
        self.model.train()
        sizes = self._whole(units)
        loss, tally = self._retried(mine, lambda: self._gradient(mine, sizes))
        loss = self._summed(loss)
        norm = self._joined_gradient()
        skipped = not (math.isfinite(loss) and math.isfinite(norm))
        rate = self.config.learning_rate if rate is None else rate
        if not skipped:
            self._apply(rate)
        self.optimizer.zero_grad(set_to_none=True)
        seconds = time.perf_counter() - started
        return Updated(_figures(units, (loss, norm, rate, seconds), tally), skipped)

    def save(self, folder: Path) -> None:
        """Write the weights, or the adapter, as transformers and peft load them."""
        if not self.accelerator.is_main_process:
            return
        folder.mkdir(parents=True, exist_ok=True)
        model: Any = self.model
        if is_adapted(model):
            save_adapter(model, folder)
        elif hasattr(model, "save_pretrained"):
            model.save_pretrained(folder)
        else:
            raise SetupError(
                f"{type(model).__name__} has no save_pretrained; its weights are in the checkpoints"
            )

    def _packing(self, config: TrainConfig) -> Packing:
        return Packing(
            tokens=config.micro_batch_tokens,
            tree=not self.no_tree,
            image_tree=not self.no_image_tree,
            lane=config.lane_tokens,
            attention=attention_span(self.model),
            image_ids=image_ids(self.model),
        )

    def _share(self, whole: Sequence[_T]) -> Sequence[_T]:
        """What of it is this process's."""
        return whole[self.accelerator.process_index :: self.accelerator.num_processes]

    def _whole(self, units: Sequence[Unit]) -> Whole:
        extra = self._share(self.objective.extra(units))
        total, count = self._retried(
            [Unit((row,)) for row in extra], lambda: self._learner.log_ratios(extra)
        )
        return replace(whole(units), extra=(self._summed(total), self._summed(count)))

    def _gradient(self, mine: Sequence[Unit], sizes: Whole) -> tuple[float, Tally]:
        tally = Tally()
        return self._learner.accumulate(mine, sizes, tally), tally

    def _retried(self, mine: Sequence[Unit], attempt: Callable[[], _T]) -> _T:
        """The attempt, again with smaller micro-batches where memory runs out, from the same
        random numbers and without a gradient, so that nothing counts twice."""
        gpu = self.accelerator.device if self.accelerator.device.type == "cuda" else None
        dice, gpu_dice = torch.get_rng_state(), torch.cuda.get_rng_state(gpu) if gpu else None
        while True:
            self.optimizer.zero_grad(set_to_none=True)
            torch.set_rng_state(dice)
            if gpu and gpu_dice is not None:
                torch.cuda.set_rng_state(gpu_dice, gpu)
            try:
                return attempt()
            except torch.OutOfMemoryError as error:
                said = str(error).splitlines()[0] if str(error) else "no further word"
            if gpu:
                torch.cuda.empty_cache()
            self._shrink(mine, said)

    def _shrink(self, mine: Sequence[Unit], said: str) -> None:
        batches = micro_batches(mine, self._learner.packing)
        largest = max(sheet.tokens for batch in batches for sheet in batch.sheets)
        if all(len(batch.units) == 1 for batch in batches) or largest < 2:
            advice = "" if self.config.gradient_checkpointing else "gradient_checkpointing, "
            raise ModelError(
                f"out of memory with one unit at a time, the largest of {largest} tokens ({said});"
                f" take {advice}shorter rows, an adapter in place of full weights, or a larger GPU"
            )
        self.micro_batch_tokens = min(self.micro_batch_tokens, largest) // 2

    def _joined_gradient(self) -> float:
        """Sum the gradients of all processes, clip them; their norm before."""
        learnt = [p for p in self.model.parameters() if p.requires_grad]
        if self.accelerator.num_processes > 1:
            for parameter in learnt:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                parameter.grad = self.accelerator.reduce(parameter.grad, "sum")
        norm = nn.utils.clip_grad_norm_(learnt, self.config.clip or math.inf)
        return float(norm)

    def _summed(self, value: float) -> float:
        if self.accelerator.num_processes == 1:
            return value
        held = torch.tensor(value, dtype=torch.float64, device=self.accelerator.device)
        return float(self.accelerator.reduce(held, "sum"))

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
    units: Sequence[Unit], result: tuple[float, float, float, float], tally: Tally
) -> dict[str, float]:
    loss, norm, rate, seconds = result
    figures = tally.means()
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
    """Most bytes held so far: on the GPU where there is one, else by the process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _check_launch(accelerator: Any) -> None:
    if accelerator.distributed_type.value in ("FSDP", "DEEPSPEED", "MEGATRON_LM"):
        raise SetupError(
            f"launched with {accelerator.distributed_type.value}, which parts the weights; this"
            " trainer keeps them whole on every GPU: launch with --multi_gpu"
        )
