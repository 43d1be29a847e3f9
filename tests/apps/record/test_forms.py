"""What is typed, ticked, chosen and sent in forms is kept as it stood in the end."""

import pytest

from tests.apps.record.conftest import Recording, Server
from tests.apps.record.replaying import FORM, mark_of, replayed, same_end
from webagent.records import Ending

pytestmark = pytest.mark.browser


async def test_a_form_filled_with_corrections_is_replayed_to_the_same_order(
    recording, site, browser
):
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
        await person.use("[name=gift]")
        await person.use("text=Fast")
        await person.use("button")

    shown = {node.name: node.mark for node in recorded.done.steps[0].observation.nodes}
    assert recorded.actions == [
        f'fill({shown["Name"]}, "Ada")',
        f'fill({shown["Notes"]}, "two\\nlines")',
        f"check({shown['Gift']})",
        f"check({shown['Fast']})",
        f"click({shown['Send']})",
        'answer("")',
    ]
    assert recorded.done.last.title == "Thanks"
    again = await replayed(browser, recorded)
    assert again.ending is Ending.ANSWERED
    assert same_end(recorded.done, again)
    assert len(site.posted) == 2
    assert site.posted[0] == site.posted[1]


async def test_acting_without_a_pause_is_kept_with_each_page_as_it_was_just_then(
    recording, site, browser
):
    site.pages["/"] = FORM
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.click("[name=name]")
        await person.type("Bo")
        await person.click("[name=gift]")
        await person.click("[name=notes]")
        await person.type("Hi")
        await person.use("button")

    assert [action.partition("(")[0] for action in recorded.actions] == [
        *("fill", "check", "fill", "click", "answer")
    ]
    send = recorded.done.steps[3].observation
    assert [node.value for node in send.nodes if node.role == "textbox"] == ["Bo", "Hi"]
    assert same_end(recorded.done, await replayed(browser, recorded))
    assert site.posted[0] == site.posted[1]


async def test_keys_that_do_something_are_kept_and_those_that_type_are_not(
    recording, site, browser
):
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
    assert recorded.done.last.url.endswith("/found?q=cats")
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_lists_sliders_and_double_clicks_are_each_one_action(recording, site, browser):
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
        await person.use("input")
        await person.click("button", count=2)
        await person.see()

    assert recorded.actions == [
        f'select_option({mark_of(recorded, "Size")}, "M")',
        f'fill({mark_of(recorded, "Volume")}, "5")',
        f"dblclick({mark_of(recorded, 'Twice')})",
        'answer("")',
    ]
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_files_are_kept_by_where_they_lie(recording, site, browser, tmp_path):
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
        await person.cdp.send("DOM.setFileInputFiles", {"files": [str(letter)], "nodeId": field})
        await person.see()
        await person.use("button")

    assert recorded.actions[0] == f'upload_file({mark_of(recorded, "Letter")}, "{letter}")'
    assert same_end(recorded.done, await replayed(browser, recorded))
    assert all("Dear all" in each for each in site.posted)
    assert len(site.posted) == 2


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
        await person.use("[name=pass]", "hunter22")
        await person.use("button")

    secret = mark_of(recorded, "Secret")
    assert f'fill({secret}, "<secret:password>")' in recorded.actions
    assert "pass=<secret:password>" in recorded.done.last.url
    assert recorded.done.last.screenshot == "", "the picture shows what the page says"
    assert any(step.observation.screenshot for step in recorded.done.steps)
    values = {n.value for s in recorded.done.steps for n in s.observation.nodes if n.mark == secret}
    assert values <= {"", "•••", "<secret:password>"}
    assert "hunter22" not in repr(recorded.store.load(recorded.done.id))
    assert "hunter22" not in "".join(recorded.said)
