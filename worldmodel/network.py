"""The built-in network as a world model: writes the next page as edits, and the outcome."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from webagent.models.builtin.generate import sample
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import SLOT_INDEX, collate
from webagent.models.builtin.prefix import Prefix, encode
from webagent.models.builtin.targets import Codec
from webagent.records import Ending, Observation
from webagent.training.rows import TrainingRow, make_row
from worldmodel.delta import apply
from worldmodel.grammar import MAX_DELTA, WorldGrammar
from worldmodel.prediction import Effect, Outcome, Prediction, Source
from worldmodel.transitions import Situation, Transition


class NetworkWorld:
    """The built-in network as a world model. Implements `WorldModel`."""

    def __init__(self, model: BuiltinModel):
        self.model = model
        self.grammar = WorldGrammar(Codec(model.vocabulary))

    @classmethod
    def load(cls, folder: Path) -> "NetworkWorld":
        """Return a saved world model. Raises `ModelError`."""
        return cls(BuiltinModel.load(folder))

    def prompt(self, situation: Situation) -> Prefix:
        """Return the network's input."""
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
        """Return training rows; failures can be weighted up, as mistaking them costs most."""
        rows = []
        for t in transitions:
            prefix = self.prompt(Situation(t.before, t.steps, t.action))
            targets = self.grammar.encode(t, prefix)
            weight = 1.0 if t.succeeded else failure_weight
            rows.append(make_row(self.grammar, prefix, targets, weight=weight, group=t.task))
        return rows

    def learn(self, transitions: Iterable[Transition], tokens: int = 400_000) -> None:
        """Train on transitions for a number of prompt and target tokens, with failures weighted
        up."""
        from webagent.training.fit import FitConfig, fit

        fit(self.model.network, self.rows(transitions, 2.0), FitConfig(tokens=tokens))

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return the most likely next pages, with their probabilities."""
        outcomes = self.outcomes(situations)
        written = self._write(situations, [None] * len(situations))
        return [
            _as_prediction(situation, outcome, page, chance)
            for situation, outcome, (page, chance) in zip(
                situations, outcomes, written, strict=True
            )
        ]

    @torch.inference_mode()
    def outcomes(self, situations: Sequence[Situation]) -> list[Outcome]:
        """Return the outcome of each action, in one pass without predicting the page.

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
        self,
        situations: Sequence[Situation],
        rngs: Sequence[np.random.Generator | None] | None = None,
    ) -> list[Observation]:
        """Return the next page of each situation: the most likely one or, with a generator, a
        sample."""
        rngs = rngs or [None] * len(situations)
        return [page for page, _ in self._write(situations, rngs)]

    def _write(
        self, situations: Sequence[Situation], rngs: Sequence[np.random.Generator | None]
    ) -> list[tuple[Observation, float]]:
        """Return the next page of each situation, with the probability of all that was written of
        it."""
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
            how, _, *edits = text.log_probs  # the second tells success, which is not on the page
            pages.append((page, math.exp(how + sum(edits))))
        return pages

    def _id(self, token: str) -> int:
        return self.model.vocabulary.id(token)


def _as_prediction(
    situation: Situation, outcome: Outcome, page: Observation, chance: float
) -> Prediction:
    """Return the network's output as a `Prediction`; its confidence is the probability of the whole
    change that it wrote."""
    effect = Effect.ENDS if page.over else Effect.STAYS
    ending = Ending.TASK_OVER if page.over else None
    return Prediction(page, outcome, effect, ending, chance, Source.MODELLED)
