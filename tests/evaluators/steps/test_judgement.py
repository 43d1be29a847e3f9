"""What trainers take from judgements: labels, weights, splices, and what is kept in a run."""

from pathlib import Path

import pytest

from evaluators.steps import (
    JudgedStep,
    StepJudgement,
    label_steps,
    load_episode_judgements,
    load_judgements,
    store_judgements,
    weigh_steps,
)
from tests.evaluators.attribution.cases import HOME, LAMPS, played, said
from webagent.action.actions import Answer, Click
from webagent.errors import StoreError
from webagent.store import Store
from webagent.training.language import selection

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
