"""The monitors of a round, and the warning that comes before a plateau."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curriculum import Curriculum, Kind, Monitor, Tried, monitor, plateau_warning
from tasks.curriculum.monitor import balance_score
from tasks.curriculum.plateau import expected_gain
from tasks.suite import Suite
from tasks.task import Task
from tests.fakes.course import course

SUITE = Suite(
    "fake@1", ("a", "b", "c"), lambda name, seed, _: Task(f"fake/{name}@1", "", seed=seed)
)
CURRICULUM = Curriculum(SUITE, {name: Kind() for name in SUITE.names})


def tried(name: str, seed: int, success: bool, solution: str = "click button") -> Tried:
    """A try whose outcome the loop knows."""
    return Tried(name, seed, solution, success, success)


TRIES = [
    *(tried("a", seed, seed % 2 == 0) for seed in range(8)),
    *(tried("b", seed, True, f"way {seed % 2}") for seed in range(4)),
    *(tried("c", seed, False) for seed in range(8)),
]
RECORDS = {"a": course((4, 8)), "b": course((4, 4)), "c": course((0, 12))}


def test_the_monitors_of_a_round_count_what_was_tried() -> None:
    found = monitor(1, TRIES, CURRICULUM.worths(RECORDS, 2, 6))
    assert (found.tasks, found.tries) == (3, 20)
    assert found.success == pytest.approx(8 / 20)
    assert found.mixed == pytest.approx(1 / 3)
    assert found.diversity == pytest.approx((1 / 4 + 2 / 4) / 2)
    assert found.balance == pytest.approx((1 + 1 + 0) / 3)
    assert found.unsolved == ("c",)
    assert 0 < found.learnable < 1


def test_a_round_in_which_nothing_was_played_is_no_error() -> None:
    found = monitor(1, [], CURRICULUM.worths({}, 2, 6))
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
    found = [Tried("a", seed, "click", success, kept) for seed, success, kept in tries]
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


def test_while_there_is_much_to_learn_nothing_is_said() -> None:
    assert plateau_warning(RISING[:1]) == ""
    assert plateau_warning(RISING) == ""


def test_the_warning_comes_before_the_round_that_gains_nothing() -> None:
    late = [*RISING, noted(3, 0.62, 0.15, 0.2)]
    said = plateau_warning(late)
    assert said.startswith("round 4 is likely to be a plateau")
    assert "What helps" in said
    assert expected_gain(late) == pytest.approx(0.02 * 0.15 / 0.6)


def test_the_warning_says_what_stands_in_the_way() -> None:
    last = noted(3, 0.9, 0.1, 0.1)
    stuck = [*RISING, replace(last, unsolved=("login", "draw"), diversity=0.1, chances={})]
    said = plateau_warning(stuck)
    assert "what nobody solved (login, draw)" in said
    assert "add harder tasks" in said and "explore more" in said


def test_a_gain_that_chance_would_hide_counts_as_none() -> None:
    small = [noted(1, 0.5, 0.6, 0.5, 30), noted(2, 0.53, 0.45, 0.5, 30)]
    large = [replace(one, tries=30_000) for one in small]
    assert plateau_warning(small) and not plateau_warning(large)


def test_as_long_as_there_is_nearly_as_much_to_learn_nothing_is_said() -> None:
    assert plateau_warning([noted(1, 0.5, 0.6, 0.8, 30), noted(2, 0.4, 0.58, 0.8, 30)]) == ""


def test_where_more_is_to_be_learnt_than_before_nothing_is_said() -> None:
    assert plateau_warning([noted(1, 0.9, 0.1, 0.1), noted(2, 0.9, 0.3, 0.4)]) == ""
