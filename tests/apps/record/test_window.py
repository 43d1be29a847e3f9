"""A person does something in the recorder's window, with a real mouse and real keys."""

import signal

import pytest

from tests.fakes.screen import FORM, greet, needs_screen, screen
from tests.fakes.terminal import session
from webagent.action import format_action
from webagent.store import Store

__all__ = ["screen"]
pytestmark = [pytest.mark.browser, needs_screen]


@pytest.mark.usefixtures("screen")
def test_what_is_done_in_the_window_is_kept_from_when_it_is_said_to_be(site, tmp_path):
    site.pages["/"] = FORM
    named = ("--goal", "Greet Ada", "--runs", str(tmp_path), "--name", "mine")
    with session("record", f"{site.address}/", *named) as at:
        at.until("are now recorded")
        greet("Ada", site.posted[0])
        at.until("fill")
        at.process.send_signal(signal.SIGINT)
        assert at.status() == 0, at.said
    with Store.open(tmp_path / "mine") as store:
        (made,) = store.trajectories(phase="demonstrate")
    done = [format_action(step.decision.action) for step in made.steps]
    assert done == ['fill(1, "Ada")', "click(2)", 'answer("")']
    assert made.last is not None and made.last.title == "Hello Ada"
