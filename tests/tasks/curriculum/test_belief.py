"""What is believed of a chance, and what a task may teach by it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curriculum import (
    Belief,
    Rules,
    TaskKind,
    TaskRecord,
    TaskStanding,
    TryOutcome,
    estimate_tasks,
)
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
    even = Belief().with_evidence(tries / 2, tries / 2)
    assert Belief().with_evidence(successes, tries - successes).value <= even.value + 1e-12


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
    taught = TaskRecord(shown=5, shown_successes=5, demonstrations=3)
    assert taught.evidence(1, 0.5) == (0, 0)


def test_what_was_not_tried_lately_becomes_uncertain_again() -> None:
    always = course((12, 12))
    values = [Belief().with_evidence(*always.evidence(now, 0.5)).value for now in (2, 3, 4, 5)]
    assert values == sorted(values) and values[-1] > 2 * values[0]


def test_a_task_never_tried_is_taken_to_be_as_those_of_the_same_skill() -> None:
    kinds = {name: TaskKind("site", ("form",)) for name in ("a", "b", "new")}
    kinds |= {"other": TaskKind("site", ("search",)), "new-search": TaskKind("site", ("search",))}
    records = {"a": course((9, 10)), "b": course((9, 10)), "other": course((0, 20))}
    estimates = estimate_tasks(kinds, records, dict.fromkeys(kinds, 10.0), 2, Rules())
    assert estimates["new"].belief.mean > 0.8 > 0.3 > estimates["new-search"].belief.mean


def test_own_evidence_outweighs_what_similar_tasks_say() -> None:
    kinds = {name: TaskKind("site") for name in ("a", "b", "c")}
    records = {"a": course((20, 20)), "b": course((20, 20)), "c": course((2, 12))}
    estimates = estimate_tasks(kinds, records, dict.fromkeys(kinds, 10.0), 2, Rules())
    assert estimates["c"].belief.mean < 0.35


def test_demonstrated_tasks_say_nothing_of_those_that_are_not() -> None:
    kinds = {
        "a": TaskKind(is_demonstrated=True),
        "b": TaskKind(),
        "c": TaskKind(is_demonstrated=True),
    }
    estimates = estimate_tasks(
        kinds, {"a": course((20, 20))}, dict.fromkeys(kinds, 10.0), 2, Rules()
    )
    alone = estimate_tasks({"b": TaskKind()}, {}, {"b": 10.0}, 2, Rules())
    assert estimates["b"].belief == alone["b"].belief
    assert estimates["c"].belief.mean > 0.9


def test_before_any_try_what_was_demonstrated_is_the_likelier_to_succeed_and_worth_more() -> None:
    kinds = {"taught": TaskKind(is_demonstrated=True), "new": TaskKind()}
    estimates = estimate_tasks(kinds, {}, {"taught": 7.0, "new": 7.0}, 1, Rules())
    assert estimates["taught"].belief.mean > 0.5 > estimates["new"].belief.mean
    assert estimates["taught"].value > estimates["new"].value > 0.3
    assert {estimate.standing for estimate in estimates.values()} == {TaskStanding.LEARNING}
    assert estimates["new"].cost == 7


def test_a_first_success_of_what_was_never_shown_makes_it_worth_more_than_failures_do() -> None:
    kinds = {name: TaskKind() for name in ("solved", "failed")}
    records = {"solved": course((1, 2)), "failed": course((0, 2))}
    estimates = estimate_tasks(kinds, records, dict.fromkeys(kinds, 10.0), 2, Rules())
    assert estimates["solved"].value > 1.2 * estimates["failed"].value


def test_a_try_of_an_earlier_round_cannot_be_added() -> None:
    with pytest.raises(ValueError, match="round 1 after one of round 2"):
        course((1, 1), (1, 1)).with_try(1, TryOutcome.SUCCESS)
