"""A simulated learner needs fewer steps with the curriculum than with tasks drawn evenly."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.fakes.learner import ROUNDS, Course, Population, all_within_reach, half_never_shown

Learner = Callable[[int], Population]


def course(population: Population, is_even: bool, seed: int, rounds: int) -> list[float]:
    """Success after 0, 1, 2, … steps."""
    going = Course(population, np.random.default_rng(seed), is_even)
    for now in range(1, rounds + 1):
        going.go(now)
    return going.found


def steps_saved(make_one: Learner, rounds: int, seeds: int, level: float = 1.0) -> float:
    """How many times as many steps even draws need to this success, or to the highest that both
    reach where that is lower."""
    with_it, without = (
        np.mean(
            _of_one_length([course(make_one(s), even, s, rounds) for s in range(seeds)]), axis=0
        )
        for even in (False, True)
    )
    level = min(level, with_it.max(), without.max())
    return float(np.argmax(without >= level) / np.argmax(with_it >= level))


def _of_one_length(courses: list[list[float]]) -> list[list[float]]:
    most = max(map(len, courses))
    return [found + [found[-1]] * (most - len(found)) for found in courses]


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.6, 0.7])
def test_a_simulated_learner_reaches_the_same_success_in_fewer_steps(level: float) -> None:
    assert steps_saved(all_within_reach, ROUNDS, 6, level) > 1.2


def test_steps_are_saved_where_half_of_the_tasks_were_never_shown() -> None:
    assert steps_saved(half_never_shown, 5, 8) > 1.3


def test_the_simulated_learners_start_below_what_they_are_to_reach() -> None:
    assert max(all_within_reach(seed).success for seed in range(6)) < 0.55
    assert max(half_never_shown(seed).success for seed in range(8)) < 0.6
