"""Variants of tasks that were tried name the task they were made from."""

from collections.abc import Mapping

import numpy as np

from tasks.curriculum import PATIENCE, TriedTask, make_variants
from tasks.suite import Suite
from tasks.task import Task


def make(name: str, seed: int, settings: Mapping[str, object]) -> Task:
    """A task whose id tells its settings."""
    return Task(f"fake/{name}@1{''.join(f'+{setting}' for setting in settings)}", "", seed=seed)


SUITE = Suite("fake@1", ("hard", "plain"), make, {"hard": {"easy": 1}}, {"hard": {"long": 9}})


def failed(name: str, seed: int, tries: int = 1, successes: int = 0) -> TriedTask:
    """A task that was tried."""
    return TriedTask(make(name, seed, {}), tries, successes)


def rng(seed: int = 0) -> np.random.Generator:
    """Random numbers."""
    return np.random.default_rng(seed)


def test_a_failed_task_is_tried_again_on_the_same_seed() -> None:
    [again] = make_variants(SUITE, [failed("plain", 7)], 5, rng())
    assert (again.id, again.seed, again.parent) == ("fake/plain@1", 7, "fake/plain@1:7")


def test_what_was_solved_or_tried_too_often_is_left() -> None:
    attempts = [failed("plain", 1, tries=PATIENCE), failed("plain", 2, tries=2, successes=1)]
    assert make_variants(SUITE, attempts, 5, rng()) == []
    assert len(make_variants(SUITE, [failed("plain", 1, tries=PATIENCE - 1)], 5, rng())) == 1


def test_retries_are_drawn_without_repeating_any() -> None:
    attempts = [failed("plain", seed) for seed in range(20)]
    seeds = [task.seed for task in make_variants(SUITE, attempts, 8, rng())]
    assert len(set(seeds)) == len(seeds) == 8
    assert seeds == [task.seed for task in make_variants(SUITE, attempts, 8, rng())]
    assert seeds != [task.seed for task in make_variants(SUITE, attempts, 8, rng(1))]


def test_the_first_parent_is_kept_through_the_generations() -> None:
    [child] = make_variants(SUITE, [failed("plain", 7)], 1, rng())
    [grandchild] = make_variants(SUITE, [TriedTask(child, 2, 0)], 1, rng())
    assert grandchild.parent == child.parent


def test_a_failed_task_gets_easier_where_the_benchmark_knows_how() -> None:
    made = make_variants(SUITE, [failed("hard", 3), failed("plain", 4)], 2, rng())
    easier = made[0]
    assert (easier.id, easier.seed, easier.parent) == ("fake/hard@1+easy", 3, "fake/hard@1")
    assert len(made) == 2 and made[1].parent.endswith(("@1:3", "@1:4"))


def test_at_most_half_are_made_easier_and_never_more_than_asked_for() -> None:
    attempts = [failed("hard", seed) for seed in range(10)]
    made = make_variants(SUITE, attempts, 6, rng())
    assert [task.id.endswith("+easy") for task in made] == [True] * 3 + [False] * 3
    assert make_variants(SUITE, attempts, 0, rng()) == []


def test_what_once_succeeded_is_not_made_easier() -> None:
    assert make_variants(SUITE, [failed("hard", 1, tries=4, successes=1)], 4, rng()) == []


def test_mastered_tasks_are_made_harder_a_few_at_a_time() -> None:
    attempts = [failed("hard", seed, tries=1, successes=1) for seed in range(30)]
    made = make_variants(SUITE, attempts, 20, rng())
    assert [task.id for task in made] == ["fake/hard@1+long"] * 2
    assert all(task.parent == "fake/hard@1" for task in made)


def test_a_task_that_still_fails_or_was_hardly_tried_is_not_made_harder() -> None:
    solved = [failed("hard", seed, successes=1) for seed in range(30)]
    assert make_variants(SUITE, solved[:4], 20, rng()) == []
    shaky = [*solved, *(failed("hard", 50 + seed) for seed in range(10))]
    made = make_variants(SUITE, shaky, 20, rng())
    assert {task.id for task in made} == {"fake/hard@1+easy", "fake/hard@1"}


def test_a_variant_is_made_once() -> None:
    attempts = [failed("hard", 3), TriedTask(make("hard", 3, {"easy": 1}), 1, 1)]
    made = make_variants(SUITE, attempts, 4, rng())
    assert [task.id for task in made] == ["fake/hard@1"]
