"""What is believed of a chance, and what a task may teach by it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curriculum import Belief, Kind, Outcome, Record, Rules, Standing, worths_of
from tests.fakes.course import course

POSITIVE = st.floats(0.2, 60)


@given(POSITIVE, POSITIVE)
@settings(deadline=None)
def test_a_value_lies_between_0_and_1_and_is_the_same_for_success_and_failure(
    a: float, b: float
) -> None:
    assert 0 < Belief(a, b).value < 1
    assert Belief(a, b).value == pytest.approx(Belief(b, a).value)


@given(st.integers(1, 200), st.data())
@settings(deadline=None)
def test_a_task_is_worth_most_when_it_succeeds_every_other_time(
    tries: int, data: st.DataObject
) -> None:
    successes = data.draw(st.integers(0, tries))
    even = Belief().and_seen(tries / 2, tries / 2)
    assert Belief().and_seen(successes, tries - successes).value <= even.value + 1e-12


def test_a_value_is_the_mean_of_p_times_one_minus_p() -> None:
    chances = np.random.default_rng(0).beta(4, 8, 200_000)
    assert Belief(4, 8).value == pytest.approx(4 * np.mean(chances * (1 - chances)), abs=2e-3)


@given(st.floats(1, 40), st.floats(1, 40), st.floats(0.05, 0.95))
@settings(deadline=None)
def test_the_chance_above_a_level_is_that_of_draws(a: float, b: float, level: float) -> None:
    draws = np.random.default_rng(1).beta(a, b, 20_000)
    assert Belief(a, b).above(level) == pytest.approx(float((draws > level).mean()), abs=0.02)


@given(POSITIVE, POSITIVE)
@settings(deadline=None)
def test_an_interval_holds_its_mass(a: float, b: float) -> None:
    belief = Belief(a, b)
    low, high = belief.interval(0.8)
    assert 0 <= low <= high <= 1
    assert belief.above(low) - belief.above(high) == pytest.approx(0.8, abs=0.05) or a < 1 or b < 1


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=5))
@settings(deadline=None)
def test_evidence_of_earlier_rounds_counts_less(rounds: list[tuple[int, int]]) -> None:
    found = course(*((s, s + f) for s, f in rounds))
    now = len(rounds) + 1
    successes, failures = found.evidence(now, 0.5)
    weights = [0.5 ** (len(rounds) - 1 - i) for i in range(len(rounds))]
    assert successes == pytest.approx(sum(w * s for w, (s, _) in zip(weights, rounds, strict=True)))
    assert failures == pytest.approx(sum(w * f for w, (_, f) in zip(weights, rounds, strict=True)))


def test_demonstrations_are_no_tries_of_the_policy() -> None:
    taught = Record(shown=5, shown_successes=5, demonstrations=3)
    assert taught.evidence(1, 0.5) == (0, 0)


def test_what_was_not_tried_lately_becomes_uncertain_again() -> None:
    always = course((12, 12))
    values = [Belief().and_seen(*always.evidence(now, 0.5)).value for now in (2, 3, 4, 5)]
    assert values == sorted(values) and values[-1] > 2 * values[0]


def test_a_task_never_tried_is_taken_to_be_as_those_of_the_same_skill() -> None:
    kinds = {name: Kind("site", ("form",)) for name in ("a", "b", "new")}
    kinds |= {"other": Kind("site", ("search",)), "new-search": Kind("site", ("search",))}
    records = {"a": course((9, 10)), "b": course((9, 10)), "other": course((0, 20))}
    worths = worths_of(kinds, records, dict.fromkeys(kinds, 10.0), 2, Rules())
    assert worths["new"].belief.mean > 0.8 > 0.3 > worths["new-search"].belief.mean


def test_own_evidence_outweighs_what_similar_tasks_say() -> None:
    kinds = {name: Kind("site") for name in ("a", "b", "c")}
    records = {"a": course((20, 20)), "b": course((20, 20)), "c": course((2, 12))}
    worths = worths_of(kinds, records, dict.fromkeys(kinds, 10.0), 2, Rules())
    assert worths["c"].belief.mean < 0.35


def test_demonstrated_tasks_say_nothing_of_those_that_are_not() -> None:
    kinds = {"a": Kind(is_demonstrated=True), "b": Kind(), "c": Kind(is_demonstrated=True)}
    worths = worths_of(kinds, {"a": course((20, 20))}, dict.fromkeys(kinds, 10.0), 2, Rules())
    alone = worths_of({"b": Kind()}, {}, {"b": 10.0}, 2, Rules())
    assert worths["b"].belief == alone["b"].belief
    assert worths["c"].belief.mean > 0.9


def test_before_any_try_what_was_demonstrated_is_the_likelier_to_succeed_and_worth_more() -> None:
    kinds = {"taught": Kind(is_demonstrated=True), "new": Kind()}
    worths = worths_of(kinds, {}, {"taught": 7.0, "new": 7.0}, 1, Rules())
    assert worths["taught"].belief.mean > 0.5 > worths["new"].belief.mean
    assert worths["taught"].value > worths["new"].value > 0.3
    assert {worth.standing for worth in worths.values()} == {Standing.LEARNING}
    assert worths["new"].cost == 7


def test_a_first_success_of_what_was_never_shown_makes_it_worth_more_than_failures_do() -> None:
    kinds = {name: Kind() for name in ("solved", "failed")}
    records = {"solved": course((1, 2)), "failed": course((0, 2))}
    worths = worths_of(kinds, records, dict.fromkeys(kinds, 10.0), 2, Rules())
    assert worths["solved"].value > 1.2 * worths["failed"].value


def test_a_try_of_an_earlier_round_cannot_be_added() -> None:
    with pytest.raises(ValueError, match="round 1 after one of round 2"):
        course((1, 1), (1, 1)).and_one(1, Outcome.SUCCESS)
