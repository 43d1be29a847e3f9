"""Every command in the documentation does what its page says, or at least can be read."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from perf.documentation import Command, commands, name_of, pages, spoken
from recipes import cli
from tests.docs import parsing
from tests.docs.scenes import Place
from tests.docs.treated import HISTORY, ONLY_READ, PLAYED, READ, SCENES, Play, Scene

LIVING = [page for page in pages() if page.exists() and not name_of(page).startswith(HISTORY)]
BEGINNINGS = tuple(each for beginnings in READ.values() for each in beginnings)


def ours(page: Path) -> list[Command]:
    """The page's commands that are ours; how to set up a shell is not."""
    return [each for each in commands(page) if parsing.is_ours(each)]


def of_tier(page: Path, slow: bool) -> list[Command]:
    """The page's commands that are run in a tier."""
    return [c for c in ours(page) if c.text in PLAYED and PLAYED[c.text].slow == slow]


PORT = "8123"
FIRST = ("README.md", "docs/tutorial.md")
"""Pages that a newcomer follows: their commands are run in the default tier."""
PLAYABLE = [
    pytest.param(page, marks=() if name_of(page) in FIRST else pytest.mark.very_slow)
    for page in LIVING
    if of_tier(page, False)
]
SLOW = [page for page in LIVING if of_tier(page, True)]


def test_every_command_of_a_page_is_run_or_said_why_not() -> None:
    written = [command.text for page in LIVING for command in ours(page)]
    unknown = [text for text in written if text not in PLAYED and not text.startswith(BEGINNINGS)]
    assert unknown == [], "put these into PLAYED or READ of tests/docs/treated.py"


def test_the_tables_hold_no_command_that_no_page_has() -> None:
    known = {each.text for page in LIVING for each in ours(page)}
    assert sorted(PLAYED.keys() - known) == []
    only_read = known - PLAYED.keys()
    unused = [each for each in BEGINNINGS if not any(text.startswith(each) for text in only_read)]
    assert unused == []
    assert len(only_read) == ONLY_READ, "put a new one into PLAYED, or raise ONLY_READ"
    assert sorted(SCENES.keys() - {name_of(page) for page in LIVING}) == []


@pytest.mark.slow
def test_every_command_of_a_page_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {}
    for command in (each for page in LIVING for each in (*commands(page), *spoken(page))):
        try:
            parsing.read(command, monkeypatch)
        except ValueError as error:
            wrong[f"{command.page}:{command.line}: {command.text}"] = str(error)
    assert wrong == {}


@pytest.mark.browser
@pytest.mark.parametrize("page", PLAYABLE, ids=name_of)
def test_what_a_page_tells_to_run_runs(page, scratch, small_run, monkeypatch, capsys):
    play_all(of_tier(page, False), Place(scratch, small_run), monkeypatch, capsys)


@pytest.mark.browser
@pytest.mark.very_slow
@pytest.mark.parametrize("page", SLOW, ids=name_of)
def test_what_a_page_tells_to_run_runs_though_it_takes_long(
    page, scratch, small_run, monkeypatch, capsys
):
    play_all(of_tier(page, True), Place(scratch, small_run), monkeypatch, capsys)


def play_all(found: list[Command], place: Place, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Run the commands in order, each to the status and the words of its entry."""
    scene = SCENES.get(found[0].page, Scene())
    if lacking := [name for name in scene.needs if shutil.which(name) is None]:
        pytest.skip(f"needs {', '.join(lacking)}")
    for name, value in scene.benchmark.items():
        monkeypatch.setenv(f"WEBAGENT_BENCHMARK_{name}", value)
    for lay in scene.lay:
        lay(place)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    for command in found:
        play = PLAYED[command.text]
        status, said = played(command, play, port, capsys)
        assert status == play.status, f"{command.text}\n{said}"
        lacking = [words for words in play.says if words not in said]
        assert lacking == [], f"{command.text}\n{said}"


def played(command: Command, play: Play, port: str, capsys) -> tuple[int, str]:
    """Status and words of a command of ours, run in this process unless it has to be apart.

    The port that the pages name may be taken on this machine; another one stands for it.
    """
    words = [*(play.swap.get(word, word) for word in command.argv[1:]), *play.more]
    words = [word.replace(PORT, port) for word in words]
    if play.apart:
        line = [sys.executable, "-m", "recipes.cli", *words]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120)
        return done.returncode, (done.stdout + done.stderr).replace(port, PORT)
    try:
        status = cli.main(words)
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else 1
    said = capsys.readouterr()
    return status, (said.out + said.err).replace(port, PORT)


def test_a_misspelt_flag_and_a_recipe_that_is_gone_are_found(monkeypatch):
    for line, why in (
        ("webagent benchmark --sedes 3", "--seeds"),
        ("webagent improove", "unknown command"),
        ("python perf/nothing.py", "there is no"),
        ("pip install -e .[lmm]", "lmm"),
    ):
        with pytest.raises(ValueError, match=why):
            parsing.read(Command("page", 1, tuple(line.split())), monkeypatch)


def test_reading_a_command_does_nothing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    parsing.read(Command("page", 1, ("webagent", "benchmark")), monkeypatch)
    assert os.listdir(folder) == []
