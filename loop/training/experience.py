"""The episodes of run folders that may be learnt from, with their scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluators.steps import StepJudgement, by_rules, kept
from loop.training.lessons import Scores
from tasks.suite import split_of
from webagent.errors import SetupError
from webagent.records import Trajectory
from webagent.store import Store

RULES = "rules"
"""The source that needs no model and judges when it is asked."""


@dataclass(frozen=True, slots=True)
class Experience:
    """What was played and how well it went."""

    episodes: Sequence[Trajectory]
    scores: Scores
    held_out: int
    """Episodes left out, since measurements are made on their seeds."""
    judged: Mapping[str, StepJudgement] = field(default_factory=dict)
    """What is thought of the steps, by episode id, as far as that was asked for."""


def experience(runs: Sequence[Path], score: str, steps: str = "") -> Experience:
    """All that the runs hold on seeds for training. Raises `StoreError` for what is no run.

    `steps` names whose judgements of steps are wanted, as in `TrainSettings`.
    """
    episodes, scores, held_out = [], {}, 0
    judged: dict[str, StepJudgement] = {}
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
            if steps and steps != RULES:
                judged |= kept(store, steps)
    names = {episode.id for episode in episodes}
    scores = {name: value for name, value in scores.items() if name in names}
    if steps == RULES:
        judged = {
            one.id: by_rules(one, succeeded=scores[one.id] >= 0.5 if one.id in scores else None)
            for one in episodes
        }
    judged = {name: one for name, one in judged.items() if name in names}
    if steps and not judged:
        raise SetupError(
            f"the runs hold no judgement of steps by {steps!r}; make some, or give --steps rules"
        )
    return Experience(episodes, scores, held_out, judged)


def _is_for_training(episode: Trajectory) -> bool:
    try:
        return split_of(episode.task.seed) == "train"
    except ValueError:
        return False
