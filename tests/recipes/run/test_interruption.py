"""A person at a real terminal, and signals: nothing of the run is lost, no browser is left."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.recipes.recording.conftest import Server
from tests.recipes.run.conftest import act
from tests.webagent.conftest import Behave, ChatServer
from webagent.records import Ending, Trajectory
from webagent.store import Store

pytestmark = pytest.mark.browser
PROGRAM = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # the terminal is the new session's own
from recipes.cli import main
sys.exit(main())
"""
ROOT = Path(__file__).parents[3]


@dataclass
class Session:
    """The command at a terminal of its own."""

    process: subprocess.Popen[bytes]
    terminal: int
    said: str = ""
    place: int = 0
    """Where in it the words end that were waited for last."""

    def until(self, words: str, seconds: float = 100.0) -> None:
        """Wait until the terminal shows these words, after those waited for before."""
        end = time.monotonic() + seconds
        while words not in self.said[self.place :]:
            assert time.monotonic() < end, f"never said {words!r}; said {self.said[-2000:]!r}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                self._read()
        self.place = self.said.index(words, self.place) + len(words)

    def press(self, keys: str) -> None:
        """At the keyboard."""
        os.write(self.terminal, keys.encode())

    def status(self) -> int:
        """Its exit status, once it is over."""
        end = time.monotonic() + 60
        while self.process.poll() is None:
            assert time.monotonic() < end, f"does not end; said {self.said[-2000:]!r}"
            if select.select([self.terminal], [], [], 0.05)[0]:
                self._read()
        return self.process.returncode

    def _read(self) -> None:
        try:
            self.said += os.read(self.terminal, 65536).decode(errors="replace")
        except OSError:  # the other end has closed
            time.sleep(0.02)


@contextmanager
def session(*arguments: str) -> Iterator[Session]:
    """`webagent run` with a terminal as its input and output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "run", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "200"},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Session(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def browsers(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """What the command has started."""
    return psutil.Process(process.pid).children(recursive=True)


def kept(folder: Path) -> Trajectory:
    """The one episode of the run."""
    with Store.open(folder / "runs" / "r") as store:
        (episode,) = store.ids("any")
        found = store.load(episode)
    assert found is not None
    return found


@pytest.fixture
def asked(shop: Server, chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of a run whose model is there."""
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    return ["Greet", "--url", f"{shop.address}/", "--model", "m", "--name", "r"]


def test_ctrl_c_leaves_a_whole_episode_and_no_browser(
    asked: list[str], chat_server: ChatServer, folder: Path
) -> None:
    chat_server.will(act("click(2)"), Behave.slow())
    with session(*asked) as at:
        at.until("click(2)")
        at.until("(")
        started = browsers(at.process)
        assert started
        at.press("\x03")
        assert at.status() == 128 + signal.SIGINT
        psutil.wait_procs(started, timeout=10)
        assert not [each for each in started if each.is_running()]
    assert "stopped: interrupted by SIGINT" in at.said
    found = kept(folder)
    assert (found.ending, len(found.steps)) == (Ending.STOPPED, 1)


def test_keys_pause_and_go_on_and_a_signal_does_too(
    asked: list[str], chat_server: ChatServer, folder: Path
) -> None:
    chat_server.will(*[act("wait(500)")] * 8, act('answer("done")'))
    with session(*asked) as at:
        at.until("p pauses")
        at.press("t")
        at.until("no window to take over in")
        at.process.send_signal(signal.SIGUSR2)
        at.until("no window to take over in")
        at.press("p")
        at.until("paused")
        at.press("\n")
        at.until("going on")
        at.process.send_signal(signal.SIGUSR1)
        at.until("paused")
        at.process.send_signal(signal.SIGUSR1)
        at.until("going on")
        assert at.status() == 0, at.said
    assert kept(folder).ending is Ending.ANSWERED


def test_a_yes_is_one_key_and_the_question_comes_from_the_action(
    asked: list[str], chat_server: ChatServer, folder: Path, shop: Server
) -> None:
    (folder / "guard.toml").write_text(
        '[[actions]]\nverdict = "ask"\nactions = ["click"]\nreason = "sending is mine"\n'
    )
    chat_server.will(act("click(2)"), act("click(2)"), act('answer("")'))
    with session(*asked, "--guard", "guard.toml") as at:
        at.until("May the agent do 'click(2)'?")
        at.until("[y] yes")
        at.press("n")
        at.until("refused")
        at.until("May the agent do 'click(2)'?")
        at.press("y")
        at.until("allowed")
        assert at.status() == 0, at.said
    first, second, _ = kept(folder).steps
    assert second.observation.outcome.startswith("refused: nobody approved")
    assert second.observation.title == "Shop"
    found = kept(folder).last
    assert found is not None and found.title.startswith("Hello")
    assert first.observation.outcome == ""


def test_q_stops(asked: list[str], chat_server: ChatServer, folder: Path) -> None:
    chat_server.will(Behave.slow())
    with session(*asked) as at:
        at.until("start")
        at.press("q")
        assert at.status() == 130
    assert kept(folder).error == "stopped by q"


def test_a_kill_leaves_a_store_that_opens_and_no_browser(
    asked: list[str], chat_server: ChatServer, folder: Path
) -> None:
    chat_server.will(act("click(2)"), Behave.slow())
    with session(*asked) as at:
        at.until("click(2)")
        at.until("(")
        started = browsers(at.process)
        at.process.kill()
        psutil.wait_procs(started, timeout=20)
        assert not [each for each in started if each.is_running()]
    found = kept(folder)
    assert found.ending is None and len(found.steps) == 1
