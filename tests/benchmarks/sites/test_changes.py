"""What differs between two states of a database, and queries that can only read."""

import hashlib
import sqlite3
from contextlib import closing

import pytest

from benchmarks.sites import changes as told
from benchmarks.sites.changes import UnreadableChanges, find_changes, run_queries

SCHEMA = """
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, seen REAL);
CREATE TABLE tag (owner TEXT, word TEXT, weight INT, PRIMARY KEY (owner, word)) WITHOUT ROWID;
CREATE TABLE line (text TEXT, data BLOB);
CREATE VIEW names AS SELECT name FROM person;
CREATE VIRTUAL TABLE search USING fts5(text);
INSERT INTO person VALUES (1, 'ann', 1.5), (2, 'bob', NULL);
INSERT INTO tag VALUES ('ann', 'kind', 1);
INSERT INTO line VALUES ('one', x'00ff'), ('two', NULL);
"""


@pytest.fixture
def states(tmp_path):
    """Two equal databases; statements are run on the second."""
    before, now = tmp_path / "before.db", tmp_path / "now ?#%.db"
    for path in (before, now):
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(SCHEMA)

    def change(statements="", passing=None):
        with closing(sqlite3.connect(now)) as connection:
            connection.executescript(statements)
        return find_changes(before, now, passing)

    change.before, change.now = before, now
    return change


def only(table, **kinds):
    return {table: {"added": [], "removed": [], "changed": [], **kinds}}


def test_equal_states_have_no_changes(states):
    assert states() == {}


def test_rows_are_added_removed_and_changed_by_their_key(states):
    found = states(
        "INSERT INTO person VALUES (7, 'eve', 2); DELETE FROM person WHERE id = 2;"
        "UPDATE person SET seen = 3 WHERE id = 1"
    )

    assert found == only(
        "person",
        added=[{"id": 7, "name": "eve", "seen": 2.0}],
        removed=[{"id": 2, "name": "bob", "seen": None}],
        changed=[
            {
                "before": {"id": 1, "name": "ann", "seen": 1.5},
                "after": {"id": 1, "name": "ann", "seen": 3.0},
            }
        ],
    )


def test_a_key_of_several_columns_and_no_key_at_all_are_keys_too(states):
    found = states(
        "UPDATE tag SET weight = 2; INSERT INTO tag VALUES ('ann', 'tall', 1);"
        "UPDATE line SET text = 'TWO' WHERE text = 'two'"
    )

    assert found["tag"]["changed"][0]["after"] == {"owner": "ann", "word": "kind", "weight": 2}
    assert found["tag"]["added"] == [{"owner": "ann", "word": "tall", "weight": 1}]
    assert found["line"]["changed"] == [
        {"before": {"text": "two", "data": None}, "after": {"text": "TWO", "data": None}}
    ]


@pytest.mark.parametrize(
    ("statements", "table", "kind", "column", "value"),
    [
        # letter case counts even where the column ignores it
        ("UPDATE person SET name = 'ANN' WHERE id = 1", "person", "changed", "name", "ANN"),
        # null becoming a value is a change
        ("UPDATE person SET seen = 0 WHERE id = 2", "person", "changed", "seen", 0.0),
        # bytes are told by length and hash
        (
            *("INSERT INTO line VALUES ('three', x'010203')", "line", "added", "data"),
            {"bytes": 3, "sha256": hashlib.sha256(b"\x01\x02\x03").hexdigest()},
        ),
        # text that is not UTF-8 is told without loss
        (
            *("INSERT INTO line VALUES (CAST(x'61ff' AS TEXT), NULL)", "line", "added", "text"),
            "a\udcff",
        ),
    ],
)
def test_a_value_is_told_as_it_is(states, statements, table, kind, column, value):
    (row,) = states(statements)[table][kind]
    assert (row if kind == "added" else row["after"])[column] == value


def test_what_is_passing_is_left_out_and_the_rest_of_its_row_is_not(states):
    statements = "UPDATE person SET seen = 9; INSERT INTO line VALUES ('x', NULL)"

    assert states(statements, {"person": ("seen",), "line": ()}) == {}
    found = states("UPDATE person SET name = 'Al' WHERE id = 1", {"person": ("seen",), "line": ()})
    assert found["person"]["changed"] == [
        {"before": {"id": 1, "name": "ann"}, "after": {"id": 1, "name": "Al"}}
    ]


def test_indexes_of_words_are_passed_over_and_new_and_dropped_tables_are_not(states):
    found = states(
        "INSERT INTO search VALUES ('word'); CREATE TABLE fresh (a); INSERT INTO fresh VALUES (1);"
        "DROP TABLE tag"
    )

    assert found.keys() == {"fresh", "tag"}
    assert found["fresh"]["added"] == [{"a": 1}]
    assert found["tag"]["removed"] == [{"owner": "ann", "word": "kind", "weight": 1}]


def test_more_differences_than_can_be_told_are_not_told(states, monkeypatch):
    monkeypatch.setattr(told, "MOST_ROWS", 2)
    with pytest.raises(UnreadableChanges, match="more than 2 rows"):
        states("INSERT INTO line VALUES ('a', 0), ('b', 0), ('c', 0)")


def test_a_state_in_which_somebody_writes_just_now_is_read_as_it_was(states):
    with closing(sqlite3.connect(states.now)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("INSERT INTO line VALUES ('kept', NULL)")
        writer.commit()
        writer.execute("INSERT INTO line VALUES ('not yet', NULL)")

        assert [row["text"] for row in states()["line"]["added"]] == ["kept"]


def test_a_database_that_is_none_is_said(states, tmp_path):
    (tmp_path / "text.db").write_text("no database" * 100)
    for path in (tmp_path / "text.db", tmp_path / "nowhere.db"):
        with pytest.raises(UnreadableChanges, match=r"the site's database"):
            find_changes(states.before, path)


def test_queries_give_rows_and_what_fails_is_left_out_with_its_reason(states, monkeypatch):
    monkeypatch.setattr(told, "QUERY_SECONDS", 0.2)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    found, failed = run_queries(
        states.now,
        {
            "names": "SELECT id, name FROM person ORDER BY id",
            "none": "SELECT 1 WHERE 0",
            "wrong": "SELECT colour FROM person",
            "writing": "INSERT INTO line VALUES ('x', NULL)",
            "elsewhere": "ATTACH '/etc/passwd' AS other",
            "two": "SELECT 1; SELECT 2",
            "endless": endless,
        },
    )

    assert found == {"names": [[1, "ann"], [2, "bob"]], "none": []}
    assert "no such column: colour" in failed["wrong"]
    assert "not authorized" in failed["writing"] and "not authorized" in failed["elsewhere"]
    assert "one statement at a time" in failed["two"]
    assert "took more than 0.2 s" in failed["endless"]
    assert states() == {}
