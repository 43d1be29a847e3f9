"""What a person does by mouse and keyboard is kept as actions that do the same when replayed."""

import asyncio
from typing import Any

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


def mark_of(recorded: Recorded, name: str, role: str = "") -> int:
    """The mark of an element by its name, wherever it was seen first."""
    assert recorded.done is not None
    pages = [step.observation for step in recorded.done.steps]
    found = [
        node.mark
        for page in pages
        for node in page.nodes
        if node.name == name and node.mark and role in ("", node.role)
    ]
    assert found, f"nothing called {name}"
    return found[0]


async def test_a_link_is_kept_with_the_page_it_was_clicked_on_and_so_is_the_way_back(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages |= {
        "/": "<title>One</title><a href=/two>Go on</a>",
        "/two": "<title>Two</title><a href=/three>Further</a>",
        "/three": "<title>Three</title><h1>Here</h1>",
    }
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.click("a")
        await person.see()
        await person.click("a")
        await person.see()
        await asyncio.sleep(0.8)
        history = await person.cdp.send("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] - 1]["id"]
        await person.cdp.send("Page.navigateToHistoryEntry", {"entryId": entry})
        await asyncio.sleep(0.3)
        await person.see()
        await person.cdp.send("Page.navigate", {"url": f"{site.address}/three?q=1"})
        await asyncio.sleep(0.3)
        await person.see()

    first, second = mark_of(recorded, "Go on"), mark_of(recorded, "Further")
    assert recorded.actions == [
        f"click({first})",
        f"click({second})",
        "go_back()",
        f'goto("{site.address}/three?q=1")',
        'answer("")',
    ]
    assert recorded.done is not None
    titles = [step.observation.title for step in recorded.done.steps]
    assert titles == ["One", "Two", "Three", "Two", "Three"]
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_acting_without_a_pause_is_kept_with_each_page_as_it_was_just_then(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages["/"] = FORM
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.click("[name=name]")
        await person.type("Bo")
        await person.click("[name=gift]")
        await person.click("[name=notes]")
        await person.type("Hi")
        await person.click("button")
        await person.see()

    assert recorded.done is not None
    assert [action.partition("(")[0] for action in recorded.actions] == [
        *("fill", "check", "fill", "click", "answer")
    ]
    send = recorded.done.steps[3].observation
    assert [node.value for node in send.nodes if node.role == "textbox"] == ["Bo", "Hi"]
    assert same_end(recorded.done, await replayed(browser, recorded))
    assert site.posted[0] == site.posted[1]


async def test_frames_are_acted_in_by_the_marks_that_their_elements_have(
    recording: Recording, site: Server, browser: Browser
) -> None:
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
        await person.click(near.locator("input"))
        await person.type("one")
        await person.see()
        await person.click(near.locator("button"))
        await person.see()
        await person.click(far.locator("input"))
        await person.type("two")
        await person.see()
        await person.click(far.locator("button"))
        await person.see()

    assert recorded.actions == [
        f'fill({mark_of(recorded, "Near")}, "one")',
        f"click({mark_of(recorded, 'In')})",
        f'fill({mark_of(recorded, "Far")}, "two")',
        f"click({mark_of(recorded, 'Off')})",
        'answer("")',
    ]
    again = await replayed(browser, recorded)
    assert again.last is not None
    assert {"done", "ready"} <= {node.name for node in again.last.nodes}
    assert same_end(recorded.done, again)


async def test_dialogs_are_kept_as_they_were_answered(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages["/"] = (
        "<title>Ask</title><button onclick=\"document.title = prompt('Who?', 'me')\">Ask</button>"
        "<button onclick=\"document.title = confirm('Sure?')\">Delete</button>"
    )
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        for name, answer in (
            ("Ask", {"accept": True, "promptText": "Ada"}),
            ("Delete", {"accept": False}),
        ):
            clicking = asyncio.ensure_future(person.click(f"text={name}"))
            await asyncio.sleep(0.4)
            await person.cdp.send("Page.handleJavaScriptDialog", answer)
            await clicking
            await person.see()

    assert recorded.actions == [
        f"click({mark_of(recorded, 'Ask')})",
        'dialog("accept", "Ada")',
        f"click({mark_of(recorded, 'Delete')})",
        'dialog("dismiss", "")',
        'answer("")',
    ]
    assert recorded.done is not None
    (shown,) = recorded.done.steps[1].observation.nodes
    assert shown.name == "the page opened a dialog (prompt): Who?, with 'me' filled in"
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_tabs_are_followed_as_they_open_come_to_front_and_close(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages |= {
        "/": "<title>One</title><a href=/two target=_blank>Open</a><button>Stay</button>",
        "/two": "<title>Two</title><button onclick=\"document.title='Pressed'\">Press</button>",
    }
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.click("a")
        await person.see()
        other = await person.at(person.page.context.pages[-1])
        await other.click("button")
        await person.see()
        await person.click("text=Stay")
        await person.see()
        await asyncio.sleep(0.8)
        await other.page.close()
        await asyncio.sleep(0.5)
        await person.see()

    assert recorded.actions == [
        f"click({mark_of(recorded, 'Open')})",
        f"click({mark_of(recorded, 'Press')})",
        "tab_focus(0)",
        f"click({mark_of(recorded, 'Stay')})",
        "tab_focus(1)",
        "tab_close()",
        'answer("")',
    ]
    assert recorded.done is not None
    assert recorded.done.steps[1].observation.tabs == ("One", "Two")
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_a_tab_opened_by_hand_and_the_address_typed_there_are_kept(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages |= {"/": "<title>One</title>", "/two": "<title>Two</title><h1>Here</h1>"}
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await asyncio.sleep(0.8)
        fresh = await person.at(await person.page.context.new_page())
        await asyncio.sleep(1.0)
        await person.see()
        await fresh.cdp.send("Page.navigate", {"url": f"{site.address}/two"})
        await asyncio.sleep(0.4)
        await person.see()

    assert recorded.actions == ["new_tab()", f'goto("{site.address}/two")', 'answer("")']
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_keys_that_do_something_are_kept_and_those_that_type_are_not(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages |= {
        "/": (
            "<title>Keys</title><form action=/found><input name=q aria-label=Search></form>"
            "<script>addEventListener('keydown', (e) => { if (e.key === 'ArrowDown') {"
            " e.preventDefault(); document.title += '+'; } });</script>"
        ),
        "/found": "<title>Found</title><h1>QUERY</h1>",
    }
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.key("ArrowDown")
        await person.see()
        await person.click("input")
        await person.type("cats")
        await person.key("Enter")
        await person.see()

    search = mark_of(recorded, "Search")
    assert recorded.actions == [
        'press(0, "ArrowDown")',
        f'fill({search}, "cats")',
        f'press({search}, "Enter")',
        'answer("")',
    ]
    assert recorded.done is not None
    assert recorded.done.last is not None
    assert recorded.done.last.url.endswith("/found?q=cats")
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_lists_sliders_and_double_clicks_are_each_one_action(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages["/"] = (
        "<title>Widgets</title><select aria-label=Size><option>S<option>M<option>L</select>"
        "<input type=range aria-label=Volume min=0 max=10 value=1>"
        "<p><button ondblclick=\"document.title='Twice'\">Twice</button>"
    )
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.page.locator("select").focus()
        await person.key("ArrowDown")
        await person.see()
        await person.click("input")
        await person.see()
        await person.click("button", count=2)
        await person.see()

    assert recorded.actions == [
        f'select_option({mark_of(recorded, "Size")}, "M")',
        f'fill({mark_of(recorded, "Volume")}, "5")',
        f"dblclick({mark_of(recorded, 'Twice')})",
        'answer("")',
    ]
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_a_menu_that_opens_under_the_mouse_needs_a_hover_first(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages |= {
        "/": (
            "<title>Menu</title><style>ul ul { display: none } li:hover ul { display: block }"
            "</style><ul><li><a href=#>Products</a><ul><li><a href=/shoes>Shoes</a></ul></ul>"
        ),
        "/shoes": "<title>Shoes</title>",
    }
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.hover("text=Products")
        await asyncio.sleep(0.5)
        await person.click("text=Shoes")
        await person.see()

    assert recorded.actions == [
        f"hover({mark_of(recorded, 'Products')})",
        f"click({mark_of(recorded, 'Shoes')})",
        'answer("")',
    ]
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_scrolling_is_kept_where_it_brought_forth_what_was_used(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages["/"] = (
        "<title>Long</title><button>Top</button><div style=height:3000px></div><script>"
        "addEventListener('scroll', () => { if (document.querySelector('#late')) return;"
        " document.body.insertAdjacentHTML('beforeend',"
        " '<button id=late style=position:fixed;top:9em>Late</button>');"
        " document.querySelector('#late').onclick = () => { document.title = 'Late'; }; });"
        "</script>"
    )
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.mouse("mouseWheel", 200, 200, deltaX=0, deltaY=4000)
        await asyncio.sleep(0.6)
        await person.see()
        await person.click("#late")
        await person.see()

    scroll, *others = recorded.actions
    assert scroll.startswith("scroll(0, 0, ")
    assert others == [f"click({mark_of(recorded, 'Late')})", 'answer("")']
    again = await replayed(browser, recorded)
    assert again.last is not None
    assert again.last.title == "Late"


async def test_dragging_one_thing_onto_another_is_one_action(
    recording: Recording, site: Server, browser: Browser
) -> None:
    site.pages["/"] = (
        "<title>Drag</title><button id=a style=cursor:move>Thing</button>"
        "<p><button id=b>Box</button><script>let held = false;"
        "a.onmousedown = () => { held = true; };"
        "b.onmouseup = () => { if (held) document.title = 'Dropped'; };</script>"
    )
    async with recording(f"{site.address}/") as recorded:
        await recorded.person.drag("#a", "#b")
        await recorded.person.see()

    thing, box = mark_of(recorded, "Thing"), mark_of(recorded, "Box")
    assert recorded.actions == [f"drag_and_drop({thing}, {box})", 'answer("")']
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_files_are_kept_by_where_they_lie(
    recording: Recording, site: Server, browser: Browser, tmp_path: Any
) -> None:
    site.pages["/"] = (
        "<title>Send</title><form method=post action=/in enctype=multipart/form-data>"
        "<input type=file name=f aria-label=Letter><button>Send</button></form>"
    )
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear all")
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.cdp.send("DOM.enable")
        root = (await person.cdp.send("DOM.getDocument"))["root"]["nodeId"]
        wanted = {"nodeId": root, "selector": "input"}
        field = (await person.cdp.send("DOM.querySelector", wanted))["nodeId"]
        put = {"files": [str(letter)], "nodeId": field}
        await person.cdp.send("DOM.setFileInputFiles", put)
        await person.see()
        await person.click("button")
        await person.see()

    assert recorded.actions[0] == f'upload_file({mark_of(recorded, "Letter")}, "{letter}")'
    assert same_end(recorded.done, await replayed(browser, recorded))
    assert all("Dear all" in each for each in site.posted)
    assert len(site.posted) == 2


async def test_shadow_trees_that_the_page_closed_are_looked_into(
    recording: Recording, site: Server, browser: Browser
) -> None:
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
    assert again.last is not None
    assert again.last.title == "deep"


async def test_a_password_is_nowhere_in_what_is_kept(recording: Recording, site: Server) -> None:
    site.pages |= {
        "/": (
            "<title>In</title><form action=/in><input name=user aria-label=User>"
            "<input name=pass type=password aria-label=Secret><button>Go</button></form>"
        ),
        "/in": "<title>Welcome</title><h1>You said QUERY</h1>",
    }
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.click("[name=user]")
        await person.type("ada")
        await person.click("[name=pass]")
        await person.type("hunter22")
        await person.see()
        await person.click("button")
        await person.see()

    secret = mark_of(recorded, "Secret")
    assert f'fill({secret}, "<secret:password>")' in recorded.actions
    assert recorded.done is not None
    assert recorded.done.last is not None
    assert "pass=<secret:password>" in recorded.done.last.url
    assert recorded.done.last.screenshot == "", "the picture shows what the page says"
    assert any(step.observation.screenshot for step in recorded.done.steps)
    values = {n.value for s in recorded.done.steps for n in s.observation.nodes if n.mark == secret}
    assert values <= {"", "•••", "<secret:password>"}
    stored = recorded.store.load(recorded.done.id)
    assert "hunter22" not in repr(stored)
    assert "hunter22" not in "".join(recorded.said)


async def test_what_a_page_makes_up_is_not_taken_for_a_person(
    recording: Recording, site: Server
) -> None:
    site.pages["/"] = (
        "<title>Busy</title><button>Me</button><input aria-label=F><script>setInterval(() => {"
        " const b = document.querySelector('button'); b.click();"
        " b.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}));"
        " b.dispatchEvent(new PointerEvent('pointerup', {bubbles: true}));"
        " const f = document.querySelector('input'); f.value += 'x';"
        " f.dispatchEvent(new InputEvent('input', {bubbles: true})); }, 50)</script>"
    )
    async with recording(f"{site.address}/") as recorded:
        await asyncio.sleep(0.5)
        recorded.person.watch.is_resting.set()

    assert recorded.actions == ['answer("")']


async def test_a_click_on_nothing_is_left_out_and_said(recording: Recording, site: Server) -> None:
    site.pages["/"] = "<title>Plain</title><p style=height:200px>Text</p><button>Go</button>"
    async with recording(f"{site.address}/") as recorded:
        await recorded.person.click("p")
        await recorded.person.see()
        await recorded.person.click("button")
        await recorded.person.see()

    assert recorded.actions == [f"click({mark_of(recorded, 'Go')})", 'answer("")']
    assert any("was left out: nothing came of it" in each for each in recorded.said)
    assert recorded.done is not None
    assert recorded.done.evidence["left_out"] != []


async def test_the_episode_is_a_demonstration_like_any_other(
    recording: Recording, site: Server
) -> None:
    site.pages["/"] = FORM
    async with recording(f"{site.address}/", goal="Say hello", answer="yes") as recorded:
        await recorded.person.click("[name=gift]")
        await recorded.person.see()

    assert recorded.done is not None
    (kept,) = recorded.store.trajectories(phase="demonstrate")
    assert kept.task == recorded.done.task
    assert (kept.goal, kept.task.goal, kept.ending) == ("Say hello", "Say hello", Ending.ANSWERED)
    assert {step.decision.source for step in kept.steps} == {"demonstration"}
    assert {step.decision.weights for step in kept.steps} == {"person"}
    assert recorded.actions[-1] == 'answer("yes")'
    (score,) = recorded.store.scores()[kept.id]
    assert (score.name, score.value, score.evaluator) == ("success", 1.0, "person")


async def test_closing_the_last_page_is_the_end_and_no_action(
    recording: Recording, site: Server
) -> None:
    site.pages["/"] = FORM
    async with recording(f"{site.address}/") as recorded:
        await recorded.person.click("[name=gift]")
        await recorded.person.see()
        await recorded.person.page.close()
        async with asyncio.timeout(10):
            await recorded.person.watch.ended.wait()

    assert [action.partition("(")[0] for action in recorded.actions] == ["check", "answer"]
    assert recorded.done is not None
    assert recorded.done.last is not None
    assert recorded.done.last.title == "Form"
