"""How much better episodes and steps were than their like: rewards turned into advantages."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, stdev
from typing import Literal, TypeAlias

from webagent.policy.past_actions import page_appearance
from webagent.records import Observation, Trajectory
from webagent.training.rows import observation_after

Scale: TypeAlias = Literal["group", "batch", "none"]
"""What differences from a group's mean are divided by: the group's standard deviation (GRPO), that
of all rewards together, or nothing (Dr. GRPO, arXiv 2503.20783)."""
_EPSILON = 1e-4
"""Added to a standard deviation before dividing by it, as TRL does."""


def group_advantages(
    rewards: Mapping[str, float], groups: Mapping[str, str], scale: Scale = "group"
) -> dict[str, float]:
    """How much better each episode was than its group, by id (GRPO, arXiv 2402.03300):

        A_i = (r_i - mean of the group) / (standard deviation + 1e-4)

    `rewards` and `groups`, the group's name, are by episode id. The deviation is the sample's
    (n - 1), as in TRL. Groups in which all did equally well teach nothing and are dropped (dynamic
    sampling of DAPO, arXiv 2503.14476), so that they are not counted in any mean either.
    """
    found: dict[str, float] = {}
    for episodes in _grouped(rewards, groups):
        values = [rewards[episode] for episode in episodes]
        standard = _standard(values, scale, list(rewards.values()))
        if standard is not None:
            middle, spread = standard
            found |= {episode: (rewards[episode] - middle) / spread for episode in episodes}
    return found


def page_key(observation: Observation) -> Hashable:
    """The same for pages that look the same at the same address."""
    return observation.url, tuple(page_appearance(observation))


def step_group_advantages(
    trajectories: Sequence[Trajectory],
    rewards: Mapping[str, float],
    discount: float = 0.95,
    scale: Scale = "none",
    key: Callable[[Observation], Hashable] = page_key,
) -> dict[str, tuple[float, ...]]:
    """How much better each step was than others from the same page, by episode id (GiGPO, arXiv
    2505.10978): the discounted return of a step minus the mean of those that
    episodes of the same task and seed had from a page of the same key.

    A step whose page no other was on gets 0. To be added to the episodes' advantages, times the
    paper's omega.
    """
    returns: defaultdict[Hashable, list[tuple[str, int, float]]] = defaultdict(list)
    for trajectory in trajectories:
        if trajectory.id not in rewards:
            continue
        length = len(trajectory.steps)
        for index, step in enumerate(trajectory.steps):
            value = discount ** (length - 1 - index) * rewards[trajectory.id]
            place = (trajectory.task.id, trajectory.task.seed, key(step.observation))
            returns[place].append((trajectory.id, index, value))
    found = {t.id: [0.0] * len(t.steps) for t in trajectories if t.id in rewards}
    everything = [value for group in returns.values() for _, _, value in group]
    for group in returns.values():
        standard = _standard([value for _, _, value in group], scale, everything)
        if standard is not None:
            middle, spread = standard
            for episode, index, value in group:
                found[episode][index] = (value - middle) / spread
    return {episode: tuple(values) for episode, values in found.items()}


def contributions(progress: Sequence[float]) -> tuple[float, ...]:
    """What each step added to the progress, estimated before each step and at the end: the sum is
    the progress of the whole episode."""
    return tuple(after - before for before, after in pairwise(progress))


def progress_rewards(
    contributions: Sequence[float],
    grounded: Sequence[bool],
    contribution: float = 1.0,
    grounding: float = 0.5,
) -> tuple[float, ...]:
    """A reward for each step (SPA, arXiv 2505.20732): what it contributed to the outcome, as an
    estimator says, and whether it could be done at all,

        r_t = alpha c_t + beta g_t

    The defaults are those of the authors' code. An estimator's contributions are to add up to the
    episode's outcome; it is trained with `losses.attribution`.
    """
    return tuple(
        contribution * part + grounding * float(is_grounded)
        for part, is_grounded in zip(contributions, grounded, strict=True)
    )


def grounded_steps(trajectory: Trajectory) -> tuple[bool, ...]:
    """Whether each step's action could be done and had an effect."""
    after = [observation_after(trajectory, index) for index in range(len(trajectory.steps))]
    return tuple(page is None or not page.outcome or page.over for page in after)


def step_advantages(
    rewards: Mapping[str, Sequence[float]],
    groups: Mapping[str, str],
    discount: float = 1.0,
    scale: Scale = "group",
) -> dict[str, tuple[float, ...]]:
    """From rewards of steps, by episode id, to advantages of steps: GRPO with process rewards
    (arXiv 2402.03300, section 4.1.3),

        A_t = sum over k >= t of discount^(k - t) (r_k - mean) / (standard deviation + 1e-4)

    with mean and deviation over all steps of the group, so that a step is not thought worse for
    coming late. Groups in which all steps were rewarded equally are dropped. SPA trains with PPO
    and a critic instead.
    """
    everything = [value for values in rewards.values() for value in values]
    found: dict[str, tuple[float, ...]] = {}
    for episodes in _grouped(rewards, groups):
        values = [value for episode in episodes for value in rewards[episode]]
        standard = _standard(values, scale, everything)
        if standard is not None:
            middle, spread = standard
            for episode in episodes:
                each = [(value - middle) / spread for value in rewards[episode]]
                found[episode] = _returns(each, discount)
    return found


def critic_advantages(
    values: Sequence[float], outcome: float, next_step: float = 0.5
) -> tuple[float, ...]:
    """WebRL's advantage of each step (arXiv 2411.02337) from a critic's values before each:

        A_t = lambda (r_t + V(s_(t+1)) - V(s_t)) + (1 - lambda) (r_T - V(s_t))

    `outcome` is r_T, the only reward; after the last step there is no value. `next_step` is
    lambda.
    """
    found = []
    for index, value in enumerate(values):
        is_last = index + 1 == len(values)
        ahead = outcome if is_last else values[index + 1]
        found.append(next_step * (ahead - value) + (1 - next_step) * (outcome - value))
    return tuple(found)


def _grouped(episodes: Iterable[str], groups: Mapping[str, str]) -> Iterable[list[str]]:
    members: defaultdict[str, list[str]] = defaultdict(list)
    for episode in episodes:
        members[groups[episode]].append(episode)
    return members.values()


def _standard(
    values: Sequence[float], scale: Scale, everything: Sequence[float]
) -> tuple[float, float] | None:
    """The mean of a group and what differences from it are divided by; None where all is equal."""
    if len(values) < 2 or math.isclose(min(values), max(values)):
        return None
    if scale == "none":
        return fmean(values), 1.0
    return fmean(values), stdev(values if scale == "group" else everything) + _EPSILON


def _returns(rewards: Sequence[float], discount: float) -> tuple[float, ...]:
    found: list[float] = []
    ahead = 0.0
    for reward in reversed(rewards):
        ahead = reward + discount * ahead
        found.append(ahead)
    return tuple(reversed(found))
