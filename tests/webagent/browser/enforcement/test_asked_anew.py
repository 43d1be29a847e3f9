"""An action that a person approved of is looked at again before it is done."""

import pytest

from tasks.task import Task
from webagent.action import parse_action
from webagent.browser import BrowserWorld
from webagent.guard import ActionRule, Guard, GuardPolicy

pytestmark = pytest.mark.browser
BUTTON = "<button onclick=\"document.title='bought'\">Subscribe</button>"
PAGE = f"data:text/html,<title>shop</title>{BUTTON}"


class Approver:
    """Says yes to what it is asked about, but not to paying; the page changes while it thinks."""

    def __init__(self, change: str) -> None:
        self.change, self.questions = change, list[str]()
        self.world: BrowserWorld | None = None

    async def approve(self, question: str) -> bool:
        """Change the page once, then answer."""
        self.questions.append(question)
        if len(self.questions) == 1 and self.change and self.world is not None:
            await self.world.tabs().active.evaluate(self.change)
        return "Pay" not in question


@pytest.mark.sample(2)
@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.parametrize(
    ("change", "asked", "title"),
    [
        ("", 1, "bought"),
        ("void (document.body.append('an advert'))", 1, "bought"),
        ("void (document.querySelector('button').textContent = 'Pay 900')", 2, "shop"),
        ("void (document.querySelector('button').textContent = 'Join')", 2, "bought"),
    ],
)
async def test_what_changed_between_question_and_yes_is_asked_about_anew(
    held, change, asked, title, clock
):
    approver = Approver(change)
    policy = GuardPolicy(actions=(ActionRule("ask", ("click",)),), other_sites="allow")
    held.guard = Guard.of(policy, approver)
    world = approver.world = await held.world()
    await world.reset(Task("guard/ask@1", PAGE, clock=clock))
    page = await world.step(parse_action("click(1)"))
    await world.close()

    assert (len(approver.questions), page.title) == (asked, title)
    assert ("nobody approved" in page.outcome) is (title == "shop")
