"""Loss and gradients equal to those of TRL's own trainers, on the same rows and weights."""

import logging
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.fakes.tiny_models import causal
from tests.webagent.training.language.episodes import played, sampled
from tests.webagent.training.language.small import log_probs
from webagent.training.language.losses import (
    Pairs,
    policy_gradient,
    preferences,
    supervised,
    taught_tokens,
)
from webagent.training.language.rows import TokenRow, make_step_rows, merge_rows
from webagent.training.language.selection import compute_group_advantages

pytestmark = [
    pytest.mark.very_slow,
    # TRL's configurations set what transformers has renamed.
    pytest.mark.filterwarnings("ignore:`(is_)?gradient_checkpointing` is deprecated:FutureWarning"),
]

LOG = logging.getLogger(__name__)
TOLERANCE = 1e-5
VOCABULARY = 300


def load(folder: Path) -> nn.Module:
    """The weights of a folder, without dropout, ready to be trained."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).train()


@dataclass
class Bench:
    """Two sets of weights and what TRL's trainers need beside them."""

    policy: Path
    reference: Path
    scratch: Path

    def config(self, make: Callable[..., Any], **fields: Any) -> Any:
        """A TRL configuration that does nothing of its own accord."""
        return make(
            output_dir=str(self.scratch),
            use_cpu=True,
            bf16=False,
            report_to="none",
            gradient_checkpointing=False,
            per_device_train_batch_size=4,
            **fields,
        )


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Small random models, offline, on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        policy, reference, scratch = (tmp_path_factory.mktemp(name) for name in "prs")
        causal(policy, seed=1)
        causal(reference, seed=2)
        yield Bench(policy, reference, scratch)
    torch.set_num_threads(threads)


@cache
def tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def made_rows(count: int = 4, seed: int = 0, advantages: Sequence[float] = ()) -> list[TokenRow]:
    """A row for each of so many episodes of one step, of different lengths."""
    dice = random.Random(seed)
    rows = []
    for index in range(count):
        prompt = tuple(dice.randrange(10, VOCABULARY) for _ in range(dice.randint(5, 12)))
        reply = tuple(dice.randrange(10, VOCABULARY) for _ in range(dice.randint(2, 9)))
        behaviour = tuple(-dice.uniform(4.0, 7.0) for _ in reply)
        episode = played(sampled(prompt, reply, log_probs=behaviour), id=str(index))
        rows += make_step_rows(episode, advantages=[advantages[index]] if advantages else None)
    return rows


def conversation() -> TokenRow:
    """An episode whose every prompt goes on from the reply before, merged; its second step is
    left out."""
    decisions, history = [], (11, 12, 13)
    for reply in ((21, 22), (23,), (24, 25, 26)):
        decisions.append(sampled(history, reply))
        history = (*history, *reply, 99, 98)
    [row] = merge_rows(make_step_rows(played(*decisions), weights=[1, 0, 1]))
    return row


def split(row: TokenRow) -> tuple[list[int], list[int]]:
    """The first prompt, and all that follows."""
    start = row.spans[0][0]
    return list(row.ids[:start]), list(row.ids[start:])


def gradients(model: nn.Module) -> dict[str, Tensor]:
    """The gradient of every parameter, by name; none is left out."""
    found = {name: p.grad for name, p in model.named_parameters()}
    assert found and all(g is not None and g.abs().max() > 0 for g in found.values())
    return {name: gradient for name, gradient in found.items() if gradient is not None}


def agree(name: str, ours: Tensor, own: nn.Module, theirs: Tensor, other: nn.Module) -> None:
    """Both losses and all gradients are equal within the tolerance."""
    ours.backward()
    theirs.backward()
    mine, others = gradients(own), gradients(other)
    assert mine.keys() == others.keys()
    off = abs(ours.item() - theirs.item())
    apart = max(float((mine[key] - others[key]).abs().max()) for key in mine)
    largest = max(float(gradient.abs().max()) for gradient in others.values())
    LOG.info("%s: loss %.6f off by %.1e", name, theirs.item(), off)
    LOG.info("%s: gradients up to %.2e off by %.1e", name, largest, apart)
    assert off < TOLERANCE and apart < TOLERANCE
    assert apart < 1e-4 * largest


def test_supervised_is_equal_to_sft_trainer(bench: Bench) -> None:
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    rows = [conversation(), *made_rows(3)]
    labels = [[i if w else -100 for i, w in zip(row.ids, row.weights, strict=True)] for row in rows]
    examples = [{"input_ids": list(r.ids), "labels": x} for r, x in zip(rows, labels, strict=True)]
    config = bench.config(SFTConfig, max_length=None, dataset_kwargs={"skip_prepare_dataset": True})
    trainer = SFTTrainer(
        load(bench.policy),
        args=config,
        train_dataset=Dataset.from_list(examples),
        processing_class=tokenizer(bench.policy),
    )
    theirs = trainer.compute_loss(trainer.model, dict(trainer.data_collator(examples)))
    own = load(bench.policy)
    ours = supervised(log_probs(own, rows), taught_tokens(rows).weights)
    agree("sft", ours, own, theirs, trainer.model)


@pytest.mark.parametrize("beta", [0.1, 0.5])
def test_preferences_are_equal_to_dpo_trainer(bench: Bench, beta: float) -> None:
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    chosen, other = made_rows(4, seed=3), made_rows(4, seed=4)
    rejected = []
    for good, bad in zip(chosen, other, strict=True):
        decision = sampled(tuple(split(good)[0]), tuple(split(bad)[1]))
        rejected += make_step_rows(played(decision, id=bad.episode))
    examples = []
    for good, bad in zip(chosen, rejected, strict=True):
        prompt, won = split(good)
        examples.append({"prompt_ids": prompt, "chosen_ids": won, "rejected_ids": split(bad)[1]})
    trainer = DPOTrainer(
        load(bench.policy),
        ref_model=load(bench.reference),
        args=bench.config(DPOConfig, beta=beta, max_length=None),
        train_dataset=Dataset.from_list([{"prompt": "a", "chosen": "b", "rejected": "c"}] * 4),
        processing_class=tokenizer(bench.policy),
    )
    theirs = trainer.compute_loss(trainer.model, dict(trainer.data_collator(examples)))
    own, reference = load(bench.policy), load(bench.reference)

    def sums(model: nn.Module, rows: Sequence[TokenRow]) -> Tensor:
        counts = [sum(map(bool, row.weights)) for row in rows]
        return torch.stack([part.sum() for part in log_probs(model, rows).split(counts)])

    with torch.no_grad():
        frozen = sums(reference, chosen), sums(reference, rejected)
    ours = preferences(Pairs(sums(own, chosen), sums(own, rejected), *frozen), beta)
    agree(f"dpo beta {beta}", ours, own, theirs, trainer.model)


GROUPS = {
    "dapo": ({}, {}),
    "several turns": ({}, {}),
    "with divergence": ({"penalty": 0.3}, {"beta": 0.3}),
    "stale": ({"cap": 1.3}, {}),
}


@pytest.mark.parametrize("name", GROUPS)
def test_policy_gradients_are_equal_to_grpo_trainer(bench: Bench, name: str) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    options, fields = GROUPS[name]
    temperature = 0.8
    rewards = {"0": 1.0, "1": 0.0, "2": 0.0, "3": 0.3}
    advantages = compute_group_advantages(rewards, dict.fromkeys(rewards, "task"))
    rows = made_rows(4, seed=6, advantages=[advantages[str(i)] for i in range(4)])
    if name.endswith("turns"):
        row = conversation()
        # TRL takes what follows the first prompt for one sequence.
        whole = replace(row, episode="0", steps=(0,), spans=((row.spans[0][0], len(row.ids)),))
        rows[0] = whole.with_advantage(advantages["0"])
    own = load(bench.policy)
    with torch.no_grad():
        near = log_probs(own, rows, temperature)
        sampling = near + torch.linspace(-0.6, 0.6, len(near))
    rows = with_behaviour(rows, sampling)
    config = bench.config(
        GRPOConfig,
        num_generations=4,
        temperature=temperature,
        loss_type="dapo",
        max_completion_length=16,
        **fields,
    )
    trainer = GRPOTrainer(
        load(bench.policy),
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=config,
        train_dataset=Dataset.from_list([{"prompt": "a"}] * 4),
        processing_class=tokenizer(bench.policy),
    )
    trainer.current_gradient_accumulation_steps = 1
    taught = taught_tokens(rows)
    with torch.no_grad():
        frozen = log_probs(load(bench.reference), rows, temperature)
    inputs = generated(rows, tokenizer(bench.policy).pad_token_id, near, frozen)
    # As TRL calls it where vLLM sampled.
    trainer.use_vllm = trainer.vllm_importance_sampling_correction = True
    ratios = (near - sampling).exp().clamp(max=options.get("cap", 2.0))
    inputs["importance_sampling_ratio"] = padded(rows, ratios)
    inputs["advantages"] = torch.tensor([advantages[row.episode] for row in rows])
    theirs = trainer.compute_loss(trainer.model, inputs)
    ours = policy_gradient(
        log_probs(own, rows, temperature),
        taught,
        reference=frozen if "penalty" in options else None,
        **options,
    )
    agree(name, ours, own, theirs, trainer.model)


def with_behaviour(rows: Sequence[TokenRow], sampling: Tensor) -> list[TokenRow]:
    """The rows as if sampled with these log-probabilities."""
    values = iter(sampling.tolist())
    return [
        replace(row, log_probs=tuple(next(values) if w else 0.0 for w in row.weights))
        for row in rows
    ]


def generated(rows: Sequence[TokenRow], pad: int, old: Tensor, frozen: Tensor) -> dict[str, Tensor]:
    """What TRL's rollout would have handed to the loss: prompts padded left, replies right."""
    pairs = [split(row) for row in rows]
    longest = max(len(prompt) for prompt, _ in pairs)
    width = max(len(reply) for _, reply in pairs)
    lengths = [len(reply) for _, reply in pairs]
    replies = [[*reply, *[pad] * (width - len(reply))] for _, reply in pairs]
    return {
        "prompt_ids": torch.tensor([[*[pad] * (longest - len(p)), *p] for p, _ in pairs]),
        "prompt_mask": torch.tensor([[*[0] * (longest - len(p)), *[1] * len(p)] for p, _ in pairs]),
        "completion_ids": torch.tensor(replies),
        "completion_mask": torch.tensor([[1] * n + [0] * (width - n) for n in lengths]),
        "tool_mask": padded(rows, torch.ones_like(old)).long(),
        "old_per_token_logps": padded(rows, old),
        "ref_per_token_logps": padded(rows, frozen),
        "num_items_in_batch": torch.tensor(float(len(old))),
    }


def padded(rows: Sequence[TokenRow], values: Tensor) -> Tensor:
    """Values of the taught tokens at their places in the replies, zeros elsewhere."""
    taught = iter(values)
    zero = torch.zeros(())
    lines = []
    for row in rows:
        weights = row.weights[row.spans[0][0] :]
        lines.append(torch.stack([next(taught) if weight else zero for weight in weights]))
    return nn.utils.rnn.pad_sequence(lines, batch_first=True)
