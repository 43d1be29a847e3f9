"""Proposers make new tasks out of failures and say which."""

from collections.abc import Mapping

import numpy as np

from tasks.proposer import Attempt, Retry, Variation
from tasks.suite import Suite
from tasks.task import Task


def make(name: str, seed: int, settings: Mapping[str, object]) -> Task:
    """A task whose id tells its settings."""
    return Task(f"fake/{name}@1{'+easy' if settings else ''}", "", seed=seed)


SUITE = Suite("fake@1", ("hard", "plain"), make, {"hard": {"rows": 1}})


def failed(name: str, seed: int, tries: int = 1, successes: int = 0) -> Attempt:
    """A task that was tried."""
    return Attempt(make(name, seed, {}), tries, successes)


def rng(seed: int = 0) -> np.random.Generator:
    """Random numbers."""
    return np.random.default_rng(seed)


def test_a_failed_task_is_tried_again_on_the_same_seed() -> None:
    [again] = Retry().propose([failed("plain", 7)], 5, rng())
    assert (again.id, again.seed, again.parent) == ("fake/plain@1", 7, "fake/plain@1:7")


def test_what_was_solved_or_tried_too_often_is_left() -> None:
    attempts = [failed("plain", 1, tries=3), failed("plain", 2, tries=2, successes=1)]
    assert Retry(patience=3).propose(attempts, 5, rng()) == []
    assert len(Retry(patience=4).propose(attempts, 5, rng())) == 1


def test_retries_are_drawn_without_repeating_any() -> None:
    attempts = [failed("plain", seed) for seed in range(20)]
    seeds = [task.seed for task in Retry().propose(attempts, 8, rng())]
    assert len(set(seeds)) == len(seeds) == 8
    assert seeds == [task.seed for task in Retry().propose(attempts, 8, rng())]
    assert seeds != [task.seed for task in Retry().propose(attempts, 8, rng(1))]


def test_the_first_parent_is_kept_through_the_generations() -> None:
    [child] = Retry().propose([failed("plain", 7)], 1, rng())
    [grandchild] = Retry().propose([Attempt(child, 2, 0)], 1, rng())
    assert grandchild.parent == child.parent


def test_a_failed_task_gets_easier_where_the_benchmark_knows_how() -> None:
    made = Variation(SUITE, Retry()).propose([failed("hard", 3), failed("plain", 4)], 2, rng())
    easier = made[0]
    assert (easier.id, easier.seed, easier.parent) == ("fake/hard@1+easy", 3, "fake/hard@1")
    assert len(made) == 2 and made[1].parent.endswith(("@1:3", "@1:4"))


def test_at_most_half_are_made_easier_and_never_more_than_asked_for() -> None:
    attempts = [failed("hard", seed) for seed in range(10)]
    made = Variation(SUITE, Retry()).propose(attempts, 6, rng())
    assert [task.id.endswith("+easy") for task in made] == [True] * 3 + [False] * 3
    assert Variation(SUITE, Retry()).propose(attempts, 0, rng()) == []


def test_what_once_succeeded_is_not_made_easier() -> None:
    attempts = [failed("hard", 1, tries=4, successes=1)]
    assert Variation(SUITE, Retry()).propose(attempts, 4, rng()) == []
