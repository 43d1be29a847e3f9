"""A tier runs what its name promises, and the shares together run all that is left."""

from pathlib import Path
from typing import Any

import pytest

from tests.tiers import TIERS, WITH_TORCH, Selection, read_share


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


@pytest.mark.parametrize(
    ("mark", "tiers"),
    [
        ("pytest.mark.browser", {"fast"}),
        ("[\n    pytest.mark.timeout(900),\n    pytest.mark.very_slow,\n]", {"fast", "default"}),
        ('pytest.mark.usefixtures("browser")', set()),
    ],
)
def test_what_is_left_out_as_a_whole_is_not_imported(
    mark: str, tiers: set[str], tmp_path: Path
) -> None:
    marked = tmp_path / "tests" / "test_marked.py"
    marked.parent.mkdir()
    marked.write_text(f"import pytest\n\npytestmark = {mark}\n\n\ndef test_plain(): ...\n")
    for path in (marked, marked.parent):
        assert {tier for tier in TIERS if Selection(tier).passes_over(path, tmp_path)} == tiers
    (tmp_path / "tests" / "test_other.py").write_text('"""No mark: pytest.mark.browser."""\n')
    assert not Selection("fast").passes_over(tmp_path / "tests", tmp_path)
    assert not read_share("1/4").passes_over(marked, tmp_path)


def test_what_loads_torch_is_there_and_not_in_the_fast_tier() -> None:
    root = Path(__file__).parents[1]
    assert [name for name in WITH_TORCH if not (root / name).exists()] == []
    assert all(Selection("fast").passes_over(root / name, root) for name in WITH_TORCH)
