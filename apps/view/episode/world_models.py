"""The world models that a run folder holds, and which of them to ask about an episode."""

from dataclasses import dataclass
from pathlib import Path

from loop.arms import ARMS
from webagent.records import Provenance

_PART = "world"


@dataclass(frozen=True, slots=True)
class StoredWorldModel:
    """A world model's weights, as a run folder holds them."""

    folder: Path
    arm: str
    repeat: int
    round: int

    @property
    def title(self) -> str:
        """Which one it is, in words."""
        return f"the world model of arm {self.arm}, repeat {self.repeat}, after round {self.round}"


def stored_world_models(run: Path) -> list[StoredWorldModel]:
    """Return all world models of a run, in the order of arm, repeat and round."""
    found = []
    for folder in sorted(run.glob(f"weights/*/*/{_PART}")):
        arm, _, repeat = folder.parent.parent.name.rpartition("-")
        if arm and repeat.isdigit() and folder.parent.name.isdigit():
            found.append(StoredWorldModel(folder, arm, int(repeat), int(folder.parent.name)))
    return sorted(found, key=lambda one: (one.arm, one.repeat, one.round))


def nearest_world_model(
    place: Provenance, known: list[StoredWorldModel]
) -> StoredWorldModel | None:
    """Return the one that is nearest to the episode; None where there is none.

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


def has_met(world_model: StoredWorldModel, place: Provenance) -> bool:
    """Return whether the episode is among what this model may have been trained on."""
    is_own = (world_model.arm, world_model.repeat) == (place.arm, place.repeat)
    return is_own and place.phase == "collect" and world_model.round >= place.round
