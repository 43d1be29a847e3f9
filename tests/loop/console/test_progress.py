"""Progress stays in place on a terminal, comes line by line elsewhere; quick work shows none."""

import json
from io import StringIO
from pathlib import Path

import pytest

from loop.console import progress
from loop.console.progress import count_episodes, count_items, show_jobs, track
from loop.console.screen import PlainConsole
from loop.folder import PROGRESS
from loop.jobs import NEWS, JobProgress
from tests.fakes.clock import replace_clock
from tests.fakes.run import episode
from webagent.records import Provenance


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds; the first of the list is now."""
    now = [0.0]
    replace_clock(monkeypatch, progress, lambda: now[0])
    return now


def lines(total: int, seconds: float, clock: list[float], *, is_terminal: bool) -> str:
    """What is said while each of so many takes so long."""
    said = StringIO()
    console = PlainConsole(file=said, force_terminal=is_terminal, width=80)
    with count_items("pages", total, console) as step:
        for _ in range(total):
            clock[0] += seconds
            step()
    return said.getvalue()


def test_what_is_quick_is_done_without_a_word(clock: list[float]) -> None:
    assert lines(10, 0.1, clock, is_terminal=False) == ""
    assert lines(10, 0.1, clock, is_terminal=True) == ""


def test_into_a_file_goes_a_line_every_few_seconds_and_one_at_the_end(clock: list[float]) -> None:
    said = lines(1_200, 1 / 64, clock, is_terminal=False)
    assert [line.split("pages")[1].strip() for line in said.splitlines()] == [
        *(f"{number:,} of 1,200" for number in range(192, 1_200, 192)),
        "1,200 of 1,200",
    ]


def test_on_a_terminal_there_is_a_bar(clock: list[float]) -> None:
    said = lines(4, 1.0, clock, is_terminal=True)
    assert "pages" in said and "4 of 4" in said


def test_episodes_without_a_verdict_are_no_failures() -> None:
    said = StringIO()
    played = [episode(Provenance(index=index), "click-link", index, True) for index in range(3)]
    with count_episodes(3, PlainConsole(file=said, width=200)) as counter:
        for each, success in zip(played, (None, 1.0, None), strict=True):
            counter.count(each, success, is_new=True)
    last = said.getvalue().splitlines()[-1]
    assert "3/3 episodes  100.0 % success of 1, 2 without a verdict" in last
    with count_episodes(1, PlainConsole(file=said, width=200)) as counter:
        counter.count(played[0], None, is_new=True)
    assert said.getvalue().splitlines()[-1].split("episodes")[1].startswith("  no verdict")


def test_tracked_items_come_out_in_order() -> None:
    assert list(track("abc", "letters")) == ["a", "b", "c"]


def test_a_job_is_shown_when_it_enters_a_stage_and_when_it_ends_one(clock, tmp_path, monkeypatch):
    said = StringIO()
    monkeypatch.chdir(tmp_path)
    run = Path("runs/one")
    run.mkdir(parents=True)
    with show_jobs(run, PlainConsole(file=said, width=80)) as show:
        for done in (0.0, 0.5, 1.0):
            show(JobProgress("self 0", "collect", done, "[note]"))
        show(JobProgress("self 0", NEWS, 1.0, "round 1: 3 of 4 test episodes succeed"))
        show(JobProgress("self 0", "policy", 0.0, ""))
        news = "round 1: 3 of 4 test episodes succeed"
        kept = json.loads((run / PROGRESS).read_text())
    assert kept == {"self 0": ["policy 0%", news]} and not (run / PROGRESS).exists()
    first, *stages = said.getvalue().splitlines()
    assert stages.pop(2).split(None, 4)[2:] == ["self", "0", news]
    assert first == "run folder: runs/one"
    assert [line.split()[2:] for line in stages] == [
        ["self", "0", "collect", "0%", "[note]"],
        ["self", "0", "collect", "100%", "[note]"],
        ["self", "0", "policy", "0%"],
    ]
