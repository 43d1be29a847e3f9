"""Which tasks are sampled: not mastered, uniformly, by the judged success rate."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.curriculum import (
    MASTERED,
    RECENT,
    UNSOLVED,
    estimate_rate,
    sample_tasks,
    share_episodes,
    weigh_task,
)
from tasks.suite import Suite
from tasks.task import Task

NAMES = tuple(f"task-{place}" for place in range(20))
DEMO = {name: [True] * 29 + [False] for name in NAMES[1:]} | {NAMES[0]: [False] * 24}
"""The outcomes of the demo's first round: 19 of 20 tasks mastered, one never solved. The learning
curves before spent 569 of the 578 episodes of its second round on one task."""


def make(name: str, seed: int, settings: Any) -> Task:
    return Task(f"fake/{name}@1", "", seed=seed)


SUITE = Suite("fake@1", NAMES, make)


def sample(outcomes, count=578, variants=()):
    return sample_tasks(SUITE, outcomes, count, {}, variants, np.random.default_rng(0))


def test_the_only_task_that_is_not_mastered_does_not_take_the_round() -> None:
    counts = Counter(task.name for task in sample(DEMO))
    assert counts[NAMES[0]] < 578 * 0.15
    assert min(counts.values()) > 578 / 20 / 2


def test_tasks_in_the_band_and_untried_ones_come_up_alike() -> None:
    outcomes = {name: [True, False] * 10 for name in NAMES[:10]} | {name: [] for name in NAMES[10:]}
    assert set(Counter(task.name for task in sample(outcomes, 200)).values()) == {10}


def test_unsolved_tasks_do_not_starve_the_others() -> None:
    outcomes = {name: [False] * RECENT for name in NAMES[:15]}
    outcomes |= {name: [True, False] * 5 for name in NAMES[15:]}
    shares = share_episodes(outcomes)
    assert shares[NAMES[15]] == pytest.approx(shares[NAMES[0]] / UNSOLVED)
    assert shares[NAMES[15]] > 1 / 20


@given(st.lists(st.lists(st.booleans(), max_size=40), min_size=2, max_size=30))
def test_every_share_is_near_the_even_one_and_no_unmastered_task_has_less_than_half(known):
    outcomes = {str(place): each for place, each in enumerate(known)}
    shares, even = share_episodes(outcomes), 1 / len(known)
    assert sum(shares.values()) == pytest.approx(1)
    for name, share in shares.items():
        assert MASTERED * even <= share + 1e-9 <= even / MASTERED + 2e-9
        if weigh_task(outcomes[name]) > MASTERED:
            assert share >= UNSOLVED * even - 1e-9


def test_a_few_outcomes_leave_a_task_in_the_band_and_the_latest_count() -> None:
    assert estimate_rate([]) == 0.5
    assert weigh_task([False] * 18) == weigh_task([True, True]) == 1
    assert weigh_task([False] * 19) == UNSOLVED
    assert weigh_task([True] * 3) == MASTERED
    assert weigh_task([True] * 40 + [False] * RECENT) == UNSOLVED


def test_every_stretch_has_its_tasks_by_their_shares() -> None:
    first = Counter(task.name for task in sample({name: [] for name in NAMES}, 200)[:40])
    assert set(first.values()) == {2}


def test_seeds_are_fresh_and_the_same_arguments_give_the_same_tasks() -> None:
    outcomes = {name: [] for name in NAMES[:2]}
    rng = np.random.default_rng
    tasks = sample_tasks(SUITE, outcomes, 6, {NAMES[0]: 7}, (), rng(1))
    assert [task.seed for task in tasks if task.name == NAMES[0]] == [7, 8, 9]
    assert [task.seed for task in tasks if task.name == NAMES[1]] == [0, 1, 2]
    assert tasks == sample_tasks(SUITE, outcomes, 6, {NAMES[0]: 7}, (), rng(1))
    assert sample_tasks(SUITE, {}, 6, {}, (), rng(1)) == []


def test_one_episode_in_four_of_a_task_is_a_variant_of_it() -> None:
    failed = [replace(make(NAMES[0], 900 + n, {}), parent="x") for n in range(30)]
    outcomes = {name: [] for name in NAMES[:2]}
    tasks = sample(outcomes, 80, failed)
    assert [task.seed for task in tasks if task.parent] == [900 + n for n in range(10)]
    assert Counter(task.name for task in tasks) == {NAMES[0]: 40, NAMES[1]: 40}
