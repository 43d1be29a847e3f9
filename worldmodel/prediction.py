"""The seam of world models: situations in, predictions with confidence and source out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from webagent.models.spending import Ledger
from webagent.records import Ending, Observation
from worldmodel.transitions import Situation, Transition


class Source(StrEnum):
    """Where a prediction comes from."""

    REMEMBERED = "remembered"
    """The same was seen, or the like."""
    RULED = "ruled"
    """It is always so: what is typed stands in the field, an answer ends the episode."""
    MODELLED = "modelled"
    """A trained model wrote it."""
    UNKNOWN = "unknown"
    """Nothing like it was seen; the page is as it was, or no more than a guess."""


class Effect(StrEnum):
    """What an action does, in the coarsest terms."""

    STAYS = "stays"
    GOES = "goes"
    ENDS = "ends"


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
class Prediction:
    """What is expected of one action."""

    page: Observation
    """The next page. Lines and parts of the address that are not known say so (`lines.UNKNOWN`,
    `lines.GAP`)."""
    outcome: Outcome
    effect: Effect
    ending: Ending | None
    """How the episode ends by it, None where it goes on."""
    confidence: float
    """P(the page is right line for line, as far as it is not marked unknown)."""
    source: Source
    because: str = ""
    """What it was recalled from or which rule it is."""


class WorldModel(Protocol):
    """Predicts what actions do."""

    def learn(self, transitions: Iterable[Transition]) -> None:
        """Take real transitions in, in addition to those known."""
        ...

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return what is expected in each situation."""
        ...


@runtime_checkable
class AsksAModel(Protocol):
    """A world model that asks a language model: it waits without holding up others."""

    async def expect(self, situations: Sequence[Situation]) -> list[Prediction]:
        """Return what `predict` does, where an event loop runs. Raises `ModelError`."""
        ...

    def charged_to(self, ledger: Ledger) -> WorldModel:
        """Return the same with its requests booked in a ledger, and held to its limits."""
        ...


async def expect(world: WorldModel, situations: Sequence[Situation]) -> list[Prediction]:
    """Return what a world model expects, where an event loop runs. Raises `ModelError`."""
    if isinstance(world, AsksAModel):
        return await world.expect(situations)
    return world.predict(situations)


def charge(world: WorldModel, ledger: Ledger) -> WorldModel:
    """Return the model with its requests booked in a ledger, where it makes any."""
    return world.charged_to(ledger) if isinstance(world, AsksAModel) else world
