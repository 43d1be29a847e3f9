"""What episodes teach beside what succeeded in them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from loop.training.lessons import build_units, replay_units
from loop.training.settings import TrainSettings, WeightSettings
from tasks.suite import seed_of
from tests.fakes.run import episode
from webagent.errors import UsageError
from webagent.models.model import Message
from webagent.records import Provenance, Trajectory
from webagent.training.language.rows import Encoded, TokenRow


def played(index: int, success: bool) -> Trajectory:
    """An episode with an outcome."""
    return episode(Provenance(index=index), "enter-text", seed_of("train", index), success)


def build(how: WeightSettings, *episodes: tuple[Trajectory, float]) -> list[TokenRow]:
    """The first row of each unit, its ids (1, 2) for a page and (3, 4) for an action."""

    def write(messages: object, reply: str) -> Encoded:
        assert isinstance(messages, tuple) and isinstance(messages[0], Message)
        return Encoded((1,), (2,))

    def encode(trajectory: Trajectory, index: int) -> Encoded:
        return Encoded((3,), (4,))

    scores = {one.id: score for one, score in episodes}
    units = build_units(
        TrainSettings(weights=how), [one for one, _ in episodes], scores, write, encode
    )
    return [unit.rows[0] for unit in units]


def taught(how: WeightSettings, *episodes: tuple[Trajectory, float]) -> list[tuple[str, str]]:
    """Each row's episode, and whether an action or a page was to be said."""
    rows = build(how, *episodes)
    return [(row.episode, "page" if row.ids == (1, 2) else "action") for row in rows]


def test_beside_imitation_the_outcomes_of_all_actions_are_learnt_those_of_failures_too() -> None:
    good, bad = played(0, True), played(1, False)
    plain = taught(WeightSettings(), (good, 1.0), (bad, 0.0))
    both = taught(WeightSettings(world_modelling=True), (good, 1.0), (bad, 0.0))
    assert {one for one, _ in plain} == {good.id}
    assert both[: len(plain)] == plain
    assert {said for _, said in both[len(plain) :]} == {"page"}
    assert {one for one, _ in both[len(plain) :]} == {good.id, bad.id}


def test_dreamt_pages_are_no_outcomes() -> None:
    good = played(0, True)
    dreamt = replace(good, provenance=replace(good.provenance, world="imagined"))
    assert taught(WeightSettings(world_modelling=True), (dreamt, 1.0)) == taught(
        WeightSettings(), (dreamt, 1.0)
    )


def test_outcomes_are_not_learnt_beside_an_objective_that_compares() -> None:
    with pytest.raises(UsageError, match="goes with --objective sft, not dpo"):
        WeightSettings("dpo", world_modelling=True).check()


def test_what_was_explored_at_a_high_temperature_is_imitated_at_1() -> None:
    good = played(0, True)
    steps = [replace(s, decision=replace(s.decision, temperature=10.0)) for s in good.steps]
    explored = replace(good, steps=tuple(steps))
    assert {row.temperature for row in build(WeightSettings(), (explored, 1.0))} == {1.0}
    compared = build(WeightSettings("dpo"), (explored, 1.0), (replace(explored, id="worse"), 0.0))
    assert {row.temperature for row in compared} == {10.0}


def test_of_earlier_successes_the_steps_are_replayed_that_the_policy_may_still_learn_from() -> None:
    def sampled(index: int, success: bool) -> Trajectory:
        one = played(index, success)
        steps = [
            replace(s, decision=replace(s.decision, prompt_ids=(index,), sampled_ids=(7, 8)))
            for s in one.steps[:1]
        ]
        known = [replace(s, decision=replace(s.decision, log_probs=(-0.5, -0.5))) for s in steps]
        return replace(one, steps=tuple(known))

    certain, learning, surprised, failed = (sampled(i, i < 3) for i in range(4))
    shown = played(4, True)  # no model sampled it
    episodes = [certain, learning, surprised, failed, shown]
    scores = {one.id: float(one is not failed) for one in episodes}

    def log_probs(rows: Sequence[TokenRow]) -> list[torch.Tensor]:
        return [torch.tensor([(-0.01, -0.4, -2.0)[row.ids[0]]] * 2) for row in rows]

    (unit,) = replay_units(episodes, scores, log_probs)
    (row,) = unit.rows
    assert row.episode == learning.id and row.advantages == (0.0, 1.0, 1.0)
