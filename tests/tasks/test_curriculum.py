"""The curriculum goes where there is something to learn, and only to training seeds."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.curriculum import Curriculum, Record
from tasks.proposer import Attempt, Retry
from tasks.suite import Suite, seed_of, split_of
from tasks.task import Task


def make(name: str, seed: int, settings: Mapping[str, object]) -> Task:
    """A task that is nothing but its name and seed."""
    return Task(f"fake/{name}@1", "", seed=seed)


SUITE = Suite("fake@1", ("open", "solved", "hopeless"), make)
CURRICULUM = Curriculum(SUITE, SUITE.names)
RECORDS = {"open": Record(40, 20), "solved": Record(40, 40), "hopeless": Record(40, 0)}


def draw(
    count: int,
    seed: int = 0,
    failures: Sequence[Attempt] = (),
    used: Mapping[str, int] | None = None,
    curriculum: Curriculum = CURRICULUM,
) -> list[Task]:
    """So many tasks."""
    rng = np.random.default_rng(seed)
    return curriculum.draw(count, RECORDS, used or {}, failures, Retry(), rng)


@given(st.integers(1, 200), st.data())
def test_a_task_is_worth_most_when_it_succeeds_every_other_time(
    tries: int, data: st.DataObject
) -> None:
    successes = data.draw(st.integers(0, tries))
    worth = Record(tries, successes).worth
    assert 0 < worth <= Record(tries, tries // 2).worth <= 1
    assert worth == pytest.approx(Record(tries, tries - successes).worth)


def test_worth_is_the_mean_of_p_times_one_minus_p() -> None:
    chances = np.random.default_rng(0).beta(3 + 1, 7 + 1, 200_000)
    assert Record(10, 3).worth == pytest.approx(4 * np.mean(chances * (1 - chances)), abs=2e-3)


def test_the_more_a_task_always_succeeds_the_less_it_is_worth() -> None:
    worths = [Record(n, n).worth for n in range(6)]
    assert worths == sorted(worths, reverse=True)
    assert Record().worth == pytest.approx(2 / 3)


def test_a_try_is_added_to_the_record() -> None:
    assert Record(3, 1).and_one(True).and_one(False) == Record(5, 2)


def test_open_tasks_come_up_most_and_the_floor_keeps_the_others_in_view() -> None:
    names = Counter(task.name for task in draw(2000))
    assert names["open"] > 4 * names["solved"] > 0
    share = 0.15 / (2 * 0.15 + RECORDS["open"].worth)
    assert names["hopeless"] / 2000 == pytest.approx(share, abs=0.03)


def test_without_a_floor_solved_tasks_come_up_by_their_worth_alone() -> None:
    bare = Curriculum(SUITE, SUITE.names, floor=0.0)
    few = Counter(task.name for task in draw(2000, curriculum=bare))["solved"]
    assert few < 0.8 * Counter(task.name for task in draw(2000))["solved"]


def test_the_same_generator_draws_the_same_tasks() -> None:
    assert draw(30, seed=1) == draw(30, seed=1) != draw(30, seed=2)


def test_seeds_are_fresh_and_of_the_training_split_alone() -> None:
    tasks = draw(200, used={"open": 50})
    assert {split_of(task.seed) for task in tasks} == {"train"}
    assert len({(task.name, task.seed) for task in tasks}) == 200
    seeds = sorted(task.seed for task in tasks if task.name == "open")
    assert seeds == list(range(50, 50 + len(seeds)))


def test_failures_get_their_share_and_no_more() -> None:
    failures = [Attempt(SUITE.task("open", 900 + i), 1, 0) for i in range(30)]
    tasks = draw(40, failures=failures)
    assert len(tasks) == 40
    assert sum(bool(task.parent) for task in tasks) == 10
    assert {task.seed for task in tasks if task.parent} <= {a.task.seed for a in failures}


def test_where_nothing_failed_all_tasks_are_fresh() -> None:
    assert not any(task.parent for task in draw(40))


def test_measuring_seeds_are_out_of_reach() -> None:
    with pytest.raises(ValueError, match="seeds 0 to"):
        draw(5, used={name: seed_of("development", 0) for name in SUITE.names})
