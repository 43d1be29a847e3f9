"""Tables fit the terminal, and nothing that is told can steer it."""

from io import StringIO

import pytest
from rich.cells import cell_len

from loop.console.screen import PlainConsole, build_table, results_console


def draw(columns: int, *, is_terminal: bool = False) -> list[str]:
    """Return the lines of a table on a terminal or a page of that width."""
    said = StringIO()
    rows = [
        ["none", "what is told of an arm in many words, 日本語 among them", "12.3"],
        ["all", "all of them", "100.0"],
    ]
    table = build_table("success", ["arm", "about", "success %"], rows, right=["success %"], bold=2)
    PlainConsole(said, width=columns, force_terminal=is_terminal).print(table)
    return said.getvalue().splitlines()


def test_a_wide_table_folds_its_widest_column_and_keeps_figures_whole() -> None:
    title, *lines = draw(45)
    assert title.strip() == "success"
    assert all(cell_len(line) <= 45 for line in lines) and len(lines) > 3
    assert [line.split()[-1] for line in lines if line.split()[-1][-2:-1] == "."] == [
        "12.3",
        "100.0",
    ]
    assert len(draw(120)) == 4


def test_figures_end_on_the_right_also_below_wide_letters() -> None:
    _, head, *rows = draw(120)
    assert {cell_len(line.rstrip()) for line in (head, *rows)} == {cell_len(head.rstrip())}


def test_styles_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in "".join(draw(80))
    assert "\x1b[1m     12.3\x1b[0m" in "".join(draw(80, is_terminal=True))
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in "".join(draw(80, is_terminal=True))


def test_what_is_told_cannot_steer_the_terminal() -> None:
    said = StringIO()
    PlainConsole(said, width=80).print("a title\x1b]0;mine\x07\x1b[2J and [bold]words[/bold]")
    assert said.getvalue() == "a title�]0;mine��[2J and [bold]words[/bold]\n"


@pytest.mark.parametrize("is_terminal", ["1", "0"])
def test_lines_end_between_words_on_a_terminal_and_nowhere_in_a_pipe(
    is_terminal, monkeypatch, capsys
):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TTY_COMPATIBLE", is_terminal)
    results_console(20).print("what happened, in words")
    wrapped, whole = ["what happened, in", "words"], ["what happened, in words"]
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert printed == (wrapped if is_terminal == "1" else whole)
