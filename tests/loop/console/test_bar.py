"""How far something is, told of what takes longer than two seconds and of nothing else."""

from io import StringIO

import pytest
from rich.console import Console

from loop.console import bar as bars
from loop.console.bar import Bar, along


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds; the first of the list is now."""
    now = [0.0]
    monkeypatch.setattr(bars.time, "monotonic", lambda: now[0])
    return now


def lines(total: int, seconds: float, clock: list[float], *, is_terminal: bool) -> str:
    """What is said while each of so many takes so long."""
    said = StringIO()
    console = Console(file=said, force_terminal=is_terminal, width=80)
    with Bar("pages", total, console) as bar:
        for _ in range(total):
            clock[0] += seconds
            bar.step()
    return said.getvalue()


def test_what_is_quick_is_done_without_a_word(clock: list[float]) -> None:
    assert lines(10, 0.1, clock, is_terminal=False) == ""
    assert lines(10, 0.1, clock, is_terminal=True) == ""


def test_into_a_file_goes_a_line_every_few_seconds(clock: list[float]) -> None:
    assert lines(1_200, 0.01, clock, is_terminal=False).splitlines() == [
        "pages: 501 of 1,200",
        "pages: 1,002 of 1,200",
    ]


def test_on_a_terminal_there_is_a_bar(clock: list[float]) -> None:
    said = lines(4, 1.0, clock, is_terminal=True)
    assert "pages" in said and "100%" in said


def test_what_goes_along_comes_out_in_order() -> None:
    assert list(along("abc", "letters")) == ["a", "b", "c"]
