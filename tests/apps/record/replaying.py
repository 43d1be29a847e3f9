"""A demonstration held against its own replay, and the names and page its tests share."""

from tests.apps.record.conftest import Recorded
from webagent.browser import Browser
from webagent.browser.sessions.profile import Profile
from webagent.policy.policy import ScriptedPolicy, replay_recording
from webagent.records import Trajectory
from webagent.rollout import run_episode

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
        policy = ScriptedPolicy(replay_recording(recorded.done))
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


def mark_of(recorded: Recorded, name: str, role: str = "") -> int:
    """The mark of an element by its name, wherever it was seen first."""
    pages = [step.observation for step in recorded.done.steps]
    found = [
        node.mark
        for page in pages
        for node in page.nodes
        if node.name == name and node.mark and role in ("", node.role)
    ]
    assert found, f"nothing called {name}"
    return found[0]
