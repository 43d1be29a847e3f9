"""What a person does by mouse and keyboard is kept as actions that do the same when replayed."""


import pytest

from tests.recipes.recording.conftest import Recorded, Recording, Server
from webagent.browser import Browser
from webagent.browser.sessions.profile import Profile
from webagent.policy.scripted import ScriptedPolicy, replay
from webagent.records import Ending, Trajectory
from webagent.rollout import run_episode

pytestmark = pytest.mark.browser

FORM = """<title>Form</title><h1>Order</h1><form method=post action=/order>
<label>Name <input name=name></label>
<label>Notes <textarea name=notes></textarea></label>
<select name=size aria-label=Size><option>Small<option>Large</select>
<label><input type=checkbox name=gift value=yes> Gift</label>
<label><input type=radio name=ship value=slow checked> Slow</label>
<label><input type=radio name=ship value=fast> Fast</label>
<button>Send</button></form>"""


async def replayed(browser: Browser, recorded: Recorded) -> Trajectory:
    """The demonstration played again by a script."""
    assert recorded.done is not None
    world = await browser.world(profile=Profile(dialogs="ask"))
    try:
        policy = ScriptedPolicy(replay(recorded.done))
        return await run_episode(recorded.done.task, policy, world)
    finally:
        await world.close()


def same_end(one: Trajectory | None, other: Trajectory | None) -> bool:
    """Whether both came to the same page in the same state."""
    assert one and other and one.last and other.last
    ends = [
        (each.url, each.title, [(n.role, n.name, n.value, n.states) for n in each.nodes])
        for each in (one.last, other.last)
    ]
    return ends[0] == ends[1]


async def test_a_form_filled_with_corrections_is_replayed_to_the_same_order(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages["/"] = FORM
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.click("[name=name]")
        await person.type("Adda")
        await person.backspace()
        await person.backspace()
        await person.type("a")
        await person.see()
        await person.click("[name=notes]")
        await person.type("two")
        await person.key("Enter")
        await person.type("lines")
        await person.see()
        await person.click("[name=gift]")
        await person.see()
        await person.click("text=Fast")
        await person.see()
        await person.click("button")
        await person.see()

    assert recorded.done is not None
    shown = {node.name: node.mark for node in recorded.done.steps[0].observation.nodes}
    assert recorded.actions == [
        f'fill({shown["Name"]}, "Ada")',
        f'fill({shown["Notes"]}, "two\\nlines")',
        f"check({shown['Gift']})",
        f"check({shown['Fast']})",
        f"click({shown['Send']})",
        'answer("")',
    ]
    assert recorded.done.last is not None
    assert recorded.done.last.title == "Thanks"
    again = await replayed(browser, recorded)
    assert again.ending is Ending.ANSWERED
    assert same_end(recorded.done, again)
    assert len(site.posted) == 2
    assert site.posted[0] == site.posted[1]
