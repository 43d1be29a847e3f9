"""A command that shows nothing for seconds says that it is at work, and no other does."""

import time
from io import StringIO

import pytest
from rich.console import Console

from loop.console import progress, pulse
from loop.console.progress import ProgressDisplay
from loop.console.pulse import Pulse, show_life
from loop.console.screen import PlainConsole
from tests.fakes.clock import replace_clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds; the first of the list is now."""
    now = [0.0]
    replace_clock(monkeypatch, pulse, lambda: now[0])
    return now


def test_silence_is_broken_every_few_seconds_with_what_is_done(clock: list[float]) -> None:
    shown = StringIO()
    beating = Pulse("webagent improve", Console(file=shown))
    for second in range(13):
        clock[0] = float(second)
        if second == 6:
            beating.rest()  # something else was shown
            beating.text = "self 0  policy  50 %"
        beating.beat()
    assert [line.strip(" …") for line in shown.getvalue().splitlines()] == [
        "webagent improve, 4 s since the start",
        "self 0  policy  50 %, 10 s since the start",
    ]


def test_beside_a_display_that_moves_nothing_is_shown(clock: list[float]) -> None:
    shown = StringIO()
    beating = Pulse("webagent improve", Console(file=shown))
    beating.displays, clock[0] = 1, 60.0
    beating.beat()
    assert not shown.getvalue()


def test_a_terminal_has_one_line_that_goes_when_something_is_shown(clock: list[float]) -> None:
    shown = StringIO()
    beating = Pulse("webagent improve", Console(file=shown, force_terminal=True, width=80))
    clock[0] = 5.0
    beating.beat()
    beating.rest()
    assert "webagent improve, 5 s" in shown.getvalue() and "\n\n" not in shown.getvalue()
    assert shown.getvalue().endswith("\x1b[2K"), "the line is erased"


@pytest.mark.slow
def test_a_silent_command_is_heard_and_a_display_says_what_it_is_at(monkeypatch, capsys):
    monkeypatch.setattr(pulse, "SILENCE_SECONDS", 0.2)
    with show_life("webagent improve"):
        with ProgressDisplay(PlainConsole(file=StringIO()), patience=60.0) as display:
            display.update("self 0", 0.5, "policy  50%")
        time.sleep(1.2)
    assert "self 0  policy  50%" in capsys.readouterr().err
    assert pulse.current() is None
    assert progress.LINE_SECONDS <= 5.0
