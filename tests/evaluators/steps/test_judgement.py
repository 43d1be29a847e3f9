"""Values and judgements of steps, what trainers take from them, and what is kept in a run."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.evaluator import FunctionEvaluator, Verdict
from evaluators.steps import (
    JudgedStep,
    StepJudgement,
    build_value,
    judge_by_value,
    label_steps,
    load_episode_judgements,
    load_judgements,
    reward_steps,
    store_judgements,
    weigh_steps,
)
from tests.evaluators.attribution.cases import HOME, LAMPS, played, said
from webagent.action.actions import Answer, Click
from webagent.errors import StoreError
from webagent.records import Ending, Trajectory
from webagent.store import Store
from webagent.training.language import selection
from webagent.training.language.selection import compute_step_advantages

MIXED = StepJudgement(
    "e",
    "witness@1",
    (
        JudgedStep("correct", 0.5),
        JudgedStep("neutral", 0.0, is_redundant=True),
        JudgedStep("incorrect", -0.25, is_error=True, reason="wrong", correction="right"),
        JudgedStep(),
        JudgedStep("neutral"),
    ),
)


def test_mistakes_and_waste_have_no_weight_and_what_is_open_is_left_out_of_labels() -> None:
    assert weigh_steps(MIXED) == (1.0, 0.0, 0.0, 1.0, 1.0)
    assert label_steps(MIXED) == {0: True, 1: False, 2: False, 4: True}


def test_labels_rule_over_the_trainers_own_and_leave_it_what_is_open() -> None:
    idle = said(LAMPS, "no effect")
    episode = played("e", "x", (LAMPS, Click(3)), (idle, Click(4)), (HOME, Answer("")))
    judgement = StepJudgement("e", "m", (JudgedStep("correct"), JudgedStep(), JudgedStep()))
    assert selection.compute_step_weights(episode) == (0.0, 1.0, 1.0)
    assert selection.compute_step_weights(episode, label_steps(judgement)) == (1.0, 1.0, 1.0)


def test_what_is_kept_is_read_back_as_it_was(tmp_path: Path) -> None:
    with Store.open(tmp_path / "run", create=True) as store:
        assert store_judgements(store, [MIXED]) == 1
    with Store.open(tmp_path / "run") as store:
        assert load_judgements(store) == {"e": MIXED}
        assert load_episode_judgements(store, "e") == (MIXED,)
        assert load_episode_judgements(store, "other") == ()


def test_sources_are_kept_beside_each_other_and_replaced_by_themselves(tmp_path: Path) -> None:
    rules = StepJudgement("e", "rules@1", (JudgedStep("neutral", 0.0),))
    better = StepJudgement("e", "rules@1", (JudgedStep("correct", 1.0),))
    other = StepJudgement("f", "rules@1", (), reason="nothing to judge")
    with Store.open(tmp_path / "run", create=True) as store:
        store.put_state("stepsister", 1)
        store_judgements(store, [rules, MIXED, better, other])
        assert load_judgements(store, "rules") == {"e": better, "f": other}
        assert load_judgements(store, "witness") == {"e": MIXED}
        assert load_judgements(store, "nobody") == {}


def test_a_damaged_judgement_is_named(tmp_path: Path) -> None:
    with Store.open(tmp_path / "run", create=True) as store:
        store.put_state("steps:e:rules@1", {"episode": "e", "source": "rules@1", "steps": 3})
        with pytest.raises(StoreError, match=r"steps:e:rules@1.*judge the episode again"):
            load_judgements(store)


@pytest.mark.parametrize("progress", [1.5, -1.01])
def test_progress_beyond_the_whole_task_is_refused(progress: float) -> None:
    with pytest.raises(ValueError, match="outside"):
        StepJudgement("e", "m", (JudgedStep("correct", progress),))


def episode(count: int) -> Trajectory:
    return played("e", "Find it.", *[(HOME, Click(1))] * (count - 1), (LAMPS, Answer("x")))


def of_length(values: Sequence[float | None]):
    """The value of a prefix by how many steps it has."""
    return lambda trajectory: values[len(trajectory.steps)]


async def test_each_step_made_the_difference_between_two_values() -> None:
    found = await judge_by_value(episode(3), of_length([0.2, 0.6, 0.55, 0.0]), outcome=1.0)
    assert [step.progress for step in found.steps] == pytest.approx([0.4, -0.05, 0.45])
    assert [step.label for step in found.steps] == ["correct", "neutral", "correct"]
    assert found.first_error is None


async def test_a_step_that_lost_what_was_won_is_the_first_error() -> None:
    found = await judge_by_value(episode(3), of_length([0.5, 0.8, 0.3, 0.0]), outcome=0.0)
    assert found.first_error == 1 and "0.80 to 0.30" in found.steps[1].reason


async def test_the_value_sees_prefixes_without_what_came_later() -> None:
    seen: list[Trajectory] = []

    async def value(trajectory: Trajectory) -> float:
        seen.append(trajectory)
        return 0.5

    await judge_by_value(episode(2), value)
    assert [len(one.steps) for one in seen] == [0, 1, 2]
    assert [one.ending for one in seen] == [None, None, Ending.ANSWERED]
    assert seen[1].last == LAMPS and seen[0].evidence == {}


async def test_where_the_value_abstains_its_neighbours_do() -> None:
    found = await judge_by_value(episode(3), of_length([0.2, None, 0.5, 0.9]))
    assert found.abstained == (0, 1) and found.steps[2].progress == pytest.approx(0.4)


async def test_a_value_before_the_first_step_can_be_given() -> None:
    found = await judge_by_value(episode(1), of_length([None, 0.9]), start=0.4)
    assert found.steps[0].progress == pytest.approx(0.5)


async def test_a_value_outside_of_likelihoods_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        await judge_by_value(episode(1), of_length([3.0, 0.1]))


async def test_an_evaluator_serves_as_a_value_function() -> None:
    def judge(trajectory: Trajectory) -> Verdict:
        return Verdict(len(trajectory.steps) / 4, f"{trajectory.ending}")

    value = build_value(FunctionEvaluator("steps@1", "success", judge))
    found = await judge_by_value(episode(3), value, start=0.0)
    assert [step.progress for step in found.steps] == pytest.approx([0.25] * 3)


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=2, max_size=9),
    st.floats(0, 1),
)
def test_rewards_of_steps_add_up_to_the_outcome(values: list[float | None], outcome: float) -> None:
    found = asyncio.run(
        judge_by_value(episode(len(values) - 1), of_length(values), outcome=outcome)
    )
    rewards = reward_steps(found, outcome)
    assert sum(rewards) == pytest.approx(outcome, abs=1e-9) and len(rewards) == len(values) - 1


async def test_rewards_are_what_step_advantages_take() -> None:
    good = await judge_by_value(episode(2), of_length([0.5, 0.4, 0.0]), outcome=1.0)
    bad = await judge_by_value(episode(2), of_length([0.5, 0.6, 0.0]), outcome=0.0)
    rewards = {"good": reward_steps(good, 1.0), "bad": reward_steps(bad, 0.0)}
    found = compute_step_advantages(rewards, {"good": "g", "bad": "g"})
    assert found["good"][1] > 0 > found["bad"][1]


def test_a_judgement_that_abstains_gives_every_step_the_same() -> None:
    nothing = StepJudgement("e", "none", (JudgedStep(),) * 4)
    assert reward_steps(nothing, 1.0) == (0.25,) * 4
    assert reward_steps(StepJudgement("e", "none", ()), 1.0) == ()
