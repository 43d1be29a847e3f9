"""A tier runs what its name promises, and the shares together run all that is left."""

from typing import Any

import pytest

from tests.tiers import Selection, read_share


class Item:
    """What the selection looks at in a test: its id and its markers."""

    def __init__(self, nodeid: str, *marks: pytest.MarkDecorator) -> None:
        self.nodeid = nodeid
        self.marks = {mark.name: mark.mark for mark in marks}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marks.get(name)


PLAIN = Item("a.py::test_plain")
PAGE = Item("a.py::test_page", pytest.mark.browser)
SECONDS = Item("a.py::test_seconds", pytest.mark.slow)
MINUTES = Item("b.py::test_minutes", pytest.mark.very_slow)
HOURS = Item("b.py::test_hours", pytest.mark.very_slow)
MANY = [Item(f"c.py::test_many[{case}]", pytest.mark.sample(3)) for case in range(7)]
ITEMS: list[Any] = [PLAIN, PAGE, SECONDS, MINUTES, HOURS, *MANY]


def test_each_tier_runs_what_the_one_before_does_and_more() -> None:
    assert Selection("fast").keep(ITEMS) == [PLAIN, *MANY[::3]]
    assert Selection("default").keep(ITEMS) == [PLAIN, PAGE, SECONDS, *MANY[::3]]
    assert Selection("all").keep(ITEMS) == ITEMS


def test_the_shares_together_run_once_all_that_the_default_tier_leaves_out() -> None:
    shares = [read_share(f"{number}/4").keep(ITEMS) for number in range(1, 5)]
    default = Selection("default").keep(ITEMS)
    ran: list[Any] = [*default, *(item for share in shares for item in share)]
    assert sorted(i.nodeid for i in ran) == sorted(i.nodeid for i in ITEMS)
    assert any(MINUTES in share and HOURS in share for share in shares), "a file stays together"


@pytest.mark.parametrize("text", ["0/4", "5/4", "2", "a/b", ""])
def test_a_share_that_there_is_not_is_named(text: str) -> None:
    with pytest.raises(pytest.UsageError, match="write K/N"):
        read_share(text)
