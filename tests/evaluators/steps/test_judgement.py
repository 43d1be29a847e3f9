"""Judgements of steps, what trainers take from them, and what is kept in a run."""

from pathlib import Path

import pytest

from evaluators.steps import (
    JudgedStep,
    StepJudgement,
    label_steps,
    load_episode_judgements,
    load_judgements,
    reward_steps,
    store_judgements,
)
from tests.evaluators.attribution.cases import HOME, LAMPS, played, said
from webagent.action.actions import Answer, Click
from webagent.errors import StoreError
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


def test_mistakes_and_waste_are_not_imitated_and_undecided_steps_have_no_label() -> None:
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


def test_rewards_add_up_to_the_outcome_and_are_what_step_advantages_take() -> None:
    good = StepJudgement("good", "m", (JudgedStep("neutral", -0.1), JudgedStep("correct", 0.6)))
    bad = StepJudgement("bad", "m", (JudgedStep("neutral", 0.1), JudgedStep("incorrect", -0.6)))
    rewards = {"good": reward_steps(good, 1.0), "bad": reward_steps(bad, 0.0)}
    assert [sum(each) for each in rewards.values()] == pytest.approx([1.0, 0.0])
    found = compute_step_advantages(rewards, {"good": "g", "bad": "g"})
    assert found["good"][1] > 0 > found["bad"][1]


def test_a_judgement_that_abstains_gives_every_step_the_same() -> None:
    nothing = StepJudgement("e", "none", (JudgedStep(),) * 4)
    assert reward_steps(nothing, 1.0) == (0.25,) * 4
    assert reward_steps(StepJudgement("e", "none", ()), 1.0) == ()
