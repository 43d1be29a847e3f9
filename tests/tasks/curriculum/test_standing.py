"""When a task retires and comes back, and when it is not drawn at all."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curriculum import Rules, TaskRecord, TaskStanding, TryOutcome, find_standing
from tasks.curriculum.estimates import find_validity
from tests.fakes.course import course

RULES = Rules()


def test_a_task_retires_once_it_is_surely_mastered() -> None:
    assert find_standing(course((6, 6)), 2, RULES) is TaskStanding.LEARNING
    assert find_standing(course((10, 10)), 2, RULES) is TaskStanding.RETIRED


def test_a_few_lucky_tries_are_no_mastery() -> None:
    for tries in range(1, 8):
        assert find_standing(course((tries, tries)), 2, RULES) is TaskStanding.LEARNING


def test_a_retired_task_is_due_some_rounds_after_its_last_try() -> None:
    found = [find_standing(course((12, 12)), now, RULES) for now in (2, 3, 4, 5)]
    assert found == [TaskStanding.RETIRED, TaskStanding.RETIRED, TaskStanding.DUE, TaskStanding.DUE]


def test_a_revisit_that_goes_well_puts_the_next_one_off() -> None:
    again = course((12, 12), (0, 0), (0, 0), (2, 2))
    found = [find_standing(again, now, RULES) for now in (5, 6, 7)]
    assert found == [TaskStanding.RETIRED, TaskStanding.RETIRED, TaskStanding.DUE]


def test_a_failed_revisit_brings_a_task_back() -> None:
    failed = course((12, 12), (0, 0), (0, 0), (1, 2))
    assert find_standing(failed, 5, RULES) is TaskStanding.LEARNING


def test_a_task_that_came_back_retires_again() -> None:
    again = course((12, 12), (0, 0), (0, 0), (1, 2), (16, 16))
    assert find_standing(again, 6, RULES) is TaskStanding.RETIRED


def test_a_task_that_never_succeeds_is_unsolved_after_some_patience() -> None:
    assert find_standing(course((0, 7)), 2, RULES) is TaskStanding.LEARNING
    assert find_standing(course((0, 8)), 2, RULES) is TaskStanding.UNSOLVED
    assert find_standing(course((0, 3), (1, 2)), 3, RULES) is TaskStanding.LEARNING


def broken(record: TaskRecord, times: int, outcome: TryOutcome) -> TaskRecord:
    """With tries of which nothing is known."""
    for _ in range(times):
        record = record.with_try(max(1, record.last_round), outcome)
    return record


def test_a_task_whose_page_always_fails_is_invalid_and_the_reason_says_so() -> None:
    record = broken(TaskRecord(), 4, TryOutcome.BROKEN)
    assert find_standing(record, 2, RULES) is TaskStanding.INVALID
    assert "page failed 4 times in 4 tries" in find_validity(record, RULES)[1]


def test_a_task_whose_check_cannot_be_evaluated_is_invalid() -> None:
    record = broken(TaskRecord(), 4, TryOutcome.UNJUDGED)
    assert find_standing(record, 2, RULES) is TaskStanding.INVALID
    assert "check could not be evaluated 4 times" in find_validity(record, RULES)[1]


def test_a_page_that_fails_now_and_then_costs_a_task_some_of_its_value() -> None:
    record = broken(course((5, 9)), 2, TryOutcome.BROKEN)
    validity, reason = find_validity(record, RULES)
    assert 0.8 < validity < 1
    assert reason and find_standing(record, 2, RULES) is TaskStanding.LEARNING


def test_what_neither_policy_nor_demonstrator_can_do_is_invalid() -> None:
    rounds = course((0, 14)).rounds
    hopeless = TaskRecord(rounds, shown=6)
    assert find_standing(hopeless, 2, RULES) is TaskStanding.INVALID
    assert "nobody can do it" in find_validity(hopeless, RULES)[1]
    assert (
        find_standing(TaskRecord(rounds, shown=6, shown_successes=1), 2, RULES)
        is TaskStanding.UNSOLVED
    )
    assert find_standing(TaskRecord(rounds), 2, RULES) is TaskStanding.UNSOLVED


def test_a_failure_after_a_random_action_counts_against_no_mastery() -> None:
    strayed = broken(course((12, 12)), 6, TryOutcome.STRAYED)
    assert find_standing(strayed, 2, RULES) is TaskStanding.RETIRED
    assert find_standing(course((12, 18)), 2, RULES) is TaskStanding.LEARNING
    assert (
        find_standing(broken(TaskRecord(), 12, TryOutcome.STRAYED), 2, RULES)
        is TaskStanding.UNSOLVED
    )


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
    worse = broken(broken(sound, page, TryOutcome.BROKEN), check, TryOutcome.UNJUDGED)
    assert 0 <= find_validity(worse, RULES)[0] <= find_validity(sound, RULES)[0] <= 1
    assert bool(find_validity(worse, RULES)[1]) == bool(page + check)
