"""Steps while they may still turn out to be part of something else."""

from dataclasses import dataclass

from webagent.action import Action
from webagent.records import Observation


@dataclass(frozen=True, slots=True)
class Draft:
    """An action a person did, with what was before them."""

    seen: Observation
    action: Action
    called: str = ""
    """What it was done to, for people."""
    is_blind: bool = False
    """Whether it hit nothing that has a mark, so that it may have done nothing at all."""


@dataclass(frozen=True, slots=True)
class Typing:
    """A field that is being typed into."""

    seen: Observation
    mark: int
    before: str | None
    """What was in it; None where that is not known."""
    value: str
    is_secret: bool
    called: str


@dataclass(frozen=True, slots=True)
class Scrolling:
    """What was scrolled since the last action, and what was seen before that."""

    seen: Observation
    by_mark: tuple[tuple[int, int, int], ...] = ()
    """Mark, pixels right and down; in the order in which they were begun."""

    def more(self, mark: int, dx: int, dy: int) -> "Scrolling":
        """With so much more."""
        moved = {each: (x, y) for each, x, y in self.by_mark}
        x, y = moved.get(mark, (0, 0))
        moved[mark] = (x + dx, y + dy)
        return Scrolling(self.seen, tuple((each, *way) for each, way in moved.items()))
