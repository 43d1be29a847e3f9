"""Generation: sampled or searched targets that always keep to a grammar."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from webagent.models.builtin.network import SLOT_INDEX, PrefixLM, collate
from webagent.models.builtin.prefix import Prefix


class TargetGrammar(Protocol):
    """Says what may come next. One for actions, one for what the world model writes."""

    @property
    def start(self) -> int:
        """The id fed in before the first token."""
        ...

    def slot(self, ids: Sequence[int]) -> str:
        """Return the kind of the next token, or `done`."""
        ...

    def allowed(self, ids: Sequence[int], prefix: Prefix) -> NDArray[np.bool_]:
        """(capacity + T,) which ids may come next."""
        ...


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
    grammar: TargetGrammar,
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
    state = _TargetRows(grammar, prefixes)
    memory = network.prefill(collate(prefixes, [[]] * len(prefixes), [[]] * len(prefixes)))
    for place in range(max_length):
        if all(state.done):
            break
        logits, memory = network.decode(memory, state.last(), state.slots(), place)
        scores = state.compute_scores(logits, temperature)
        chosen = []
        for row, rng in zip(scores, uniforms, strict=True):
            if rng is None:
                chosen.append(int(row.argmax()))
            else:
                # Inverse-transform sampling with one uniform number.
                cumulative = row.double().exp().cumsum(0)
                drawn = rng.random() * float(cumulative[-1])
                chosen.append(min(int(torch.searchsorted(cumulative, drawn)), len(row) - 1))
        state.append(chosen, scores)
    return state.to_targets()


@torch.inference_mode()
def search(
    network: PrefixLM, grammar: TargetGrammar, prefix: Prefix, width: int, max_length: int = 40
) -> list[GeneratedTarget]:
    """Return at most `width` different targets for one prefix by beam search, likeliest first."""
    network.train(False)
    memory = network.prefill(collate([prefix], [[]], [[]]))
    beams = [GeneratedTarget((), ())]
    finished: list[GeneratedTarget] = []
    for place in range(max_length):
        state = _TargetRows(grammar, [prefix] * len(beams), [list(b.ids) for b in beams])
        logits, memory = network.decode(memory, state.last(), state.slots(), place)
        scores = state.compute_scores(logits, 1.0)
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
        self, grammar: TargetGrammar, prefixes: Sequence[Prefix], ids: list[list[int]] | None = None
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
        """(B,) indices of what is to be said."""
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

    def to_targets(self) -> list[GeneratedTarget]:
        return [
            GeneratedTarget(tuple(ids), tuple(values))
            for ids, values in zip(self.ids, self.log_probs, strict=True)
        ]
