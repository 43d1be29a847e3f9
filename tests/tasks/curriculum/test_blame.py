"""A task is blamed for what it loses beyond the others, and not for the machine."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.curriculum import Rules, TaskRecord, TaskStanding, find_standing
from tasks.curriculum.estimates import find_validity
from tasks.curriculum.record import RoundRecord, excuse_failures

RULES = Rules()


def played(tries: int, broken: int, unjudged: int = 0, round: int = 1) -> TaskRecord:
    """One round, all judged tries failures."""
    return TaskRecord((RoundRecord(round, tries=tries, broken=broken, unjudged=unjudged),))


def validities(records: dict[str, TaskRecord]) -> dict[str, float]:
    """Of each task, with the machine's part taken off."""
    return {name: find_validity(one, RULES)[0] for name, one in excuse_failures(records).items()}


def test_where_all_tasks_fail_alike_none_is_blamed() -> None:
    assert validities({name: played(2, 6) for name in "abcdef"}) == dict.fromkeys("abcdef", 1.0)
    assert validities({name: played(0, 8) for name in "abcdef"}) == dict.fromkeys("abcdef", 1.0)


def test_a_task_that_fails_alone_is_blamed_in_full() -> None:
    found = excuse_failures({"bad": played(0, 4), **{name: played(8, 0) for name in "abcdef"}})
    assert found["bad"].excused == 0
    assert find_standing(found["bad"], 2, RULES) is TaskStanding.INVALID


def test_on_a_machine_that_fails_now_and_then_a_task_that_always_fails_stands_out() -> None:
    others = {name: played(9, 1) for name in "abcdefghij"}
    found = excuse_failures({"bad": played(0, 10), **others})
    assert find_standing(found["bad"], 2, RULES) is TaskStanding.INVALID
    assert "page failed 10 times in 10 tries, " in find_validity(found["bad"], RULES)[1]
    assert {find_validity(found[name], RULES)[0] for name in others} == {1.0}


def test_one_failure_more_than_the_others_is_chance_and_not_well_above() -> None:
    found = validities({"a": played(7, 3), **{name: played(8, 2) for name in "bcdef"}})
    assert found["a"] == 1.0


def test_only_the_rounds_in_which_a_task_was_played_excuse_it() -> None:
    crash = {name: played(0, 10, round=1) for name in "bcdef"}
    sound = {
        name: TaskRecord((*one.rounds, RoundRecord(2, tries=10))) for name, one in crash.items()
    }
    found = excuse_failures(
        {"in it": played(0, 10, round=1), "after it": played(0, 10, round=2), **sound}
    )
    assert find_validity(found["in it"], RULES) == (1.0, "")
    assert find_standing(found["after it"], 3, RULES) is TaskStanding.INVALID


def test_a_failing_machine_does_not_excuse_a_check_that_cannot_be_evaluated() -> None:
    found = excuse_failures({"a": played(0, 0, unjudged=8), **{n: played(4, 4) for n in "bcdef"}})
    assert find_standing(found["a"], 2, RULES) is TaskStanding.INVALID


def test_a_task_without_others_beside_it_has_nobody_to_be_compared_with() -> None:
    assert excuse_failures({"a": played(1, 3)})["a"].excused == 0


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=6))
@settings(deadline=None)
def test_what_is_excused_is_never_more_than_what_was_lost(
    rounds: list[tuple[int, int, int]],
) -> None:
    records = {f"t{place}": played(*one) for place, one in enumerate(rounds)}
    for (_, broken, unjudged), record in zip(
        rounds, excuse_failures(records).values(), strict=True
    ):
        assert 0 <= record.excused <= broken + unjudged
