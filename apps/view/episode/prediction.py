"""A world model asked what it would have expected of every step of a stored episode."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from apps.view.episode.film import page_after
from apps.view.episode.foresight import Foreseen, Foresight, foreseen, summed
from apps.view.episode.seers import Seer, has_met
from webagent.records import Trajectory
from worldmodel.model import Situation, WorldModel
from worldmodel.trust import is_held_back

_BATCH = 16
"""Steps predicted at once."""
_MOST = 32
"""Episodes whose predictions are kept in mind."""
_ONE_AT_A_TIME = threading.Lock()
_kept: OrderedDict[tuple[Path, str, int], tuple[Foreseen, ...]] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one world model expected of an episode."""

    title: str
    """Which model it was."""
    caution: str
    """What has to be known of it; empty where it had never met the episode."""
    steps: tuple[Foreseen, ...]
    total: Foresight


def predict(trajectory: Trajectory, seer: Seer) -> Prediction:
    """Every step foreseen, kept in mind for the next time. Takes about a second; thread-safe.

    Raises `ModelError` for weights that cannot be read.
    """
    key = (seer.folder, trajectory.id, len(trajectory.steps))
    with _ONE_AT_A_TIME:
        if key not in _kept or trajectory.ending is None:
            _kept[key] = _foresee(trajectory, _loaded(seer.folder))
        _kept.move_to_end(key)
        while len(_kept) > _MOST:
            _kept.popitem(last=False)
        steps = _kept[key]
    return Prediction(seer.title, _caution(trajectory, seer), steps, summed(steps))


@lru_cache(maxsize=2)
def _loaded(folder: Path) -> WorldModel:
    return WorldModel.load(folder)


def _foresee(trajectory: Trajectory, world: WorldModel) -> tuple[Foreseen, ...]:
    steps = trajectory.steps
    situations = [
        Situation(step.observation, steps[:index], step.decision.action)
        for index, step in enumerate(steps)
    ]
    told: list[Foreseen] = []
    for first in range(0, len(situations), _BATCH):
        batch = situations[first : first + _BATCH]
        outcomes = world.outcomes(batch)
        pages = world.imagine(batch, [None] * len(batch))
        for situation, outcome, (page, _) in zip(batch, outcomes, pages, strict=True):
            after = page_after(trajectory, len(told))
            told.append(foreseen(situation.observation, after, outcome, page))
    return tuple(told)


def _caution(trajectory: Trajectory, seer: Seer) -> str:
    place = trajectory.provenance
    if place.arm != seer.arm and place.phase == "collect":
        return "It was trained on other episodes than this arm's."
    if has_met(seer, place) and not is_held_back(trajectory):
        return "It was trained on this episode, too, so that its accuracy here says little."
    return ""
