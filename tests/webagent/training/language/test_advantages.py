"""Rewards turned into advantages."""

from statistics import stdev

import pytest

from webagent.training.language.selection import compute_group_advantages


def test_an_episode_is_compared_with_its_group_only() -> None:
    rewards = {"a": 1.0, "b": 0.0, "c": 0.0, "d": 5.0, "e": 7.0}
    groups = {"a": "one", "b": "one", "c": "one", "d": "two", "e": "two"}
    found = compute_group_advantages(rewards, groups)
    spread = stdev([1, 0, 0]) + 1e-4
    assert found["a"] == pytest.approx((1 - 1 / 3) / spread)
    assert found["b"] == found["c"] == pytest.approx(-1 / 3 / spread)
    assert found["d"] == pytest.approx(-1 / (stdev([5, 7]) + 1e-4)) == -found["e"]


def test_groups_in_which_all_did_alike_are_dropped() -> None:
    rewards = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.5, "e": 0.1}
    groups = {"a": "one", "b": "one", "c": "alone", "d": "two", "e": "two"}
    assert compute_group_advantages(rewards, groups).keys() == {"d", "e"}
