"""Which stored episodes and steps are learnt from, and what is compared with what."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean

from webagent.policy.past_actions import find_detours
from webagent.records import Trajectory
from webagent.training.language.rows import TokenRow
from webagent.training.rows import observation_after


def successes(
    trajectories: Iterable[Trajectory],
    scores: Mapping[str, float | None],
    at_least: float = 0.5,
    most: int | None = None,
) -> list[Trajectory]:
    """Episodes whose score, by id, reaches the mark; what rejection fine-tuning learns from.

    Of one task with its seed at most so many, those of the fewest steps. Episodes without a score
    or that infrastructure ended are left out.
    """
    found: defaultdict[str, list[Trajectory]] = defaultdict(list)
    for trajectory in trajectories:
        score = scores.get(trajectory.id)
        ended = trajectory.ending is not None and not trajectory.ending.is_infrastructure
        if ended and score is not None and score >= at_least:
            found[f"{trajectory.task.id}:{trajectory.task.seed}"].append(trajectory)
    return [
        trajectory
        for group in found.values()
        for trajectory in sorted(group, key=lambda one: len(one.steps))[:most]
    ]


def step_weights(
    trajectory: Trajectory, labels: Mapping[int, bool] | None = None
) -> tuple[float, ...]:
    """1 for each step to be imitated and 0 for a wrong one: the partial masking of STeP (arXiv
    2505.20023), in which a wrong step stays in the prompts of later ones but is not learnt.

    `labels` are a judge's: whether the step of this index was right. Where it says nothing, a step
    is wrong that had no effect, or that was a detour and not demonstrated.
    """
    nowhere = find_detours(trajectory.steps)
    weights = []
    for index, step in enumerate(trajectory.steps):
        after = observation_after(trajectory, index)
        had_no_effect = after is not None and bool(after.outcome) and not after.over
        strayed = index in nowhere and step.decision.source != "demonstration"
        is_right = not (had_no_effect or strayed)
        if labels is not None:
            is_right = labels.get(index, is_right)
        weights.append(float(is_right))
    return tuple(weights)


def mismatched(rows: Sequence[TokenRow]) -> list[TokenRow]:
    """Each row's prompt with the reply of the row before it, the first with the last's: the pairs
    from which KTO estimates its baseline, as TRL makes them.

    Rows of one reply each. A constraint does not come along: the reply was not sampled under it.
    """
    found = []
    for row, other in zip(rows, [*rows[-1:], *rows[:-1]], strict=True):
        [(start, _)], [(begin, end)] = row.spans, other.spans
        ids = row.ids[:start] + other.ids[begin:end]
        found.append(
            replace(
                row,
                ids=ids,
                weights=(0.0,) * start + (1.0,) * (end - begin),
                log_probs=(),
                allowed=(),
                advantages=(),
                spans=((start, len(ids)),),
            )
        )
    return found


def episode_pairs(
    rewards: Mapping[str, float],
    groups: Mapping[str, str],
    margin: float = 0.0,
    most: int | None = None,
) -> list[tuple[str, str]]:
    """Ids of episodes of one group of which the first did better by more than the margin; the
    widest apart first, of each group at most so many."""
    members: defaultdict[str, list[str]] = defaultdict(list)
    for episode in rewards:
        members[groups[episode]].append(episode)
    found = []
    for episodes in members.values():
        better = sorted(episodes, key=lambda episode: -rewards[episode])
        pairs = [
            (one, other)
            for one, other in combinations(better, 2)
            if rewards[one] - rewards[other] > margin
        ]
        found += sorted(pairs, key=lambda pair: rewards[pair[1]] - rewards[pair[0]])[:most]
    return found


def step_pairs(
    rows: Sequence[TokenRow], values: Sequence[float], margin: float = 0.0
) -> list[tuple[TokenRow, TokenRow]]:
    """Rows of one reply to the same prompt and images, the first worth more than the other by
    over the margin. Equal replies are no pair."""
    prompts: defaultdict[object, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        [(start, _)] = row.spans
        prompts[row.ids[:start], row.images].append(index)
    found = []
    for places in prompts.values():
        better = sorted(places, key=lambda place: -values[place])
        found += [
            (rows[one], rows[other])
            for one, other in combinations(better, 2)
            if values[one] - values[other] > margin and rows[one].ids != rows[other].ids
        ]
    return found


def perplexity(log_probs: Sequence[float]) -> float:
    """exp of minus the mean log-probability of a reply's tokens: 1 when it was certain."""
    return math.exp(-fmean(log_probs))


def within_perplexity(
    rows: Sequence[TokenRow],
    log_probs: Sequence[Sequence[float]],
    low: float = 1 / 0.95,
    high: float = 1 / 0.5,
) -> list[TokenRow]:
    """The rows of the replay buffer whose replies the present policy finds neither certain nor
    strange: perplexity from low to high, both included (WebRL, arXiv 2411.02337, with its bounds).

    `log_probs` are those of each row's taught tokens under the present policy.
    """
    return [
        row
        for row, values in zip(rows, log_probs, strict=True)
        if low <= perplexity(values) <= high
    ]
