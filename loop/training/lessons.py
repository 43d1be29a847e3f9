"""What the stored episodes of runs teach, as units of rows for the trainer."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.reward.language import outcome_row
from loop.training.settings import TrainSettings, WeightSettings
from tasks.suite import split_of
from webagent.errors import SetupError
from webagent.records import Trajectory
from webagent.store import Store
from webagent.training.language.rows import (
    Encode,
    TokenRow,
    add_advantages,
    make_step_rows,
    merge_rows,
)
from webagent.training.language.selection import (
    compute_group_advantages,
    compute_step_weights,
    pair_episodes,
    select_successes,
)
from webagent.training.language.texts import Write, make_world_rows
from webagent.training.language.units import TrainingUnit, pair_rows

if TYPE_CHECKING:
    from torch import Tensor

    from webagent.training.language.objectives import Objective

Scores = Mapping[str, float]
"""By episode id; an episode that no evaluator could score is not among them."""
_CERTAIN, _SURPRISED = 1 / 0.95, 1 / 0.5
"""Least and greatest perplexity of a step that is replayed, as WebRL's."""


def build_units(
    settings: TrainSettings,
    episodes: Sequence[Trajectory],
    scores: Scores,
    write: Write,
    encode: Encode,
) -> list[TrainingUnit]:
    """The units for the role and the objective.

    `write` puts messages and a reply into the model's ids, `encode` a step that no model sampled.
    Raises `SetupError` when the episodes hold nothing that this objective learns from.
    """
    scored = [episode for episode in episodes if episode.id in scores]
    if settings.role == "world":
        units = [TrainingUnit((row,)) for one in episodes for row in make_world_rows(one, write)]
    elif settings.role == "reward":
        goods = ((one, scores[one.id] >= 0.5) for one in scored)
        units = [
            TrainingUnit((outcome_row(one, is_good, write),))
            for one, is_good in goods
            if one.steps and one.ending is not None and not one.ending.is_infrastructure
        ]
    else:
        units = _policy_units(settings, scored, scores, encode)
        if settings.weights.world_modelling:
            units += [
                TrainingUnit((row,)) for one in episodes for row in make_world_rows(one, write)
            ]
    if not units:
        good = sum(score >= 0.5 for score in scores.values())
        wanted = {
            "sft": "successes to imitate",
            "dpo": "a success and a failure at one task and seed",
        }.get(settings.objective, "episodes of one task and seed, sampled by a model, that differ")
        raise SetupError(
            f"nothing to train on: {len(episodes)} episodes, {len(scores)} of them scored as"
            f" {settings.score!r}, {good} successes; --objective {settings.objective} needs"
            f" {wanted}"
        )
    return units


def _policy_units(
    settings: TrainSettings, episodes: Sequence[Trajectory], scores: Scores, encode: Encode
) -> list[TrainingUnit]:
    """Return the units of a policy's objective: successes without steps that led nowhere; a success
    beside a failure at the same task and seed; or sampled steps with their advantages."""
    by_id, most = {one.id: one for one in episodes}, settings.most or None
    groups = {one.id: f"{one.task.id}:{one.task.seed}" for one in episodes}
    match settings.objective:
        case "sft":
            # At the temperature of exploring, imitation would sharpen the policy until it explored
            # no longer.
            return [
                TrainingUnit((replace(row, temperature=1.0),))
                for one in select_successes(episodes, scores, most=most)
                for row in merge_rows(
                    make_step_rows(one, weights=compute_step_weights(one), encode=encode)
                )
            ]
        case "dpo":
            sides = (
                [merge_rows(make_step_rows(by_id[name], encode=encode)) for name in pair]
                for pair in pair_episodes(scores, groups, most=most)
            )
            return [pair_rows(better, worse) for better, worse in sides if better and worse]
        case _:
            # Groups without any difference are dropped.
            rewards = {one.id: scores[one.id] for one in episodes}
            advantages = compute_group_advantages(rewards, groups)
    rows = sampled_rows(one for one in episodes if one.id in advantages)
    return [TrainingUnit((row,)) for row in merge_rows(add_advantages(rows, advantages))]


def sampled_rows(episodes: Iterable[Trajectory]) -> list[TokenRow]:
    """Return a row for each step that a model sampled and that has its log-probabilities; what was
    demonstrated has no behaviour to compare with."""
    return [
        row
        for one in episodes
        for row in make_step_rows(
            one, weights=[float(bool(step.decision.sampled_ids)) for step in one.steps]
        )
        if row.has_behaviour
    ]


def replay_units(
    episodes: Sequence[Trajectory],
    scores: Scores,
    log_probs: Callable[[Sequence[TokenRow]], Sequence["Tensor"]],
) -> list[TrainingUnit]:
    """Return the steps of these episodes' successes of which the policy is neither certain nor
    surprised, each with an advantage of 1: WebRL's replay (arXiv 2411.02337).

    `log_probs` are those of a row's taught ids under the policy that is trained.
    """
    rows = sampled_rows(select_successes(episodes, scores))
    kept = [
        row.with_advantage(1.0)
        for row, values in zip(rows, log_probs(rows), strict=True)
        if _CERTAIN <= math.exp(-float(values.mean())) <= _SURPRISED
    ]
    return [TrainingUnit((row,)) for row in merge_rows(kept)]


def make_objective(how: WeightSettings) -> "Objective":
    """What is minimised."""
    from webagent.training.language import objectives

    match how.objective:
        case "dpo":
            return objectives.Preference(0.1 if how.beta is None else how.beta)
        case "grpo":
            return objectives.PolicyGradient(how.beta or 0.0)
        case _:
            return objectives.Supervised()


@dataclass(frozen=True, slots=True)
class Experience:
    """What was played and how well it went."""

    episodes: Sequence[Trajectory]
    scores: Scores
    held_out: int
    """Episodes left out, since measurements are made on their seeds."""


def load_experience(runs: Sequence[Path], score: str) -> Experience:
    """All that the runs hold on seeds for training. Raises `StoreError` for what is no run."""
    episodes, scores, held_out = [], {}, 0
    for run in runs:
        with Store.open(run) as store:
            for name, found in store.scores().items():
                values = [each.value for each in found if each.name == score]
                if values and values[0] is not None:
                    scores[name] = values[0]
            for episode in store.trajectories():
                if split_of(episode.task.seed) == "train":
                    episodes.append(episode)
                else:
                    held_out += 1
    names = {episode.id for episode in episodes}
    scores = {name: value for name, value in scores.items() if name in names}
    return Experience(episodes, scores, held_out)
