from datetime import UTC, datetime, timedelta

import pytest

from benchmarks.rules import RULES
from loop.proposers.goals import DatabaseChanges, is_time_text
from loop.proposers.labelled_tasks import SolutionRun, find_expected_changes, is_volatile
from tasks.task import Json

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def play(*rows: Json, seconds: int = 0, **tables: Json) -> SolutionRun:
    added: DatabaseChanges = {"ticket": {"added": [*rows], "removed": [], "changed": []}, **tables}
    return SolutionRun(added, NOW + timedelta(seconds=seconds))


def ticket(**columns: Json) -> dict[str, Json]:
    return {"title": "Lantern", "type": "Bug", **columns}


def test_columns_that_two_plays_disagree_in_are_left_out() -> None:
    one, two = play(ticket(noise=1)), play(ticket(noise=2))
    assert find_expected_changes(one, two, ["Lantern"]) == {"ticket": {"added": [ticket()]}}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("id", 7),
        ("tkt_uuid", "abc"),
        ("content", "0123456789abcdef0123"),
        ("mtime", NOW.timestamp() + 5),
        ("stamp", NOW.timestamp() / 86400 + 2440587.5),
        ("created", "2026-03-04 05:06:09"),
        ("day", "2026-03-04"),
    ],
)
def test_keys_and_times_of_new_rows_are_left_out_though_two_plays_agree(
    column: str, value: Json
) -> None:
    assert is_volatile(column, value, NOW)
    same = play(ticket(**{column: value}))
    assert find_expected_changes(same, same, ["Lantern"]) == {"ticket": {"added": [ticket()]}}


@pytest.mark.parametrize(("column", "value"), [("price", 12), ("due", "2024-03-14"), ("name", "x")])
def test_what_a_task_is_about_is_kept(column: str, value: Json) -> None:
    assert not is_volatile(column, value, NOW)


def test_a_row_that_was_there_keeps_its_key() -> None:
    change: Json = {
        "before": {"id": 3, "title": "Lantern", "status": "Open", "seen": 1},
        "after": {"id": 3, "title": "Lantern", "status": "Closed", "seen": 1},
    }
    changes: DatabaseChanges = {"ticket": {"added": [], "removed": [], "changed": [change]}}
    expected = find_expected_changes(
        SolutionRun(changes, NOW), SolutionRun(changes, NOW), ["Closed"]
    )
    assert expected == {
        "ticket": {
            "changed": [
                {
                    "before": {"id": 3, "title": "Lantern", "status": "Open", "seen": 1},
                    "after": {"status": "Closed"},
                }
            ]
        }
    }


def test_rows_are_paired_by_likeness_not_by_place() -> None:
    lamp, oar = ticket(key_hash="a1"), ticket(title="Oar", key_hash="b2")
    expected = find_expected_changes(play(lamp, oar), play(oar, lamp), ["Lantern"])
    assert expected == {"ticket": {"added": [ticket(), ticket(title="Oar")]}}


def test_tables_that_say_nothing_of_what_was_typed_may_change() -> None:
    log: Json = {"added": [{"what": "ticket"}], "removed": [], "changed": []}
    one = play(ticket(), log=log)
    expected = find_expected_changes(one, one, ["Lantern"])
    assert expected == {"ticket": {"added": [ticket()]}, "may": ["log"]}


def test_tables_in_which_plays_have_different_numbers_of_rows_may_change() -> None:
    one = play(ticket(), visits={"added": [{"page": "a"}], "removed": [], "changed": []})
    two = play(ticket(), visits={"added": [], "removed": [{"page": "a"}], "changed": []})
    assert find_expected_changes(one, two, ["Lantern"])["may"] == ["visits"]


def test_nothing_is_expected_where_nothing_lasts() -> None:
    one = play({"noise": 1})
    assert find_expected_changes(one, play({"noise": 2}), []) == {}


@pytest.mark.skipif("changes_are" not in RULES, reason="the rule changes_are is not here")
def test_the_rule_finds_what_is_expected_of_a_third_play_and_refuses_another_value() -> None:
    expected = find_expected_changes(play(ticket(uuid="a")), play(ticket(uuid="b")), ["Lantern"])
    judge = RULES["changes_are"]

    def value(*rows: Json) -> float:
        verdict = judge({"ticket": {"added": [*rows], "removed": [], "changed": []}}, expected)
        assert not isinstance(verdict, bool)
        return verdict.value or 0.0

    assert value(ticket(uuid="c", extra=1)) == 1.0
    assert value(ticket(uuid="c", title="Oar")) == 0.0
    assert value(ticket(), ticket()) == 0.0
    assert value() == 0.0


def test_an_answer_that_changes_by_the_minute_is_none() -> None:
    assert is_time_text("5 minutes ago")
    assert is_time_text("2026-11-22 03:41:00")
    assert not is_time_text("Code_Defect")
