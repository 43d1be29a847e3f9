"""Links, the way back, dialogs and tabs are followed as a person uses them."""

import asyncio

import pytest

from tests.apps.record.conftest import PATIENCE
from tests.apps.record.replaying import FORM, mark_of, replayed, same_end

pytestmark = pytest.mark.browser


async def test_a_link_is_kept_with_the_page_it_was_clicked_on_and_so_is_the_way_back(
    recording, site, browser
):
    site.pages |= {
        "/": "<title>One</title><a href=/two>Go on</a>",
        "/two": "<title>Two</title><a href=/three>Further</a>",
        "/three": "<title>Three</title><h1>Here</h1>",
    }
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.click("a")
        await person.until_titled("Two")
        await person.click("a")
        await person.until_titled("Three")
        await person.pause()
        history = await person.cdp.send("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] - 1]["id"]
        await person.cdp.send("Page.navigateToHistoryEntry", {"entryId": entry})
        await person.until_titled("Two")
        await person.cdp.send("Page.navigate", {"url": f"{site.address}/three?q=1"})
        await person.until_titled("Three")

    first, second = mark_of(recorded, "Go on"), mark_of(recorded, "Further")
    assert recorded.actions == [
        f"click({first})",
        f"click({second})",
        "go_back()",
        f'goto("{site.address}/three?q=1")',
        'answer("")',
    ]
    titles = [step.observation.title for step in recorded.done.steps]
    assert titles == ["One", "Two", "Three", "Two", "Three"]
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_dialogs_are_kept_as_they_were_answered(recording, site, browser):
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
            await person.until(lambda seen: "opened a dialog" in seen.nodes[0].name)
            await person.cdp.send("Page.handleJavaScriptDialog", answer)
            await clicking
            await person.see()

    assert recorded.actions == [
        f"click({mark_of(recorded, 'Ask')})",
        'dialog("accept", "Ada")',
        f"click({mark_of(recorded, 'Delete')})",
        'dialog("dismiss")',
        'answer("")',
    ]
    (shown,) = recorded.done.steps[1].observation.nodes
    assert shown.name == "the page opened a dialog (prompt): Who?, with 'me' filled in"
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_tabs_are_followed_as_they_open_come_to_front_and_close(recording, site, browser):
    site.pages |= {
        "/": "<title>One</title><a href=/two target=_blank>Open</a><button>Stay</button>",
        "/two": "<title>Two</title><button onclick=\"document.title='Pressed'\">Press</button>",
    }
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.use("a")
        other = await person.at(person.page.context.pages[-1])
        await other.click("button")
        await person.see()
        await person.click("text=Stay")
        await person.pause()
        await other.page.close()
        await person.until(lambda seen: len(seen.tabs) == 1)

    assert recorded.actions == [
        f"click({mark_of(recorded, 'Open')})",
        f"click({mark_of(recorded, 'Press')})",
        "tab_focus(0)",
        f"click({mark_of(recorded, 'Stay')})",
        "tab_focus(1)",
        "tab_close()",
        'answer("")',
    ]
    assert recorded.done.steps[1].observation.tabs == ("One", "Two")
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_a_tab_opened_by_hand_and_the_address_typed_there_are_kept(recording, site, browser):
    site.pages |= {"/": "<title>One</title>", "/two": "<title>Two</title><h1>Here</h1>"}
    async with recording(f"{site.address}/") as recorded:
        person = recorded.person
        await person.pause()
        fresh = await person.at(await person.page.context.new_page())
        await person.until(lambda seen: len(seen.tabs) == 2)
        await fresh.cdp.send("Page.navigate", {"url": f"{site.address}/two"})
        await person.until_titled("Two")

    assert recorded.actions == ["new_tab()", f'goto("{site.address}/two")', 'answer("")']
    assert same_end(recorded.done, await replayed(browser, recorded))


async def test_closing_the_last_page_is_the_end_and_no_action(recording, site):
    site.pages["/"] = FORM
    async with recording(f"{site.address}/") as recorded:
        await recorded.person.use("[name=gift]")
        await recorded.person.page.close()
        async with asyncio.timeout(PATIENCE):
            await recorded.person.watch.ended.wait()

    assert [action.partition("(")[0] for action in recorded.actions] == ["check", "answer"]
    assert recorded.done.last.title == "Form"
