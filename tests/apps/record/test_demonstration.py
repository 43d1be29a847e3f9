"""Whatever a page is made of, what a person did in it is a demonstration."""

import pytest

from tests.apps.record.replaying import FORM, mark_of, replayed, same_end
from webagent.records import Ending

pytestmark = pytest.mark.browser


async def test_frames_are_acted_in_by_the_marks_that_their_elements_have(recording, site, browser):
    port = site.address.rpartition(":")[2]
    site.pages |= {
        "/": (
            "<title>Outer</title><button>Around</button>"
            f"<iframe src=/inner></iframe><iframe src=http://localhost:{port}/far></iframe>"
        ),
        "/inner": "<input aria-label=Near><button onclick=\"this.textContent='done'\">In</button>",
        "/far": "<input aria-label=Far><button onclick=\"this.textContent='ready'\">Off</button>",
    }
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        near, far = (person.page.frame_locator("iframe").nth(place) for place in (0, 1))
        await person.use(near.locator("input"), "one")
        await person.use(near.locator("button"))
        await person.use(far.locator("input"), "two")
        await person.use(far.locator("button"))

    assert recorded.actions == [
        f'fill({mark_of(recorded, "Near")}, "one")',
        f"click({mark_of(recorded, 'In')})",
        f'fill({mark_of(recorded, "Far")}, "two")',
        f"click({mark_of(recorded, 'Off')})",
        'answer("")',
    ]
    again = await replayed(browser, recorded)
    assert {"done", "ready"} <= {node.name for node in again.last.nodes}
    assert same_end(recorded.done, again)


async def test_shadow_trees_that_the_page_closed_are_looked_into(recording, site, browser):
    site.pages["/"] = (
        "<title>Closed</title><div id=host></div><script>"
        "const root = document.getElementById('host').attachShadow({mode: 'closed'});"
        'root.innerHTML = "<input aria-label=Inside><button>Go</button>";'
        "root.querySelector('button').onclick = () => {"
        " document.title = root.querySelector('input').value; };</script>"
    )
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        _, y = await person.middle("#host")
        box = await person.page.locator("#host").bounding_box()
        assert box is not None
        for button in ("mousePressed", "mouseReleased"):
            await person.mouse(button, box["x"] + 40, y, button="left", clickCount=1)
        await person.type("deep")
        await person.see()
        for button in ("mousePressed", "mouseReleased"):
            await person.mouse(button, box["x"] + 190, y, button="left", clickCount=1)
        await person.see()

    assert recorded.actions == [
        f'fill({mark_of(recorded, "Inside")}, "deep")',
        f"click({mark_of(recorded, 'Go')})",
        'answer("")',
    ]
    again = await replayed(browser, recorded)
    assert again.last.title == "deep"


async def test_what_a_page_makes_up_is_not_taken_for_a_person(recording, site):
    site.pages["/"] = (
        "<title>Busy</title><button>Me</button><input aria-label=F><script>setInterval(() => {"
        " const b = document.querySelector('button'); b.click();"
        " b.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}));"
        " b.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}));"
        " const f = document.querySelector('input'); f.value += 'x';"
        " f.dispatchEvent(new InputEvent('input', {bubbles: true})); }, 50)</script>"
    )
    async with recording(f"{site.address}/") as recorded:
        await recorded.person.page.wait_for_function("document.querySelector('input').value[9]")
        recorded.person.watch.is_resting.set()

    assert recorded.actions == ['answer("")']


async def test_the_episode_is_a_demonstration_like_any_other(recording, site):
    site.pages["/"] = FORM
    async with recording(f"{site.address}/", goal="Say hello", answer="yes") as recorded:
        await recorded.person.use("[name=gift]")

    (kept,) = recorded.store.trajectories(phase="demonstrate")
    assert kept.task == recorded.done.task
    assert (kept.goal, kept.task.goal, kept.ending) == ("Say hello", "Say hello", Ending.ANSWERED)
    assert {step.decision.source for step in kept.steps} == {"demonstration"}
    assert {step.decision.weights for step in kept.steps} == {"person"}
    assert recorded.actions[-1] == 'answer("yes")'
    (score,) = recorded.store.scores()[kept.id]
    assert (score.name, score.value, score.evaluator) == ("success", 1.0, "person")
