"""When a task retires and comes back, and when it is not drawn at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curriculum import Rules, TaskRecord, TaskStanding, TryOutcome, find_standing
from tasks.curriculum.estimates import find_validity
from tests.fakes.course import course

RULES = Rules()


LEARNING, RETIRED, DUE = TaskStanding.LEARNING, TaskStanding.RETIRED, TaskStanding.DUE
UNSOLVED, INVALID = TaskStanding.UNSOLVED, TaskStanding.INVALID
BROKEN, UNJUDGED, STRAYED = TryOutcome.BROKEN, TryOutcome.UNJUDGED, TryOutcome.STRAYED


def broken(record: TaskRecord, times: int, outcome: TryOutcome) -> TaskRecord:
    """With tries of which nothing is known."""
    for _ in range(times):
        record = record.with_try(max(1, record.last_round), outcome)
    return record


HOPELESS = course((0, 14)).rounds
MASTERED = ((12, 12), (0, 0), (0, 0))


@pytest.mark.parametrize(
    ("why", "record", "standings"),
    [
        ("not surely mastered", course((6, 6)), {2: LEARNING}),
        ("surely mastered", course((10, 10)), {2: RETIRED}),
        *(("a few lucky tries", course((tries, tries)), {2: LEARNING}) for tries in range(1, 8)),
        ("due for a revisit", course((12, 12)), {2: RETIRED, 3: RETIRED, 4: DUE, 5: DUE}),
        ("a good revisit", course(*MASTERED, (2, 2)), {5: RETIRED, 6: RETIRED, 7: DUE}),
        ("a failed revisit", course(*MASTERED, (1, 2)), {5: LEARNING}),
        ("mastered again", course(*MASTERED, (1, 2), (16, 16)), {6: RETIRED}),
        ("patience is left", course((0, 7)), {2: LEARNING}),
        ("patience is over", course((0, 8)), {2: UNSOLVED}),
        ("solved once", course((0, 3), (1, 2)), {3: LEARNING}),
        ("its page fails now and then", broken(course((5, 9)), 2, BROKEN), {2: LEARNING}),
        ("its page always fails", broken(TaskRecord(), 4, BROKEN), {2: INVALID}),
        ("its check cannot be evaluated", broken(TaskRecord(), 4, UNJUDGED), {2: INVALID}),
        ("nobody can do it", TaskRecord(HOPELESS, shown=6), {2: INVALID}),
        ("somebody can", TaskRecord(HOPELESS, shown=6, shown_successes=1), {2: UNSOLVED}),
        ("nobody else tried", TaskRecord(HOPELESS), {2: UNSOLVED}),
        ("random actions spoil no mastery", broken(course((12, 12)), 6, STRAYED), {2: RETIRED}),
        ("failures of its own do", course((12, 18)), {2: LEARNING}),
        ("only random actions", broken(TaskRecord(), 12, STRAYED), {2: UNSOLVED}),
    ],
)
def test_a_record_gives_a_task_its_standing(
    why: str, record: TaskRecord, standings: dict[int, TaskStanding]
) -> None:
    assert {now: find_standing(record, now, RULES) for now in standings} == standings, why


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (broken(TaskRecord(), 4, BROKEN), "page failed 4 times in 4 tries"),
        (broken(TaskRecord(), 4, UNJUDGED), "check could not be evaluated 4 times"),
        (TaskRecord(HOPELESS, shown=6), "nobody can do it"),
    ],
)
def test_what_is_not_drawn_has_its_reason(record: TaskRecord, reason: str) -> None:
    validity, found = find_validity(record, RULES)
    assert validity < RULES.least_validity and reason in found


def test_a_page_that_fails_now_and_then_costs_a_task_some_of_its_value() -> None:
    validity, reason = find_validity(broken(course((5, 9)), 2, BROKEN), RULES)
    assert 0.8 < validity < 1 and reason


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
    worse = broken(broken(sound, page, BROKEN), check, UNJUDGED)
    assert 0 <= find_validity(worse, RULES)[0] <= find_validity(sound, RULES)[0] <= 1
    assert bool(find_validity(worse, RULES)[1]) == bool(page + check)
