"""Intervals cover what they promise, pair what can be paired, and never say more than they know."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from evaluators.statistics import (
    calibration_error,
    cluster_interval,
    difference,
    mean_interval,
    student_quantile,
    wilson,
)

TASKS = tuple(f"task-{number}" for number in range(8))


def outcomes(
    rate: float, *, repeats: int = 3, seeds: int = 10, first_seed: int = 0, dice: int = 0
) -> dict[tuple[int, str, int], float]:
    """Episodes that succeed with this rate."""
    rng = np.random.default_rng(dice)
    return {
        (repeat, task, first_seed + seed): float(rng.random() < rate)
        for repeat in range(repeats)
        for task in TASKS
        for seed in range(seeds)
    }


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe, Statistics in Medicine 1998, table I, score method without continuity correction
    [
        *((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)),
        *((0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)),
    ],
)
def test_wilson_gives_the_published_intervals(successes, n, low, high):
    assert wilson(successes, n) == pytest.approx((low, high), abs=1e-4)


def test_nothing_measured_leaves_everything_possible() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_more_successes_than_episodes_are_refused() -> None:
    with pytest.raises(ValueError, match="5 successes in 4"):
        wilson(5, 4)


@given(st.integers(1, 500), st.data())
def test_wilson_holds_the_rate_and_stays_between_0_and_1(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    low, high = wilson(successes, n)
    assert 0 <= low <= successes / n <= high <= 1
    assert low < high


def test_the_mean_of_three_repeats_has_students_interval() -> None:
    mean, low, high = mean_interval([0.70, 0.80, 0.90])
    assert (mean, low, high) == pytest.approx((0.8, 0.8 - 0.24843, 0.8 + 0.24843), abs=1e-4)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 30, 31, 200])
def test_students_quantile_is_scipys(freedom: int) -> None:
    assert student_quantile(freedom) == pytest.approx(float(stdtrit(freedom, 0.975)), abs=1e-10)


def test_one_repeat_says_nothing_about_the_next() -> None:
    assert mean_interval([0.7]) == (0.7, -math.inf, math.inf)


def test_the_mean_of_no_repeats_is_refused() -> None:
    with pytest.raises(ValueError, match="no repeats"):
        mean_interval([])


def test_a_clear_difference_excludes_zero_and_a_missing_one_does_not() -> None:
    better, worse = outcomes(0.9), outcomes(0.5, dice=1)
    clear = difference(better, worse)
    assert clear.value == pytest.approx(
        np.mean(list(better.values())) - np.mean(list(worse.values()))
    )
    assert 0 < clear.low < clear.value < clear.high
    none = difference(outcomes(0.7), outcomes(0.7, dice=1))
    assert none is not None and none.low < 0 < none.high


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.0), (1.0, 1.0), (1.0, 0.0)])
def test_six_episodes_that_all_agree_do_not_promise_certainty(a, b):
    keys = [(0, f"task {n}", 7) for n in range(6)]
    found = difference(dict.fromkeys(keys, a), dict.fromkeys(keys, b))
    unseen = wilson(0, 6)[1]
    assert found.value == a - b
    assert found.low == pytest.approx(a - b - unseen)
    assert found.high == pytest.approx(min(1.0, a - b + unseen))
    many = [(0, f"task {n}", 7) for n in range(60)]
    surer = difference(dict.fromkeys(many, a), dict.fromkeys(many, b))
    assert surer is not None and surer.high - surer.low < 0.5 * (found.high - found.low)
    apart = {(0, task, 8): b for _, task, _ in keys}
    alone = difference(dict.fromkeys(keys, a), apart)
    assert alone is not None and alone.low < found.low


def test_swapping_the_arms_turns_the_difference_round() -> None:
    a, b = outcomes(0.9), outcomes(0.5, dice=1)
    forth, back = difference(a, b), difference(b, a)
    assert forth is not None and back is not None
    assert back == pytest.approx((-forth.value, -forth.high, -forth.low))


def test_the_same_arguments_give_the_same_interval() -> None:
    a, b = outcomes(0.9), outcomes(0.5, dice=1)
    assert difference(a, b) == difference(a, b)
    assert difference(a, b) != difference(a, b, seed=1)


def test_pairing_takes_out_what_makes_a_seed_hard() -> None:
    rng = np.random.default_rng(0)
    b = {key: 0.8 * float(rng.random()) for key in outcomes(0.5)}
    a = {key: value + 0.1 for key, value in b.items()}
    paired = difference(a, b)
    apart = difference(a, {(r, t, s + 1000): value for (r, t, s), value in b.items()})
    assert paired == pytest.approx((0.1, 0.1, 0.1))
    assert apart.value == pytest.approx(0.1)
    assert apart.high - apart.low > 0.05


def test_only_the_episodes_that_both_arms_played_are_compared() -> None:
    a = outcomes(0.9)
    b = {key: value for key, value in outcomes(0.5, dice=1).items() if key[1] != TASKS[0]}
    same = {key: value for key, value in a.items() if key in b}
    assert difference(a, b) == difference(same, b)


def test_arms_without_a_common_repeat_are_compared_as_well() -> None:
    a = {(0, task, seed): 1.0 for task in TASKS for seed in range(4)}
    b = {(1, task, seed): 0.0 for task in TASKS for seed in range(4)}
    found = difference(a, b)
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0 < found.low < 1


def test_nothing_can_be_said_of_an_arm_that_was_not_measured() -> None:
    assert difference({}, outcomes(0.5)) is None


def trial(rng, repeats, repeat_luck, task_luck):
    """An arm that is as good as any other, but for the luck of its repeats, tasks and episodes."""
    of_repeat = rng.normal(0, repeat_luck, repeats)
    of_task = rng.normal(0.7, task_luck, len(TASKS))
    return {
        (repeat, task, seed): float(rng.random() < of_repeat[repeat] + of_task[column])
        for repeat in range(repeats)
        for column, task in enumerate(TASKS)
        for seed in range(10)
    }


@pytest.mark.parametrize(("repeats", "repeat_luck", "task_luck"), [(5, 0.05, 0.0), (3, 0.03, 0.15)])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(repeats, repeat_luck, task_luck):
    rng = np.random.default_rng(0)
    covered = 0
    for number in range(100):
        arms = [trial(rng, repeats, repeat_luck, task_luck) for _ in range(2)]
        found = difference(*arms, resamples=300, seed=number)
        assert found is not None
        covered += found.low <= 0 <= found.high
    assert 88 <= covered <= 99


def test_an_average_over_groups_counts_each_once_and_is_as_sure_as_they_agree() -> None:
    found = cluster_interval([[1.0] * 50, [0.0], [1.0, 0.0], [1.0]])
    assert found.value == pytest.approx(0.625)
    assert found.low < found.value < found.high
    many = cluster_interval([[1.0] * 50, [0.0], [1.0, 0.0], [1.0]] * 25)
    assert many.value == found.value
    assert many.high - many.low < (found.high - found.low) / 3
    assert cluster_interval([[1.0, 0.0], [0.0, 1.0]]) == cluster_interval([[0.0, 1.0]] * 2)


def test_groups_that_all_agree_do_not_promise_certainty() -> None:
    assert cluster_interval([[1.0] * 100] * 8) == (1.0, *wilson(8, 8))
    assert cluster_interval([[0.5, 0.5]]) == (0.5, *wilson(0.5, 1))
    for nothing in ([], [[1.0], []]):
        with pytest.raises(ValueError, match="non-empty groups"):
            cluster_interval(nothing)


def test_whole_groups_are_drawn_so_that_alike_tasks_do_not_count_as_many() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        chances = rng.random(30)
        groups = [list((rng.random(20) < chance).astype(float)) for chance in chances]
        low, high = cluster_interval(groups, resamples=400)[1:]
        held += low <= 0.5 <= high
    assert 175 <= held <= 199, "about 95 % of the intervals hold the mean over all groups"


def test_the_calibration_error_is_how_far_bins_are_from_their_share() -> None:
    assert calibration_error([]) == 0.0
    assert calibration_error([(0.95, True)] * 19 + [(0.95, False)]) == pytest.approx(0.0)
    assert calibration_error([(0.9, False), (0.1, True)]) == pytest.approx(0.9)
    assert calibration_error([(0.95, True), (0.55, False)], [3.0, 1.0]) == pytest.approx(0.175)


def test_three_episodes_of_another_run_promise_little() -> None:
    many = {(0, f"t{n % 10}", n): float(n != 7) for n in range(150)}
    few = {(0, "t1", 1000 + n): 1.0 for n in range(3)}
    found = difference(few, many)
    assert found is not None
    assert found.value == pytest.approx(1 / 150)
    assert found.low < -0.2 and found.high >= found.value
