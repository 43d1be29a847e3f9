"""Paths into nested data, as the published checks write them."""

import pytest

from benchmarks.webarena.rules.verified.paths import ABSENT, at_path, is_path

DATA = {
    "note": {"note": "lgtm", "tags": ["a", "b"]},
    "items": [{"price": 1}, {"price": 2}],
    "user[url]": "x",
    "packed": '[{"new": "1", "sku": "a"}, {"new": "0", "sku": "b"}]',
    "comment_12": "hi",
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.note.note", "lgtm"),
        ("$.note.tags", ["a", "b"]),
        ("$.note.tags[1]", "b"),
        ("$.items[0].price", 1),
        ("$.items[*].price", [1, 2]),
        ("$['user[url]']", "x"),
        ("$.packed[?(@.new == 1)].sku", ["a"]),
        ("$['packed'][1].sku", "b"),
        ("$.^comment_\\d+$", "hi"),
        ("^comment_\\d+$", "hi"),
        ("$.note.other", ABSENT),
        ("$.items[2]", ABSENT),
        ("^other$", ABSENT),
        ("$", DATA),
    ],
)
def test_a_path_leads_to_its_value(path, value):
    assert is_path(path)
    assert at_path(DATA, path) == value


@pytest.mark.parametrize("path", ["$...[x", "$.a..b", "$.^(a$", "$not"])
def test_a_path_that_is_not_understood_is_named(path):
    with pytest.raises(ValueError, match=r"not understood|not a regular expression"):
        at_path(DATA, path)
