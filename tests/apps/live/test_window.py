"""A person takes over in the browser's own window, with a real mouse and real keys."""

import pytest

from tests.apps.live.conftest import act, kept
from tests.fakes.screen import FORM, greet, needs_screen, screen, windows
from tests.fakes.terminal import session
from webagent.action import format_action
from webagent.records import PERSON, Ending

__all__ = ["screen"]
pytestmark = [pytest.mark.browser, needs_screen]


@pytest.mark.very_slow
@pytest.mark.usefixtures("screen")
def test_what_is_done_in_the_window_is_kept_and_the_agent_goes_on(shop, chat_server, asked, folder):
    shop.pages["/"] = FORM
    chat_server.will(*[act("wait(1000)")] * 30)
    with session(*asked, "--headed") as at:
        at.until("wait(1000)")
        at.press("t")
        at.until("you have control; your actions are recorded")
        shown = windows()
        greet("Ada", shop.posted[0])
        at.until("you: fill")
        chat_server.will(act('answer("done")'))
        at.press("\n")
        at.until("handed back")
        assert at.status() == 0, at.said
    assert shown == 1, "no page that is kept ready hides the one that is acted in"
    _, _, of_person = at.said.partition("you have control")
    assert "the model is thinking" not in of_person.partition("handed back")[0]
    found = kept(folder)
    done = [step.decision for step in found.steps if step.decision.weights == PERSON]
    assert [format_action(each.action) for each in done] == ['fill(1, "Ada")', "click(2)"]
    assert found.last is not None and found.last.title == "Hello Ada"
    assert found.ending is Ending.ANSWERED
