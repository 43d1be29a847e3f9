"""The episodes of run folders that may be learnt from, with their scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recipes.train.lessons import Scores
from tasks.suite import split_of
from webagent.records import Trajectory
from webagent.store import Store


@dataclass(frozen=True, slots=True)
class Experience:
    """What was played and how well it went."""

    episodes: Sequence[Trajectory]
    scores: Scores
    held_out: int
    """Episodes left out, since measurements are made on their seeds."""


def experience(runs: Sequence[Path], score: str) -> Experience:
    """All that the runs hold on seeds for training. Raises `StoreError` for what is no run."""
    episodes, scores, held_out = [], {}, 0
    for run in runs:
        with Store.open(run) as store:
            for name, found in store.scores().items():
                values = [each.value for each in found if each.name == score]
                if values and values[0] is not None:
                    scores[name] = values[0]
            for episode in store.trajectories():
                if _is_for_training(episode):
                    episodes.append(episode)
                else:
                    held_out += 1
    kept = {episode.id for episode in episodes}
    scores = {name: value for name, value in scores.items() if name in kept}
    return Experience(episodes, scores, held_out)


def _is_for_training(episode: Trajectory) -> bool:
    try:
        return split_of(episode.task.seed) == "train"
    except ValueError:
        return False
