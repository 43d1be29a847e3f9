"""The trainer: fits the built-in network to rows within a budget of tokens."""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from webagent.models.builtin.layout import LINES, PromptField
from webagent.models.builtin.network import PrefixLM, collate
from webagent.training.rows import TrainingRow

_WEIGHT_DECAY = 0.02
_WORD_DROPOUT = 0.15
"""Chance that a known word is hidden from a row, so that identity and relations suffice."""
_AVERAGE_FROM = 0.6
"""Weights are averaged over the training's last part, from this fraction on."""


@dataclass(frozen=True)
class FitConfig:
    """How to train."""

    tokens: int = 600_000
    """Prompt and target tokens to go through, padding not counted."""
    batch_tokens: int = 1_000
    """Tokens in a batch, padding counted."""
    learning_rate: float = 2e-3
    """Peak; warmed up over the first twentieth, then a cosine down to a twentieth."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class FitReport:
    """What a training did."""

    tokens: int
    updates: int
    seconds: float
    cpu_seconds: float
    """Processor time over all threads."""
    passes: float
    """How often it went over the rows, by their tokens."""
    loss: float
    """Mean loss per target token over the last tenth, in nats."""
    imagined: int = 0
    """Those of the tokens that are of imagined rows, which a language model may be trained on."""


def fit(
    network: PrefixLM,
    rows: Sequence[TrainingRow],
    config: FitConfig,
    progress: Callable[[float, float], None] = lambda fraction, loss: None,
) -> FitReport:
    """Train in place. Raises `ValueError` when there are no rows."""
    if not rows:
        raise ValueError("nothing to train on: no rows")
    started, cpu_started = time.monotonic(), time.process_time()
    rng = np.random.default_rng(config.seed)
    torch.manual_seed(config.seed)
    optimizer = _make_optimizer(network, config)
    network.train()
    used, updates = 0, 0
    losses: list[float] = []
    average: dict[str, Tensor] | None = None
    for batch_rows in _batch_rows(rows, config, rng):
        fraction = used / config.tokens
        if fraction >= 1:
            break
        warm = min(1.0, (fraction + 0.002) / 0.05)
        rate = warm * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(1.0, fraction))))
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * rate
        loss = _compute_loss(network, batch_rows)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        used += sum(row.tokens for row in batch_rows)
        updates += 1
        losses.append(float(loss.detach()))
        if fraction >= _AVERAGE_FROM:
            now = network.state_dict()
            if average is None:
                average = {name: value.detach().clone() for name, value in now.items()}
            else:
                # An exponential average with a horizon of about 50 updates.
                for name, value in now.items():
                    average[name].lerp_(value.detach(), 0.02)
        progress(used / config.tokens, losses[-1])
    if average is not None:
        network.load_state_dict(average)
    network.train(False)
    tail = losses[-max(1, len(losses) // 10) :]
    return FitReport(
        tokens=used,
        updates=updates,
        seconds=time.monotonic() - started,
        cpu_seconds=time.process_time() - cpu_started,
        passes=used / sum(row.tokens for row in rows),
        loss=sum(tail) / len(tail),
    )


def _make_optimizer(network: PrefixLM, config: FitConfig) -> torch.optim.AdamW:
    """Return AdamW that decays matrices only, not biases and norms."""
    matrices = [p for p in network.parameters() if p.ndim > 1]
    vectors = [p for p in network.parameters() if p.ndim <= 1]
    groups = [
        {"params": matrices, "weight_decay": _WEIGHT_DECAY},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.98), fused=True)


def _batch_rows(
    rows: Sequence[TrainingRow], config: FitConfig, rng: np.random.Generator
) -> Iterator[list[TrainingRow]]:
    """Yield endless batches of rows of like length, from one sample of the rows after another."""
    by_group: defaultdict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        by_group[row.group].append(i)
    groups = [np.array(indices) for indices in by_group.values()]
    size = max(1, round(len(rows) / len(groups)))
    while True:
        # Equally many rows of each group, those of small groups again.
        sampled: list[int] = []
        for indices in groups:
            passes = -(-size // len(indices))
            picks = np.concatenate([rng.permutation(indices) for _ in range(passes)])
            sampled.extend(picks[:size].tolist())
        order = [sampled[i] for i in rng.permutation(len(sampled))]
        pools = [order[i : i + 512] for i in range(0, len(order), 512)]
        batches: list[list[TrainingRow]] = []
        for pool in pools:
            group: list[TrainingRow] = []
            for index in sorted(pool, key=lambda i: len(rows[i].prefix)):
                row = rows[index]
                if group and (len(group) + 1) * row.tokens > config.batch_tokens:
                    batches.append(group)
                    group = []
                group.append(row)
            batches.append(group)
        for i in rng.permutation(len(batches)):
            yield batches[i]


def _compute_loss(network: PrefixLM, rows: Sequence[TrainingRow]) -> Tensor:
    """Return cross-entropy per target token; a row of negative weight is made less likely.

    Such a row's loss is -log(1 - p) with p the probability of the whole target: the unlikelihood of
    Welleck et al. 2020 (arXiv 1908.04319), on sequences instead of tokens.
    """
    batch = collate([r.prefix for r in rows], [r.inputs for r in rows], [r.slots for r in rows])
    # Some known words are hidden and the line numbers shifted.
    hidden = torch.rand(len(batch.ids), network.config.capacity) < _WORD_DROPOUT
    is_word = (
        (batch.fields == PromptField.GOAL)
        | (batch.fields >= PromptField.NAME)
        | (batch.fields == PromptField.HISTORY)
    )
    dropped = hidden.gather(1, batch.ids) & is_word
    shift = torch.randint(0, LINES, (len(batch.ids), 1))
    lines = torch.where(batch.lines > 0, batch.lines + shift, batch.lines)
    logits = network(replace(batch, ids=batch.ids.masked_fill(dropped, 0), lines=lines))
    targets = torch.full(batch.inputs.shape, -100)
    for i, row in enumerate(rows):
        targets[i, : len(row.targets)] = torch.tensor(row.targets)
    losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    losses = losses.view(targets.shape)
    weights = torch.tensor([row.weight for row in rows])
    taught = (losses * weights.clamp(min=0)[:, None]).sum()
    chance = torch.exp(-losses.sum(1)).clamp(max=0.999)
    avoided = -torch.log1p(-chance) * (-weights).clamp(min=0)
    counts = torch.tensor([len(row.targets) for row in rows])
    return (taught + avoided.sum()) / (counts * weights.abs()).sum().clamp(min=1e-6)
