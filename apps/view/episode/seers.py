"""Which of a run's world models can say what was to be expected of an episode."""

from dataclasses import dataclass
from pathlib import Path

from loop.arms import ARMS
from webagent.records import Provenance

_PART = "world"


@dataclass(frozen=True, slots=True)
class Seer:
    """A world model's weights, as a run folder holds them."""

    folder: Path
    arm: str
    repeat: int
    round: int

    @property
    def title(self) -> str:
        """Which one it is, in words."""
        return f"the world model of arm {self.arm}, repeat {self.repeat}, after round {self.round}"


def seers(run: Path) -> list[Seer]:
    """All world models of a run, in the order of arm, repeat and round."""
    found = []
    for folder in sorted(run.glob(f"weights/*/*/{_PART}")):
        arm, _, repeat = folder.parent.parent.name.rpartition("-")
        if arm and repeat.isdigit() and folder.parent.name.isdigit():
            found.append(Seer(folder, arm, int(repeat), int(folder.parent.name)))
    return sorted(found, key=lambda one: (one.arm, one.repeat, one.round))


def seer_for(place: Provenance, known: list[Seer]) -> Seer | None:
    """The one that stands nearest to the episode; None where there is none.

    First by arm, the episode's own or the one whose weights it is measured with, then by repeat;
    then the latest that had not been trained when the episode was collected, else the first after.
    """
    arm = ARMS.get(place.arm)
    own = {place.arm, arm.weights_of if arm else ""}
    until = place.round - 1 if place.phase == "collect" else place.round
    return min(
        known,
        key=lambda one: (
            one.arm not in own,
            one.repeat != place.repeat,
            one.round > until,
            abs(one.round - until),
        ),
        default=None,
    )


def has_met(seer: Seer, place: Provenance) -> bool:
    """Whether the episode is among what this model may have been trained on."""
    collected = place.phase == "collect" and seer.round >= place.round
    return (seer.arm, seer.repeat) == (place.arm, place.repeat) and collected
