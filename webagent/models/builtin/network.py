"""The network: a small prefix language model that can copy, shared by all built-in roles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PretrainedConfig, PreTrainedModel

from webagent.models.builtin.features import FEATURES
from webagent.models.builtin.layout import LINES, PLACES, PromptField
from webagent.models.builtin.prefix import Prefix
from webagent.models.builtin.relations import RELATIONS, Relation
from webagent.models.builtin.vocabulary import SLOT_KINDS


class PrefixLMConfig(PretrainedConfig):
    """Sizes of the network, and the words it knows so that a saved model is complete."""

    model_type = "webagent_prefix_lm"

    def __init__(
        self,
        capacity: int = 2048,
        width: int = 128,
        depth: int = 4,
        heads: int = 4,
        dropout: float = 0.1,
        words: list[str] | None = None,
        **kwargs: Any,
    ):
        self.capacity = capacity
        self.width = width
        self.depth = depth
        self.heads = heads
        self.dropout = dropout
        self.words = words or []
        super().__init__(**kwargs)


@dataclass(frozen=True, slots=True)
class Batch:
    """B padded prompts of at most T tokens with targets of at most M tokens (fed in shifted)."""

    ids: Tensor
    """(B, T) vocabulary ids; padding has field -1."""
    fields: Tensor
    """(B, T) `Field`, -1 where padded."""
    places: Tensor
    """(B, T)"""
    lines: Tensor
    """(B, T)"""
    features: Tensor
    """(B, T, FEATURES) float"""
    relations: Tensor
    """(B, T, T) int32 bit sets over `Relation`."""
    inputs: Tensor
    """(B, M) output ids fed to the decoder: the start token, then the target shifted by one."""
    slots: Tensor
    """(B, M) index into `SLOT_KINDS` of what is to be said at each place."""


@dataclass(frozen=True, slots=True)
class PrefixState:
    """What a prefix leaves behind for decoding: per layer keys and values, and copy keys."""

    layers: tuple[tuple[Tensor, Tensor], ...]
    """Keys and values, each (B, H, S, D / H); S grows as tokens are decoded."""
    copy_keys: Tensor
    """(B, T, D)"""
    ids: Tensor
    """(B, T)"""
    features: Tensor
    """(B, T, FEATURES)"""
    padding: Tensor
    """(B, T) True where padded."""


class _Block(nn.Module):
    """Pre-norm transformer layer with an additive attention bias."""

    def __init__(self, config: PrefixLMConfig):
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.dropout = config.dropout
        self.norm_attention = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm_mlp = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(
        self, x: Tensor, bias: Tensor, past: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """x (B, S, D), bias (B, H, S, past + S) -> the same shape as x, keys and values."""
        batch, size, width = x.shape
        qkv = self.qkv(self.norm_attention(x)).view(batch, size, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        mixed = self.out(mixed.transpose(1, 2).reshape(batch, size, width))
        x = x + F.dropout(mixed, self.dropout, self.training)
        hidden = self.down(F.gelu(self.up(self.norm_mlp(x))))
        return x + F.dropout(hidden, self.dropout, self.training), (key, value)


class PrefixLM(PreTrainedModel):
    """Reads a prefix with full attention, writes a target causally, copies from the prefix.

    Output ids are one softmax over the vocabulary and the T positions of the prefix (a pointer
    network, Vinyals et al. 2015, beside a language-model head). The pointer's score has a learned
    bonus at the position after the last one copied, so repeating a stretch costs nothing to learn.
    """

    config_class = PrefixLMConfig
    config: PrefixLMConfig

    def __init__(self, config: PrefixLMConfig):
        super().__init__(config)
        width = config.width
        self.words = nn.Embedding(config.capacity, width)
        self.fields = nn.Embedding(len(PromptField), width)
        self.places = nn.Embedding(PLACES, width)
        self.lines = nn.Embedding(2 * LINES, width)
        self.slots = nn.Embedding(len(SLOT_KINDS), width)
        self.features = nn.Linear(FEATURES, width)
        self.copied_features = nn.Linear(FEATURES, width, bias=False)
        self.relation_bias = nn.Parameter(torch.zeros(RELATIONS, config.depth * config.heads))
        self.blocks = nn.ModuleList(_Block(config) for _ in range(config.depth))
        self.norm = nn.LayerNorm(width)
        self.vocabulary_head = nn.Linear(width, config.capacity)
        self.copy_query = nn.Linear(width, width)
        self.copy_key = nn.Linear(width, width)
        self.continue_bonus = nn.Parameter(torch.ones(1))
        self.post_init()  # type: ignore[no-untyped-call]

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.04)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.04)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        if module is self:
            with torch.no_grad():
                self.relation_bias.normal_(std=0.2)
                self.continue_bonus.fill_(1.0)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits (B, M, capacity + T) of every target place, in one pass."""
        size, padding = batch.ids.shape[1], batch.fields < 0
        # The position each input token was copied from, (B, M); negative when it was not.
        copied = batch.inputs - self.config.capacity
        source = (batch.ids, batch.features)
        outputs = self._embed_outputs(batch.inputs, source, batch.slots, 0)
        x = torch.cat([self._embed_prefix(batch), outputs], 1)
        bias = self._bias(batch, copied, padding)
        for block, layer_bias in zip(self.blocks, bias, strict=True):
            x, _ = block(x, layer_bias)
        x = self.norm(x)
        return self._logits(x[:, size:], self.copy_key(x[:, :size]), padding, copied)

    def prefill(self, batch: Batch) -> PrefixState:
        """Read the prefixes once; `batch.inputs` is not looked at."""
        padding = batch.fields < 0
        x = self._embed_prefix(batch)
        bias = self._relation_bias(batch.relations).masked_fill(padding[:, None, None, None], -1e9)
        layers = []
        for block, layer_bias in zip(self.blocks, bias.unbind(1), strict=True):
            x, memory = block(x, layer_bias)
            layers.append(memory)
        keys = self.copy_key(self.norm(x))
        return PrefixState(tuple(layers), keys, batch.ids, batch.features, padding)

    def decode(
        self, memory: PrefixState, token: Tensor, slot: Tensor, place: int
    ) -> tuple[Tensor, PrefixState]:
        """Return logits (B, capacity + T) of one more target token (B,), and the new memory."""
        size = memory.ids.shape[1]
        copied = token - self.config.capacity
        source = (memory.ids, memory.features)
        x = self._embed_outputs(token[:, None], source, slot[:, None], place)
        relations = _copy_relations(copied[:, None], size)
        written = torch.zeros(len(token), 1, place + 1, dtype=torch.int32)
        bias = self._relation_bias(torch.cat([relations, written], 2))
        hidden = F.pad(memory.padding, (0, place + 1))
        bias = bias.masked_fill(hidden[:, None, None, None], -1e9)
        layers = []
        for block, past, layer_bias in zip(self.blocks, memory.layers, bias.unbind(1), strict=True):
            x, grown = block(x, layer_bias, past)
            layers.append(grown)
        logits = self._logits(self.norm(x), memory.copy_keys, memory.padding, copied[:, None])
        return logits[:, 0], replace(memory, layers=tuple(layers))

    def _embed_prefix(self, batch: Batch) -> Tensor:
        embedded: Tensor = (
            self.words(batch.ids)
            + self.fields(batch.fields.clamp(min=0))
            + self.places(batch.places)
            + self.lines(batch.lines.clamp(max=2 * LINES - 1))
            + self.features(batch.features)
        )
        return F.dropout(embedded, self.config.dropout, self.training)

    def _embed_outputs(
        self, tokens: Tensor, source: tuple[Tensor, Tensor], slots: Tensor, first: int
    ) -> Tensor:
        """Return embeddings (B, M, D) of target tokens (B, M) from place `first` on.

        A copied token looks like what it copies, word and features.
        """
        ids, features = source
        copied = tokens - self.config.capacity
        place = copied.clamp(min=0)
        words = torch.where(copied < 0, tokens, ids.gather(1, place))
        seen = features.gather(1, place[..., None].expand(-1, -1, FEATURES))
        seen = seen * (copied >= 0)[..., None]
        places = torch.arange(first, first + tokens.shape[1]).clamp(max=PLACES - 1)
        return (  # type: ignore[no-any-return]
            self.words(words)
            + self.fields.weight[PromptField.TARGET]
            + self.places(places)
            + self.slots(slots)
            + self.copied_features(seen)
        )

    def _bias(self, batch: Batch, copied: Tensor, padding: Tensor) -> tuple[Tensor, ...]:
        """Return attention biases of each layer, (B, H, T + M, T + M)."""
        size, length = batch.ids.shape[1], batch.inputs.shape[1]
        total = size + length
        relations = batch.relations.new_zeros(len(batch.ids), total, total)
        relations[:, :size, :size] = batch.relations
        relations[:, size:, :size] = _copy_relations(copied, size)
        hidden = torch.zeros(len(batch.ids), total, total, dtype=torch.bool)
        hidden[:, :, :size] = padding[:, None]
        hidden[:, :size, size:] = True
        hidden[:, size:, size:] = torch.ones(length, length, dtype=torch.bool).triu(1)
        bias = self._relation_bias(relations).masked_fill(hidden[:, None, None], -1e9)
        return bias.unbind(1)

    def _relation_bias(self, relations: Tensor) -> Tensor:
        """Return biases (B, layers, H, S, U) of bit sets (B, S, U)."""
        shifts = torch.arange(RELATIONS, dtype=torch.int32)
        bits = ((relations.unsqueeze(-1) >> shifts) & 1).to(self.relation_bias.dtype)
        batch, rows, columns = relations.shape
        shape = (batch, self.config.depth, self.config.heads, rows, columns)
        return (bits @ self.relation_bias).permute(0, 3, 1, 2).reshape(shape)

    def _logits(self, x: Tensor, copy_keys: Tensor, padding: Tensor, copied: Tensor) -> Tensor:
        pointers = self.copy_query(x) @ copy_keys.transpose(1, 2) / self.config.width**0.5
        positions = torch.arange(copy_keys.shape[1])
        following = (copied[..., None] >= 0) & (positions == copied[..., None] + 1)
        pointers = pointers + following * self.continue_bonus
        pointers = pointers.masked_fill(padding[:, None], -1e9)
        return torch.cat([self.vocabulary_head(x), pointers], -1)


def _copy_relations(copied: Tensor, size: int) -> Tensor:
    """Return bit sets (B, M, T) from target tokens to the place copied and the one after it."""
    positions = torch.arange(size)
    is_copy = copied[..., None] >= 0
    at = is_copy & (positions == copied[..., None])
    after = is_copy & (positions == copied[..., None] + 1)
    return (at.int() << Relation.COPIED) | (after.int() << Relation.COPIED_NEXT)


SLOT_INDEX = {kind: i for i, kind in enumerate(SLOT_KINDS)}


def collate(
    prefixes: Sequence[Prefix], inputs: Sequence[Sequence[int]], slots: Sequence[Sequence[int]]
) -> Batch:
    """Return B padded prompts and decoder inputs; `slots` are indices into `SLOT_KINDS`."""
    count, size = len(prefixes), max(len(p) for p in prefixes)
    ids, places, lines = (np.zeros((count, size), np.int64) for _ in range(3))
    fields = np.full((count, size), -1, np.int64)
    features = np.zeros((count, size, FEATURES), np.float32)
    relations = np.zeros((count, size, size), np.int32)
    for row, prefix in enumerate(prefixes):
        n = len(prefix)
        ids[row, :n], fields[row, :n] = prefix.ids, prefix.fields
        places[row, :n], lines[row, :n] = prefix.places, prefix.lines
        features[row, :n], relations[row, :n, :n] = prefix.features, prefix.relations
    return Batch(
        ids=torch.from_numpy(ids),
        fields=torch.from_numpy(fields),
        places=torch.from_numpy(places),
        lines=torch.from_numpy(lines),
        features=torch.from_numpy(features),
        relations=torch.from_numpy(relations),
        inputs=_pad(inputs),
        slots=_pad(slots),
    )


def _pad(rows: Sequence[Sequence[int]]) -> Tensor:
    out = torch.zeros(len(rows), max((len(row) for row in rows), default=0), dtype=torch.long)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row, dtype=torch.long)
    return out
