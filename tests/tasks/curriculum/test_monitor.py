"""The monitors of a round, and the warning that comes before a plateau."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curriculum import (
    Curriculum,
    Monitor,
    MonitoredTry,
    TaskKind,
    measure_round,
    plateau_warning,
    scale_exploration,
)
from tasks.curriculum.monitor import balance_score, expected_gain, openness
from tasks.suite import Suite
from tasks.task import Task
from tests.fakes.course import course

SUITE = Suite(
    "fake@1", ("a", "b", "c"), lambda name, seed, _: Task(f"fake/{name}@1", "", seed=seed)
)
CURRICULUM = Curriculum(SUITE, {name: TaskKind() for name in SUITE.names})


def tried(name: str, seed: int, success: bool, solution: str = "click button") -> MonitoredTry:
    """A try whose outcome the loop knows."""
    return MonitoredTry(name, seed, solution, success, success)


TRIES = [
    *(tried("a", seed, seed % 2 == 0) for seed in range(8)),
    *(tried("b", seed, True, f"way {seed % 2}") for seed in range(4)),
    *(tried("c", seed, False) for seed in range(8)),
]
RECORDS = {"a": course((4, 8)), "b": course((4, 4)), "c": course((0, 12))}


def test_the_monitors_of_a_round_count_what_was_tried() -> None:
    found = measure_round(1, TRIES, CURRICULUM.estimates(RECORDS, 2, 6))
    assert (found.tasks, found.tries) == (3, 20)
    assert found.success == pytest.approx(8 / 20)
    assert found.mixed == pytest.approx(1 / 3)
    assert found.diversity == pytest.approx((1 / 4 + 2 / 4) / 2)
    assert found.balance == pytest.approx((1 + 1 + 0) / 3)
    assert found.unsolved == ("c",)
    assert 0 < found.learnable < 1


def test_a_round_in_which_nothing_was_played_is_no_error() -> None:
    found = measure_round(1, [], CURRICULUM.estimates({}, 2, 6))
    assert (found.tries, found.success, found.balance, found.diversity) == (0, 0, 0, 0)


def test_the_balance_score_is_that_of_the_paper() -> None:
    kept = [tried("a", seed, True) for seed in range(3)]
    wrong = [replace(tried("a", 9 + i, False), is_kept=True) for i in range(3)]
    assert balance_score(kept, 6) == pytest.approx(3 / 6 * 3 / 3)
    assert balance_score([*kept, *wrong], 6) == pytest.approx(3 / 6 * 3 / 6)
    assert balance_score([*kept, *kept], 6) == pytest.approx(3 / 6 * 3 / 6)
    assert balance_score([tried("a", seed, True) for seed in range(12)], 6) == 1
    assert balance_score([tried("a", 1, False)], 6) == 0


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.booleans()), max_size=20))
@settings(deadline=None)
def test_a_balance_score_lies_between_0_and_1(tries: list[tuple[int, bool, bool]]) -> None:
    found = [MonitoredTry("a", seed, "click", success, kept) for seed, success, kept in tries]
    assert 0 <= balance_score(found) <= 1


def noted(round: int, chance: float, value: float, learnable: float, tries: int = 300) -> Monitor:
    """A round's monitors, all tasks alike."""
    return Monitor(
        round=round,
        tasks=4,
        tries=tries,
        success=chance,
        mixed=learnable,
        diversity=0.5,
        balance=0.5,
        learnable=learnable,
        value=value,
        unsolved=(),
        chances=dict.fromkeys("abcd", chance),
    )


RISING = [noted(1, 0.4, 0.7, 0.8), noted(2, 0.6, 0.6, 0.7)]


OPEN = {"a": 0.99, "b": 0.98, "login": 0.2, "draw": 0.2}


@pytest.mark.parametrize(
    "monitors",
    [
        RISING[:1],
        RISING,
        [*RISING, noted(3, 0.97, 0.1, 0.15)],
        [*RISING, replace(noted(3, 0.9, 0.05, 0.05), unsolved=("login", "draw"), chances=OPEN)],
    ],
    ids=["one round", "much to learn", "something to learn", "still open"],
)
def test_while_there_is_something_to_learn_nothing_is_said(monitors: list[Monitor]) -> None:
    assert plateau_warning(monitors) == ""


def test_the_warning_comes_once_nearly_every_task_is_decided() -> None:
    late = [*RISING, noted(3, 0.96, 0.1, 0.04)]
    said = plateau_warning(late)
    assert said.startswith("round 4 is likely to be a plateau: 4% of the tasks")
    assert "after 70% a round ago" in said and "What helps" in said
    assert expected_gain(late) == pytest.approx(0.36 * 0.1 / 0.6)


def test_the_warning_says_what_stands_in_the_way() -> None:
    last = noted(3, 0.9, 0.1, 0.05)
    chances = {"a": 0.99, "b": 0.98, "login": 0.02, "draw": 0.02}
    stuck = replace(last, unsolved=("login", "draw"), diversity=0.1, chances=chances)
    said = plateau_warning([*RISING, stuck])
    assert "what nobody solved (login, draw)" in said
    assert "add harder tasks" in said and "explore more" in said


def test_openness_is_most_where_tasks_are_done_half_the_time() -> None:
    assert openness(noted(1, 0.5, 0.5, 0.5)) == pytest.approx(1)
    assert openness(noted(1, 1.0, 0.5, 0.5)) == openness(noted(1, 0.0, 0.5, 0.5)) == 0
    assert openness(replace(noted(1, 0.5, 0.5, 0.5), chances={})) == 0


def test_exploration_follows_success_and_diversity_within_bounds():
    wild, tame, good = (0.1, 1.0), (0.9, 0.2), (0.7, 0.8)

    assert scale_exploration([]) == scale_exploration([good, good]) == 1
    assert scale_exploration([wild]) == 0.8
    assert scale_exploration([tame]) == 1.25
    assert scale_exploration([tame, wild, good]) == 1
    assert scale_exploration([wild] * 9) == 0.5
    assert scale_exploration([tame] * 9) == 2
