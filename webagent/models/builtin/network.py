"""The network: a small prefix language model that can copy, and the actions it generates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PretrainedConfig, PreTrainedModel

from webagent.models.builtin.layout import LINES, PLACES, PromptField
from webagent.models.builtin.prefix import FEATURES, Prefix
from webagent.models.builtin.relations import RELATIONS, Relation
from webagent.models.builtin.targets import ActionGrammar
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
    """(B, T) `PromptField`, -1 where padded."""
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
    """(B, M) index into `SLOT_KINDS` of the kind of token at each place."""


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
        length = batch.inputs.shape[1]
        total = size + length
        relations = batch.relations.new_zeros(len(batch.ids), total, total)
        relations[:, :size, :size] = batch.relations
        relations[:, size:, :size] = _copy_relations(copied, size)
        hidden = torch.zeros(len(batch.ids), total, total, dtype=torch.bool)
        hidden[:, :, :size] = padding[:, None]
        hidden[:, :size, size:] = True
        hidden[:, size:, size:] = torch.ones(length, length, dtype=torch.bool).triu(1)
        # (B, layers, H, T + M, T + M)
        bias = self._relation_bias(relations).masked_fill(hidden[:, None, None], -1e9)
        for block, layer_bias in zip(self.blocks, bias.unbind(1), strict=True):
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


@dataclass(frozen=True, slots=True)
class GeneratedTarget:
    """A finished target with the log-probability of each id under mask and temperature."""

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]

    @property
    def log_prob(self) -> float:
        """Natural logarithm of the whole target's probability."""
        return sum(self.log_probs)


@torch.inference_mode()
def sample(
    network: PrefixLM,
    grammar: ActionGrammar,
    prefixes: Sequence[Prefix],
    uniforms: Sequence[np.random.Generator | None],
    temperature: float = 1.0,
    max_length: int = 40,
) -> list[GeneratedTarget]:
    """Return one target for each prefix, all in one batch.

    A row with a generator is sampled at `temperature` with it, a row with None is greedy; so the
    result does not depend on what else is in the batch.
    """
    network.train(False)
    targets = _TargetRows(grammar, prefixes)
    memory = network.prefill(collate(prefixes, [[]] * len(prefixes), [[]] * len(prefixes)))
    for place in range(max_length):
        if all(targets.done):
            break
        logits, memory = network.decode(memory, targets.last(), targets.slots(), place)
        scores = targets.compute_scores(logits, temperature)
        chosen = []
        for row, rng in zip(scores, uniforms, strict=True):
            if rng is None:
                chosen.append(int(row.argmax()))
            else:
                # Inverse-transform sampling with one uniform number.
                cumulative = row.double().exp().cumsum(0)
                threshold = rng.random() * float(cumulative[-1])
                chosen.append(min(int(torch.searchsorted(cumulative, threshold)), len(row) - 1))
        targets.append(chosen, scores)
    return [
        GeneratedTarget(tuple(ids), tuple(values))
        for ids, values in zip(targets.ids, targets.log_probs, strict=True)
    ]


@torch.inference_mode()
def search(
    network: PrefixLM, grammar: ActionGrammar, prefix: Prefix, width: int, max_length: int = 40
) -> list[GeneratedTarget]:
    """Return at most `width` different targets for one prefix by beam search, likeliest first."""
    network.train(False)
    memory = network.prefill(collate([prefix], [[]], [[]]))
    beams = [GeneratedTarget((), ())]
    finished: list[GeneratedTarget] = []
    for place in range(max_length):
        targets = _TargetRows(grammar, [prefix] * len(beams), [list(b.ids) for b in beams])
        logits, memory = network.decode(memory, targets.last(), targets.slots(), place)
        scores = targets.compute_scores(logits, 1.0)
        options = []
        for parent, (beam, row) in enumerate(zip(beams, scores, strict=True)):
            values, tokens = row.topk(min(width, len(row)))
            for value, token in zip(values.tolist(), tokens.tolist(), strict=True):
                if value > -1e8:
                    longer = GeneratedTarget((*beam.ids, token), (*beam.log_probs, value))
                    options.append((parent, longer))
        grown = sorted(options, key=lambda option: -option[1].log_prob)[:width]
        beams, parents = [], []
        for parent, beam in grown:
            if grammar.slot(beam.ids) == "done":
                finished.append(beam)
            else:
                beams.append(beam)
                parents.append(parent)
        bar = sorted((f.log_prob for f in finished), reverse=True)[:width]
        if not beams or (len(bar) == width and beams[0].log_prob < bar[-1]):
            break
        rows = torch.tensor(parents)
        memory = replace(
            memory,
            layers=tuple((key[rows], value[rows]) for key, value in memory.layers),
            copy_keys=memory.copy_keys[rows],
            ids=memory.ids[rows],
            features=memory.features[rows],
            padding=memory.padding[rows],
        )
    return sorted(finished, key=lambda w: -w.log_prob)[:width]


class _TargetRows:
    """The targets under way, one for each prefix."""

    def __init__(
        self, grammar: ActionGrammar, prefixes: Sequence[Prefix], ids: list[list[int]] | None = None
    ):
        self.grammar = grammar
        self.prefixes = prefixes
        self.ids: list[list[int]] = ids or [[] for _ in prefixes]
        self.log_probs: list[list[float]] = [[] for _ in prefixes]

    @property
    def done(self) -> list[bool]:
        return [self.grammar.slot(ids) == "done" for ids in self.ids]

    def last(self) -> Tensor:
        """(B,) the ids to feed in."""
        return torch.tensor([ids[-1] if ids else self.grammar.start for ids in self.ids])

    def slots(self) -> Tensor:
        """(B,) indices into `SLOT_KINDS`."""
        return torch.tensor([SLOT_INDEX[self.grammar.slot(ids)] for ids in self.ids])

    def compute_scores(self, logits: Tensor, temperature: float) -> list[Tensor]:
        """Return log-probabilities of each row over what its grammar allows."""
        out = []
        for row, (ids, prefix) in enumerate(zip(self.ids, self.prefixes, strict=True)):
            scores = torch.full((logits.shape[1],), -1e9)
            if self.grammar.slot(ids) != "done":
                allowed = torch.from_numpy(self.grammar.allowed(ids, prefix))
                open_ = torch.zeros(logits.shape[1], dtype=torch.bool)
                open_[: len(allowed)] = allowed
                scores = torch.where(open_, logits[row].float() / temperature, scores)
                scores = scores.log_softmax(0)
            out.append(scores)
        return out

    def append(self, chosen: Sequence[int], scores: Sequence[Tensor]) -> None:
        for row, token in enumerate(chosen):
            if self.grammar.slot(self.ids[row]) != "done":
                self.ids[row].append(token)
                self.log_probs[row].append(float(scores[row][token]))
