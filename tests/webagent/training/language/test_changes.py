"""Changes of a page as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.errors import ModelError
from webagent.training.language.texts import NOTHING, apply_changes, line_changes

LINES = st.lists(st.sampled_from(["a", "b", "", "+c", "@1 -1", "no change"]), max_size=8)


def test_only_lines_that_differ_are_written() -> None:
    before = "title\n[1] button\n[2] link\nend"
    after = "title\n[1] button pressed\nnew\n[2] link\nend"
    assert line_changes(before, after) == "@2 -1\n+[1] button pressed\n+new"
    assert line_changes(before, "title\nend") == "@2 -2"
    assert line_changes(before, before) == NOTHING


@given(LINES, LINES)
def test_the_new_page_can_be_made_from_the_old_and_the_changes(old, new):
    before, after = "\n".join(old), "\n".join(new)
    assert apply_changes(before, line_changes(before, after)) == after


@pytest.mark.parametrize(
    "changes", ["", "+x", "hello", "@0 -1", "@2 -9", "@3 -1\n@1 -1", "@1 -1\nx", "@1"]
)
def test_what_is_no_change_of_this_page_is_refused(changes: str) -> None:
    with pytest.raises(ModelError):
        apply_changes("a\nb\nc", changes)
