"""The world model: predicts the next page as edits, whether the episode ends, and how well."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from webagent.action import Action
from webagent.models.builtin.generate import sample
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import SLOT_INDEX, collate
from webagent.models.builtin.prefix import Prefix, encode
from webagent.models.builtin.targets import Codec
from webagent.records import Observation, Step
from webagent.training.rows import TrainingRow, make_row
from worldmodel.delta import apply
from worldmodel.grammar import MAX_DELTA, WorldGrammar
from worldmodel.transitions import Transition


@dataclass(frozen=True, slots=True)
class Outcome:
    """Probabilities, each in [0, 1], of what an action leads to."""

    ends: float
    """The page ends the episode."""
    nothing: float
    """Nothing on the page changes."""
    succeeds: float
    """The episode ends in success, now or later."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A page, what was done before it, and the action in question."""

    observation: Observation
    steps: tuple[Step, ...]
    action: Action


class WorldModel:
    """The built-in network in the role of the world."""

    def __init__(self, model: BuiltinModel):
        self.model = model
        self.grammar = WorldGrammar(Codec(model.vocabulary))

    @classmethod
    def load(cls, folder: Path) -> "WorldModel":
        """Return a saved one. Raises `ModelError`."""
        return cls(BuiltinModel.load(folder))

    def prompt(self, situation: Situation) -> Prefix:
        """Return what the network reads before it predicts."""
        return encode(
            self.model.vocabulary,
            "world",
            situation.observation,
            situation.steps,
            situation.action,
        )

    def rows(
        self, transitions: Iterable[Transition], failure_weight: float = 1.0
    ) -> list[TrainingRow]:
        """Return training rows; failures may weigh more: mistaking them costs most."""
        rows = []
        for t in transitions:
            prefix = self.prompt(Situation(t.before, t.steps, t.action))
            targets = self.grammar.encode(t, prefix)
            weight = 1.0 if t.succeeded else failure_weight
            rows.append(make_row(self.grammar, prefix, targets, weight=weight, group=t.task))
        return rows

    @torch.inference_mode()
    def outcomes(self, situations: Sequence[Situation]) -> list[Outcome]:
        """Return how each action would turn out, in one pass without predicting the page.

        P(succeeds) sums over whether the episode ends at once.
        """
        if not situations:
            return []
        network = self.model.network
        network.train(False)
        prefixes = [self.prompt(s) for s in situations]
        how = [self._id(f"is:{name}") for name in ("ends", "nothing-changes", "goes-on")]
        well = [self._id("is:succeeds"), self._id("is:fails")]
        slot = SLOT_INDEX["outcome"]
        count = len(prefixes)
        batch = collate(prefixes, [[]] * count, [[]] * count)
        memory = network.prefill(batch)
        slots = torch.full((count,), slot)
        first, memory = network.decode(memory, torch.full((count,), self.grammar.start), slots, 0)
        kinds = first[:, how].float().softmax(1)
        success = torch.zeros(count)
        for i, token in enumerate(how):
            second, _ = network.decode(memory, torch.full((count,), token), slots, 1)
            success += kinds[:, i] * second[:, well].float().softmax(1)[:, 0]
        return [
            Outcome(float(k[0]), float(k[1]), float(s)) for k, s in zip(kinds, success, strict=True)
        ]

    def imagine(
        self, situations: Sequence[Situation], rngs: Sequence[np.random.Generator | None]
    ) -> list[tuple[Observation, bool]]:
        """Return the next page of each situation, with whether a page that ended did so in success.

        A generator samples from the model, None takes its most probable prediction.
        """
        if not situations:
            return []
        prefixes = [self.prompt(s) for s in situations]
        written = sample(self.model.network, self.grammar, prefixes, rngs, max_length=MAX_DELTA + 2)
        pages = []
        for situation, prefix, text in zip(situations, prefixes, written, strict=True):
            before = situation.observation
            decoded = self.grammar.decode(text.ids, prefix, before)
            page = replace(
                before,
                nodes=apply(decoded.edits, before),
                over=decoded.ends,
                outcome="" if decoded.edits or decoded.ends else "no effect",
                screenshot="",
            )
            pages.append((page, decoded.succeeds))
        return pages

    def _id(self, token: str) -> int:
        return self.model.vocabulary.id(token)
