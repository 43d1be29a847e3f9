"""Real steps to the same success, from the courses of two arms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loop.summary.comparisons import Curve, compare_curves, format_efficiency, isotonic


def line(slope: float, rounds: int = 5, start: float = 0.4) -> Curve:
    """A course that rises evenly; 100 steps a round."""
    return [(100.0 * i, start + slope * i) for i in range(rounds)]


def test_a_course_twice_as_steep_needs_half_the_steps() -> None:
    of_a, of_b = ({repeat: line(s) for repeat in range(3)} for s in (0.1, 0.05))
    found = compare_curves("fast", of_a, "slow", of_b)
    assert found is not None
    assert (found.steps_a, found.steps_b) == (pytest.approx(200), pytest.approx(400))
    assert found.ratio == found.low == found.high == pytest.approx(2)
    assert found.success == pytest.approx(0.6)
    assert format_efficiency(found) == [
        "fast reaches 60.0% after 200 real steps, slow after 400: 2.00 times as many"
        " (95 % 2.00 to 2.00 over 3 repeats)"
    ]


def test_the_slower_one_may_be_the_first() -> None:
    found = compare_curves("slow", {0: line(0.05)}, "fast", {0: line(0.1)})
    assert found is not None and found.ratio == pytest.approx(0.5)


def test_the_interval_covers_repeats_that_differ() -> None:
    of_a = {0: line(0.1), 1: line(0.06), 2: line(0.05)}
    found = compare_curves("a", of_a, "b", {repeat: line(0.05) for repeat in range(3)})
    assert found is not None
    assert found.low == pytest.approx(1) and found.high == pytest.approx(2)
    assert found.low < found.ratio < found.high


def test_a_lucky_round_does_not_count_as_reached() -> None:
    lucky = [(0.0, 0.2), (100.0, 0.8), (200.0, 0.2), (300.0, 0.6)]
    found = compare_curves("lucky", {0: lucky}, "even", {0: line(0.2, 4, 0.0)})
    assert found is not None and found.success == pytest.approx(0.6)
    assert found.steps_a == pytest.approx(300)


def test_where_neither_rises_or_a_course_is_missing_nothing_is_said() -> None:
    flat = {0: [(0.0, 0.5), (100.0, 0.5)]}
    assert compare_curves("a", flat, "b", flat) is None
    assert compare_curves("a", {}, "b", flat) is None
    assert compare_curves("a", {0: line(0.1, 3)}, "b", {0: line(0.1, 4)}) is None
    assert format_efficiency(None) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(deadline=None)
def test_what_is_made_to_rise_keeps_its_mean_and_never_falls(values: list[float]) -> None:
    rising = isotonic(values)
    assert (np.diff(rising) >= 0).all()
    assert np.mean(rising) == pytest.approx(np.mean(values))
    if sorted(values) == values:
        assert rising == pytest.approx(np.array(values))
