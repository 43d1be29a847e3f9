"""Which stored episodes and steps are learnt from, compared with what, and by how much."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from statistics import fmean, stdev

from webagent.policy.past_actions import find_detours
from webagent.records import Trajectory

_EPSILON = 1e-4
"""Added to a standard deviation before dividing by it, as TRL does."""


def select_successes(
    trajectories: Iterable[Trajectory], scores: Mapping[str, float | None], most: int | None = None
) -> list[Trajectory]:
    """Episodes whose score, by id, is a success; what rejection fine-tuning learns from.

    Of one task with its seed at most so many, those of the fewest steps. Episodes without a score
    or that infrastructure ended are left out.
    """
    found: defaultdict[str, list[Trajectory]] = defaultdict(list)
    for trajectory in trajectories:
        score = scores.get(trajectory.id)
        ended = trajectory.ending is not None and not trajectory.ending.is_infrastructure
        if ended and score is not None and score >= 0.5:
            found[f"{trajectory.task.id}:{trajectory.task.seed}"].append(trajectory)
    return [
        trajectory
        for group in found.values()
        for trajectory in sorted(group, key=lambda one: len(one.steps))[:most]
    ]


def compute_step_weights(trajectory: Trajectory) -> tuple[float, ...]:
    """1 for each step to be imitated and 0 for a wrong one: the partial masking of STeP (arXiv
    2505.20023), in which a wrong step stays in the prompts of later ones but is not learnt.

    A step is wrong that had no effect, or that was a detour and not demonstrated.
    """
    nowhere = find_detours(trajectory.steps)
    weights = []
    for index, step in enumerate(trajectory.steps):
        after = trajectory.page_after(index)
        had_no_effect = after is not None and bool(after.outcome) and not after.over
        strayed = index in nowhere and step.decision.source != "demonstration"
        weights.append(float(not (had_no_effect or strayed)))
    return tuple(weights)


def pair_episodes(
    rewards: Mapping[str, float], groups: Mapping[str, str], most: int | None = None
) -> list[tuple[str, str]]:
    """Return ids of episodes of one group of which the first did better; the widest apart first,
    of each group at most so many."""
    found = []
    for episodes in _grouped(rewards, groups):
        better = sorted(episodes, key=lambda episode: -rewards[episode])
        pairs = [pair for pair in combinations(better, 2) if rewards[pair[0]] > rewards[pair[1]]]
        found += sorted(pairs, key=lambda pair: rewards[pair[1]] - rewards[pair[0]])[:most]
    return found


def compute_group_advantages(
    rewards: Mapping[str, float], groups: Mapping[str, str]
) -> dict[str, float]:
    """Return how much better each episode was than its group, by id (GRPO, arXiv 2402.03300):

        A_i = (r_i - mean of the group) / (standard deviation + 1e-4)

    `rewards` and `groups`, the group's name, are by episode id. The deviation is the sample's
    (n - 1), as in TRL. Groups in which all did equally well teach nothing and are dropped (dynamic
    sampling of DAPO, arXiv 2503.14476), so that they are not counted in any mean either.
    """
    found: dict[str, float] = {}
    for episodes in _grouped(rewards, groups):
        values = [rewards[episode] for episode in episodes]
        if not math.isclose(min(values), max(values)):
            middle, spread = fmean(values), stdev(values) + _EPSILON
            found |= {
                episode: (value - middle) / spread
                for episode, value in zip(episodes, values, strict=True)
            }
    return found


def _grouped(episodes: Iterable[str], groups: Mapping[str, str]) -> Iterable[list[str]]:
    members: defaultdict[str, list[str]] = defaultdict(list)
    for episode in episodes:
        members[groups[episode]].append(episode)
    return members.values()
