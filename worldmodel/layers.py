"""World models in layers: the first one that is confident enough answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from webagent.models.spending import Ledger
from worldmodel.prediction import Prediction, Source, WorldModel, charge, expect
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import Situation, Transition


@dataclass(frozen=True, slots=True)
class LayeredWorld:
    """Queries memory first, and a model where memory is not confident. Implements `WorldModel`."""

    memory: RememberedWorld
    model: WorldModel
    least: float = 0.3
    """Confidence of memory below which the model predicts the page, too; it always does where
    memory calls it unknown."""

    def learn(self, transitions: Iterable[Transition]) -> None:
        """Add transitions to memory; the model is trained separately."""
        self.memory.learn(transitions)

    def charged_to(self, ledger: Ledger) -> "LayeredWorld":
        """Return the same with the model's requests booked in a ledger."""
        return replace(self, model=charge(self.model, ledger))

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return the prediction of memory or of the model; P(success) is memory's."""
        remembered, unsure = self._recall(situations)
        requests = [situations[place] for place in unsure]
        return self._join(remembered, unsure, self.model.predict(requests) if requests else [])

    async def expect(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return the same inside an event loop. Raises `ModelError`."""
        remembered, unsure = self._recall(situations)
        requests = [situations[place] for place in unsure]
        return self._join(
            remembered, unsure, await expect(self.model, requests) if requests else []
        )

    def _recall(self, situations: Sequence[Situation]) -> tuple[list[Prediction], list[int]]:
        """Return memory's predictions, and the places of those that are not confident."""
        found = self.memory.predict(situations)
        return found, [
            place
            for place, one in enumerate(found)
            if one.source is Source.UNKNOWN
            or (one.source is not Source.RULED and one.confidence < self.least)
        ]

    def _join(
        self, remembered: list[Prediction], unsure: list[int], modelled: list[Prediction]
    ) -> list[Prediction]:
        merged = list(remembered)
        for place, other in zip(unsure, modelled, strict=True):
            first = remembered[place]
            if other.confidence >= max(self.least, first.confidence):
                outcome = replace(other.outcome, succeeds=first.outcome.succeeds)
                merged[place] = replace(other, outcome=outcome)
        return merged
