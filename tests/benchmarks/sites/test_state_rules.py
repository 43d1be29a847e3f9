"""What a task has changed in its site's database: all of it, and nothing besides."""

import pytest

from benchmarks.rules import changes_are, unchanged

ROW = {"id": 3, "author": "ann", "text": "Fog."}
ADDED = {"entry": {"added": [ROW], "removed": [], "changed": []}}
EDIT = {"before": {**ROW, "text": "Rain."}, "after": ROW}
EDITED = {"entry": {"added": [], "removed": [], "changed": [EDIT]}}


def value(found, expected):
    return changes_are(found, expected).value


def reason(found, expected):
    return changes_are(found, expected).reason


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({}, {}),
        (ADDED, {"entry": {"added": [{"author": "ann", "text": "Fog."}]}}),
        (ADDED, {"entry": {"added": [{}]}}),
        (EDITED, {"entry": {"changed": [{"before": {"text": "Rain."}, "after": {"id": 3}}]}}),
        (EDITED, {"entry": {"changed": [{"after": {"text": "Fog."}}]}}),
        (ADDED, {"may": ["entry"]}),
        ({**ADDED, "log": EDITED["entry"]}, {"entry": {"added": [{"id": 3}]}, "may": ["log"]}),
    ],
)
def test_changes_as_they_are_expected_pass(found, expected):
    assert value(found, expected) == 1.0


@pytest.mark.parametrize(
    ("found", "expected", "why"),
    [
        ({}, {"entry": {"added": [{"id": 3}]}}, "id 3 should have been added; nothing was added"),
        (ADDED, {}, "entry: id 3, author 'ann', text 'Fog.' was added, and nothing should be"),
        (ADDED, {"entry": {"added": [{"text": "fog."}]}}, "text 'fog.' should have been added"),
        (ADDED, {"entry": {"added": [{"colour": None}]}}, "should have been added; added was id 3"),
        (ADDED, {"entry": {"added": [{"id": 3}] * 2}}, "should have been added; added was id 3"),
        (ADDED, {"entry": {"removed": [{"id": 3}]}}, "was added, and nothing should be"),
        (EDITED, {"entry": {"added": [{"id": 3}]}}, "nothing was added"),
        (EDITED, {"entry": {"changed": [{"before": {"text": "Fog."}}]}}, "'Fog.' should have been"),
        (
            {**ADDED, "log": EDITED["entry"]},
            {"entry": {"added": [{"id": 3}]}},
            "log: id 3, author 'ann' from text 'Rain.' to text 'Fog.' was changed, and nothing",
        ),
    ],
)
def test_any_difference_fails_and_the_first_is_told(found, expected, why):
    assert value(found, expected) == 0.0
    assert why in reason(found, expected)


def test_each_pattern_has_a_row_of_its_own_however_they_are_ordered():
    rows = [{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 2}]
    found = {"t": {"added": rows, "removed": [], "changed": []}}

    assert value(found, {"t": {"added": [{"a": 1}, {"b": 2}, {"a": 1, "b": 1}]}}) == 1.0
    assert value(found, {"t": {"added": [{"a": 1, "b": 1}, {"a": 1}, {"a": 1, "b": 2}]}}) == 0.0


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([], {}),
        ({}, []),
        ({}, {"entry": {"add": []}}),
        ({}, {"entry": [{"id": 3}]}),
        ({}, {"may": "log"}),
        (ADDED, {"entry": {"added": ["row"]}}),
        (EDITED, {"entry": {"changed": [{"id": 3}]}}),
        (None, {}),
    ],
)
def test_what_cannot_be_compared_is_said(found, expected):
    with pytest.raises(TypeError):
        changes_are(found, expected)


def test_unchanged_holds_but_for_the_tables_that_may_change():
    assert unchanged({}, []).value == 1.0
    assert unchanged(ADDED, ["entry"]).value == 1.0
    failed = unchanged(ADDED, ["log"])
    assert failed.value == 0.0 and "entry has changed: 1 added, 0 removed, 0 changed" in str(failed)
    for wrong in (None, {"entry": []}):
        with pytest.raises(TypeError):
            unchanged({}, wrong)
