"""A person at a real terminal, and signals: nothing of the run is lost, no browser is left."""

import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.apps.live.conftest import act, kept
from tests.fakes.chat_server import Behave, ChatServer
from tests.fakes.terminal import session
from webagent.records import Ending

pytestmark = pytest.mark.browser


def browsers(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """What the command has started."""
    return psutil.Process(process.pid).children(recursive=True)


def test_ctrl_c_leaves_a_whole_episode_and_no_browser(asked, chat_server, folder):
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


@pytest.mark.very_slow
def test_keys_pause_and_go_on_and_a_signal_does_too(asked, chat_server, folder):
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


def test_a_yes_is_one_key_and_the_question_comes_from_the_action(asked, chat_server, folder, shop):
    (folder / "guard.toml").write_text(
        '[[actions]]\nverdict = "ask"\nactions = ["click"]\nreason = "sending is mine"\n'
    )
    # Asked whether to do once more what was just refused, the model insists.
    chat_server.will(*(act("click(2)"),) * 3, act('answer("")'))
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


def test_a_kill_leaves_a_store_that_opens_and_no_browser(asked, chat_server, folder):
    chat_server.will(act("click(2)"), Behave.slow())
    with session(*asked) as at:
        at.until("click(2)")
        end = time.monotonic() + 60
        while len(chat_server.requests) < 2:  # it is asked again once the step is kept
            assert time.monotonic() < end, "the model is not asked again"
            time.sleep(0.02)  # another process asks, in a thread of its own server
        started = browsers(at.process)
        at.process.kill()
        psutil.wait_procs(started, timeout=20)
        assert not [each for each in started if each.is_running()]
    found = kept(folder)
    assert found.ending is None and len(found.steps) == 1
