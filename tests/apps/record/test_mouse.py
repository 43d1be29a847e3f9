"""Where the mouse went, what it dragged and what it scrolled is kept where it did something."""

import pytest

from tests.apps.record.conftest import Recording, Server
from tests.apps.record.replaying import mark_of, replayed, same_end

pytestmark = pytest.mark.browser


async def test_an_entry_of_a_menu_that_opens_under_the_mouse_is_clicked_in_one_action(
    recording, site, browser
):
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
        await person.page.locator("text=Shoes").wait_for()
        await person.use("text=Shoes")

    assert recorded.actions == [f"click({mark_of(recorded, 'Shoes')})", 'answer("")']
    assert same_end(recorded.done, await replayed(browser, recorded))


@pytest.mark.parametrize("is_quick", [False, True], ids=["when it rests", "at once"])
async def test_scrolling_is_kept_where_it_brought_forth_what_was_used(
    recording, site, browser, is_quick
):
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
        await person.page.locator("#late").wait_for()
        if not is_quick:
            await person.until(lambda seen: any(node.name == "Late" for node in seen.nodes))
        await person.use("#late")

    scroll, *others = recorded.actions
    assert scroll.startswith("scroll(0, 0, ")
    assert int(scroll[:-1].rpartition(" ")[2]) > 1000
    assert others == [f"click({mark_of(recorded, 'Late')})", 'answer("")']
    again = await replayed(browser, recorded)
    assert again.last.title == "Late"


async def test_dragging_one_thing_onto_another_is_one_action(recording, site, browser):
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


async def test_a_click_on_nothing_is_left_out_and_said(recording: Recording, site: Server) -> None:
    site.pages["/"] = "<title>Plain</title><p style=height:200px>Text</p><button>Go</button>"
    async with recording(f"{site.address}/") as recorded:
        await recorded.person.use("p")
        await recorded.person.use("button")

    assert recorded.actions == [f"click({mark_of(recorded, 'Go')})", 'answer("")']
    assert any("was left out: it had no effect" in each for each in recorded.said)
    assert recorded.done.evidence["left_out"] != []
