"""When a task retires and comes back, and when it is not drawn at all."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curriculum import Outcome, Record, Rules, Standing, standing_of
from tasks.curriculum.standing import validity_of
from tests.fakes.course import course

RULES = Rules()


def test_a_task_retires_once_it_is_surely_mastered() -> None:
    assert standing_of(course((6, 6)), 2, RULES) is Standing.LEARNING
    assert standing_of(course((10, 10)), 2, RULES) is Standing.RETIRED


def test_a_few_lucky_tries_are_no_mastery() -> None:
    for tries in range(1, 8):
        assert standing_of(course((tries, tries)), 2, RULES) is Standing.LEARNING


def test_a_retired_task_is_due_some_rounds_after_its_last_try() -> None:
    found = [standing_of(course((12, 12)), now, RULES) for now in (2, 3, 4, 5)]
    assert found == [Standing.RETIRED, Standing.RETIRED, Standing.DUE, Standing.DUE]


def test_a_revisit_that_goes_well_puts_the_next_one_off() -> None:
    again = course((12, 12), (0, 0), (0, 0), (2, 2))
    found = [standing_of(again, now, RULES) for now in (5, 6, 7)]
    assert found == [Standing.RETIRED, Standing.RETIRED, Standing.DUE]


def test_a_failed_revisit_brings_a_task_back() -> None:
    failed = course((12, 12), (0, 0), (0, 0), (1, 2))
    assert standing_of(failed, 5, RULES) is Standing.LEARNING


def test_a_task_that_came_back_retires_again() -> None:
    again = course((12, 12), (0, 0), (0, 0), (1, 2), (16, 16))
    assert standing_of(again, 6, RULES) is Standing.RETIRED


def test_a_task_that_never_succeeds_is_unsolved_after_some_patience() -> None:
    assert standing_of(course((0, 7)), 2, RULES) is Standing.LEARNING
    assert standing_of(course((0, 8)), 2, RULES) is Standing.UNSOLVED
    assert standing_of(course((0, 3), (1, 2)), 3, RULES) is Standing.LEARNING


def broken(record: Record, times: int, outcome: Outcome) -> Record:
    """With tries of which nothing is known."""
    for _ in range(times):
        record = record.and_one(max(1, record.last_round), outcome)
    return record


def test_a_task_whose_page_always_fails_is_invalid_and_the_reason_says_so() -> None:
    record = broken(Record(), 4, Outcome.BROKEN)
    assert standing_of(record, 2, RULES) is Standing.INVALID
    assert "page failed 4 times in 4 tries" in validity_of(record, RULES)[1]


def test_a_task_whose_check_cannot_be_evaluated_is_invalid() -> None:
    record = broken(Record(), 4, Outcome.UNJUDGED)
    assert standing_of(record, 2, RULES) is Standing.INVALID
    assert "check could not be evaluated 4 times" in validity_of(record, RULES)[1]


def test_a_page_that_fails_now_and_then_costs_a_task_some_of_its_value() -> None:
    record = broken(course((5, 9)), 2, Outcome.BROKEN)
    validity, reason = validity_of(record, RULES)
    assert 0.8 < validity < 1
    assert reason and standing_of(record, 2, RULES) is Standing.LEARNING


def test_what_neither_policy_nor_demonstrator_can_do_is_invalid() -> None:
    rounds = course((0, 14)).rounds
    hopeless = Record(rounds, shown=6)
    assert standing_of(hopeless, 2, RULES) is Standing.INVALID
    assert "nobody can do it" in validity_of(hopeless, RULES)[1]
    assert standing_of(Record(rounds, shown=6, shown_successes=1), 2, RULES) is Standing.UNSOLVED
    assert standing_of(Record(rounds), 2, RULES) is Standing.UNSOLVED


def test_a_failure_after_a_random_action_counts_against_no_mastery() -> None:
    strayed = broken(course((12, 12)), 6, Outcome.STRAYED)
    assert standing_of(strayed, 2, RULES) is Standing.RETIRED
    assert standing_of(course((12, 18)), 2, RULES) is Standing.LEARNING
    assert standing_of(broken(Record(), 12, Outcome.STRAYED), 2, RULES) is Standing.UNSOLVED


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5),
    st.integers(0, 5),
    st.integers(0, 5),
)
@settings(deadline=None)
def test_validity_never_rises_with_what_goes_wrong(
    rounds: list[tuple[int, int]], page: int, check: int
) -> None:
    sound = course(*((s, s + f) for s, f in rounds))
    worse = broken(broken(sound, page, Outcome.BROKEN), check, Outcome.UNJUDGED)
    assert 0 <= validity_of(worse, RULES)[0] <= validity_of(sound, RULES)[0] <= 1
    assert bool(validity_of(worse, RULES)[1]) == bool(page + check)
