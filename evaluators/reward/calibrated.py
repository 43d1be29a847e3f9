"""A judge with its line drawn on episodes unseen in training, and on the worst lies of them."""

from collections.abc import Sequence

from evaluators.reward.builtin import RewardModel
from evaluators.reward.calibration import calibrate
from evaluators.reward.lessons import lessons
from webagent.records import Trajectory

HARDEST = ("wrong value", "wrong element", "undone")
"""Kinds of corruption that leave an episode looking as it did."""
_SEED = 7


def calibrated(
    judge: RewardModel,
    trajectories: Sequence[Trajectory],
    labels: Sequence[bool],
    target: float = 0.05,
) -> RewardModel:
    """The judge with a calibration fitted on these labelled episodes.

    At most `target` of the real failures among them pass its threshold, and at most as many of the
    failures that are made of the successes in each of the hardest ways. Raises `ValueError` without
    both outcomes.
    """
    said, surprise = judge.evidence(trajectories)
    line = calibrate(said, labels, target, surprise)
    success = {t.id: float(label) for t, label in zip(trajectories, labels, strict=True)}
    for kind in HARDEST:
        chosen = lessons(trajectories, success, 1, _SEED, (kind,))
        made = [each.trajectory for each in chosen if each.kind == kind]
        line = line.raised(*judge.evidence(made))
    return RewardModel.of(judge.members, line)
