"""Rewards turned into advantages."""

from statistics import stdev

import pytest

from tests.fakes.lessons import node, page
from webagent.training.language.selection import (
    compute_group_advantages,
    compute_step_advantages,
    page_key,
)

START, LEFT, RIGHT = (page("Go", node(1, "button", name)) for name in ("start", "left", "right"))


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


def test_pages_are_the_same_when_they_look_the_same_at_one_address() -> None:
    again = page("Go", node(7, "button", "start"))
    assert page_key(again) == page_key(START) != page_key(LEFT)


def test_rewards_of_steps_are_normalised_over_the_group_and_summed_from_each_step_on() -> None:
    rewards = {"a": (1.0, 0.0), "b": (0.0, 0.0, 0.5)}
    spread = stdev([1, 0, 0, 0, 0.5]) + 1e-4
    each = {name: [(r - 0.3) / spread for r in values] for name, values in rewards.items()}
    found = compute_step_advantages(rewards, {"a": "g", "b": "g"})
    for name, values in each.items():
        sums = [sum(values[index:]) for index in range(len(values))]
        assert found[name] == pytest.approx(sums)
    assert compute_step_advantages({"a": (1.0,), "b": (1.0,)}, {"a": "g", "b": "g"}) == {}
