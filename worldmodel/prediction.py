"""The interface of world models: situations in, predictions with confidence and source out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from webagent.models.spending import Ledger
from webagent.records import Ending, Observation
from worldmodel.transitions import Situation, Transition


class Source(StrEnum):
    """The source of a prediction."""

    REMEMBERED = "remembered"
    """Recalled from the same or a similar step."""
    RULED = "ruled"
    """Follows from a general rule: typed text appears in the field, an answer ends the episode."""
    MODELLED = "modelled"
    """Written by a trained model."""
    UNKNOWN = "unknown"
    """Nothing similar is known; the page is unchanged or only a guess."""


class Effect(StrEnum):
    """The effect of an action, in coarse form."""

    STAYS = "stays"
    GOES = "goes"
    ENDS = "ends"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Probabilities of an action's outcome, each in [0, 1]."""

    ends: float
    """The page ends the episode."""
    nothing: float
    """Nothing on the page changes."""
    succeeds: float
    """The episode ends in success, now or later."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted result of one action."""

    page: Observation
    """The next page. Unknown lines and parts of the URL are marked (`lines.UNKNOWN`,
    `lines.GAP`)."""
    outcome: Outcome
    effect: Effect
    ending: Ending | None
    """How the action ends the episode; None if it continues."""
    confidence: float
    """P(the page is right line for line, as far as it is not marked unknown)."""
    source: Source
    because: str = ""
    """The cases it was recalled from, or the rule."""


class WorldModel(Protocol):
    """Predicts the effects of actions."""

    def learn(self, transitions: Iterable[Transition]) -> None:
        """Add real transitions to those known."""
        ...

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return the prediction for each situation."""
        ...


@runtime_checkable
class AsksAModel(Protocol):
    """A world model that queries a language model, without blocking the event loop."""

    async def expect(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return the same as `predict`, inside an event loop. Raises `ModelError`."""
        ...

    def charged_to(self, ledger: Ledger) -> WorldModel:
        """Return the same model with its requests booked in a ledger and limited by it."""
        ...


async def expect(world: WorldModel, situations: Sequence[Situation]) -> list[Prediction]:
    """Return a world model's predictions, inside an event loop. Raises `ModelError`."""
    if isinstance(world, AsksAModel):
        return await world.expect(situations)
    return world.predict(situations)


def charge(world: WorldModel, ledger: Ledger) -> WorldModel:
    """Return the model with its requests, if any, booked in a ledger."""
    return world.charged_to(ledger) if isinstance(world, AsksAModel) else world
