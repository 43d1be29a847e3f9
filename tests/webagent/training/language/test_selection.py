"""What is learnt from, and what is compared with what."""

from dataclasses import replace

from tests.fakes.lessons import episode, node, page
from tests.webagent.training.language.episodes import CHOICE, played, sampled
from webagent.action.actions import Click
from webagent.records import Ending
from webagent.training.language.rows import make_step_rows
from webagent.training.language.selection import (
    compute_step_weights,
    pair_episodes,
    select_successes,
)

PAGE, GONE = page("Go", node(1, "button", "Go")), page("Go", node(1, "button", "Gone"))


def test_successes_are_scored_ended_and_good() -> None:
    one = sampled((1,), (2,))
    good, bad, unscored = (played(one, id=name) for name in ("good", "bad", "unscored"))
    failed = played(one, id="failed", ending=Ending.WORLD_FAILED)
    scores = {"good": 1.0, "bad": 0.2, "failed": 1.0, "unscored": None}
    assert select_successes([good, bad, failed, unscored], scores) == [good]


def test_of_many_successes_on_a_task_the_shortest_are_kept() -> None:
    one = sampled((1,), (2,))
    long, short, middle = (played(*[one] * steps, id=str(steps)) for steps in (3, 1, 2))
    scores = {"3": 1.0, "1": 1.0, "2": 1.0}
    assert select_successes([long, short, middle], scores, most=2) == [short, middle]


def test_steps_without_effect_and_detours_are_masked() -> None:
    refused = replace(PAGE, outcome="no effect")
    turns = ((PAGE, Click(1)), (refused, Click(1)), (GONE, Click(1)), (PAGE, Click(1)))
    shown = episode(*turns, last=replace(GONE, outcome="done", over=True))
    steps = [replace(s, decision=replace(s.decision, source="policy")) for s in shown.steps]
    assert compute_step_weights(replace(shown, steps=tuple(steps))) == (0, 0, 0, 1)


def test_a_demonstrated_detour_is_learnt_but_not_a_refused_step() -> None:
    turns = ((PAGE, Click(1)), (GONE, Click(1)), (PAGE, Click(1)))
    shown = episode(*turns, last=replace(PAGE, outcome="no effect"))
    assert compute_step_weights(shown) == (1, 1, 0)


def test_masked_steps_stay_in_later_prompts_and_teach_nothing() -> None:
    one, two = sampled((1,), (2, 3), allowed=CHOICE), sampled((1, 2, 3, 4), (5,))
    [row] = make_step_rows(played(one, two), weights=(0, 1))
    assert row.ids == (1, 2, 3, 4, 5)
    assert row.weights == (0, 0, 0, 0, 1)


def test_pairs_of_episodes_are_of_one_group_and_apart() -> None:
    rewards = {"a": 1.0, "b": 0.0, "c": 0.6, "d": 0.0, "e": 1.0}
    groups = {"a": "one", "b": "one", "c": "one", "d": "two", "e": "two"}
    assert pair_episodes(rewards, groups) == [("a", "b"), ("c", "b"), ("a", "c"), ("e", "d")]
    assert pair_episodes(rewards, groups, most=1) == [("a", "b"), ("e", "d")]
