"""Updates by TRL's own trainers on rows of ours: their collators and losses, AdamW around them."""

import logging
import tempfile
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from webagent.training.language.rows import TokenRow
from webagent.training.language.units import TrainingUnit

warnings.filterwarnings("ignore", category=FutureWarning)
logging.getLogger("trl").setLevel(logging.ERROR)


def theirs(
    kind: str,
    policy: nn.Module,
    reference: nn.Module,
    rows: Sequence[TokenRow],
    units: Sequence[TrainingUnit],
    rate: float,
) -> tuple[nn.Module, Callable[[], object]]:
    """The model and its update. Raises `ImportError` where TRL is missing."""
    trainer, batch = _MAKERS[kind](policy, reference, rows, units)
    model = trainer.model
    model.train()
    groups = [
        {"params": [p for p in model.parameters() if p.ndim > 1]},
        {"params": [p for p in model.parameters() if p.ndim <= 1]},
    ]
    fused = next(model.parameters()).is_cuda
    optimizer = torch.optim.AdamW(
        groups, lr=rate, betas=(0.9, 0.999), weight_decay=0.0, fused=fused
    )

    def update() -> float:
        loss = trainer.compute_loss(model, _moved(batch(), model))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    return model, update


def _moved(batch: dict[str, Any], model: nn.Module) -> dict[str, Any]:
    device = next(model.parameters()).device
    return {n: v.to(device) if isinstance(v, Tensor) else v for n, v in batch.items()}


def _config(make: Callable[..., Any], **fields: Any) -> Any:
    return make(
        output_dir=tempfile.mkdtemp(),
        use_cpu=not torch.cuda.is_available(),
        bf16=False,
        report_to="none",
        gradient_checkpointing=False,
        per_device_train_batch_size=8,
        **fields,
    )


def _tokenizer() -> Any:
    """A tokenizer that the trainers ask for and that nothing here is tokenised with."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {f"<{i}>": i for i in range(3)} | {"a": 3, "b": 4, "c": 5}
    made = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="<0>")),
        pad_token="<0>",
        bos_token="<1>",
        eos_token="<2>",
    )
    made.chat_template = "{% for message in messages %}{{ message.content }}{% endfor %}"
    return made


def _data(rows: list[dict[str, Any]]) -> Any:
    from datasets import Dataset, disable_progress_bars

    disable_progress_bars()
    return Dataset.from_list(rows)


def _split(row: TokenRow) -> tuple[list[int], list[int]]:
    start = row.spans[0][0]
    return list(row.ids[:start]), list(row.ids[start:])


def _sft(
    policy: nn.Module, _: nn.Module, rows: Sequence[TokenRow], __: Sequence[TrainingUnit]
) -> Any:
    from trl import SFTConfig, SFTTrainer

    examples = [
        {
            "input_ids": list(r.ids),
            "labels": [i if w else -100 for i, w in zip(r.ids, r.weights, strict=True)],
        }
        for r in rows
    ]
    config = _config(SFTConfig, max_length=None, dataset_kwargs={"skip_prepare_dataset": True})
    trainer = SFTTrainer(
        policy, args=config, train_dataset=_data(examples), processing_class=_tokenizer()
    )
    return trainer, lambda: dict(trainer.data_collator(examples))


def _dpo(
    policy: nn.Module, reference: nn.Module, _: Sequence[TokenRow], units: Sequence[TrainingUnit]
) -> Any:
    from trl import DPOConfig, DPOTrainer

    examples = []
    for unit in units:
        (prompt, won), (_, lost) = (_split(each) for each in unit.rows)
        examples.append({"prompt_ids": prompt, "chosen_ids": won, "rejected_ids": lost})
    trainer = DPOTrainer(
        policy,
        ref_model=reference,
        args=_config(DPOConfig, beta=0.1, max_length=None),
        train_dataset=_data([{"prompt": "a", "chosen": "b", "rejected": "c"}] * 4),
        processing_class=_tokenizer(),
    )
    return trainer, lambda: dict(trainer.data_collator(examples))


def _grpo(
    policy: nn.Module, _: nn.Module, rows: Sequence[TokenRow], __: Sequence[TrainingUnit]
) -> Any:
    from trl import GRPOConfig, GRPOTrainer

    longest = max(len(_split(row)[1]) for row in rows)
    config = _config(GRPOConfig, num_generations=8, max_completion_length=longest, temperature=1.0)
    trainer = GRPOTrainer(
        policy,
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=config,
        train_dataset=_data([{"prompt": "a"}] * 8),
        processing_class=_tokenizer(),
    )
    trainer.current_gradient_accumulation_steps = 1
    return trainer, lambda: _generated(rows, longest)


def _generated(rows: Sequence[TokenRow], longest: int) -> dict[str, Tensor]:
    """What TRL's rollout hands to its loss."""
    start = rows[0].spans[0][0]
    filled = [longest - len(row.ids) + start for row in rows]
    replies = [[*row.ids[start:], *[0] * more] for row, more in zip(rows, filled, strict=True)]
    mask = [[1] * (longest - more) + [0] * more for more in filled]
    prompts = torch.tensor([row.ids[:start] for row in rows])
    return {
        "prompt_ids": prompts,
        "prompt_mask": torch.ones_like(prompts),
        "completion_ids": torch.tensor(replies),
        "completion_mask": torch.tensor(mask),
        "advantages": torch.tensor([row.advantages[start] for row in rows]),
        "num_items_in_batch": torch.tensor(float(sum(map(sum, mask)))),
    }


_MAKERS = {"sft": _sft, "dpo": _dpo, "grpo": _grpo}
