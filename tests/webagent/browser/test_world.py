"""Acting in real pages: what an action does, and what is said when it cannot be done."""

import asyncio
import time
from pathlib import Path

import pytest

from tasks.task import PageHooks
from tests.local_pages import LocalWorld, MakeTask, mark_of
from webagent.action import actions as act
from webagent.browser import Browser, BrowserWorld
from webagent.browser.world import ViewerPictures
from webagent.errors import WorldError
from webagent.observation import render

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("name", "title", "outcome"),
    [
        ("Half", "half clicked", ""),
        ("Whole", "Covered", 'is covered by div#over-whole "Cover"'),
        ("Far below", "far clicked", ""),
    ],
    ids=["the uncovered part is reached", "what covers it is named", "out of sight"],
)
async def test_a_button_is_clicked_where_it_can_be(local, name, title, outcome):
    page = await local.open("covered")
    after = await local.step(act.Click(mark_of(page, name)))
    assert after.title == title and bool(after.outcome) == bool(outcome)
    assert after.outcome.endswith(outcome)
    assert (after.scroll[0] > 2000) is (name == "Far below")


async def test_an_element_that_is_not_there_is_said_not_raised(local: LocalWorld) -> None:
    page = await local.open("marks")
    assert (await local.step(act.Click(99))).outcome == "no element 99 on this page"
    first = mark_of(page, "First")
    await local.step(act.Click(mark_of(page, "Remove")))
    assert (await local.step(act.Click(first))).outcome == f"element {first} is gone from the page"


async def test_a_disabled_button_is_not_clicked(local: LocalWorld) -> None:
    page = await local.open("form")
    mark = mark_of(page, "Go")
    assert (await local.step(act.Click(mark))).outcome == f"element {mark} is disabled"


async def test_filling_a_field_is_heard_as_typing(local: LocalWorld) -> None:
    page = await local.open("events")
    field = mark_of(page, "Field")
    after = await local.step(act.Fill(field, "new"))
    filled = after.node(field)
    assert filled is not None and filled.value == "new"
    assert "keydown=ne input=new keyup=new" in render(after)
    assert render(after).count("keydown") == len("new")
    after = await local.step(act.Click(mark_of(after, "Plain")))
    assert "change=new" in render(after)


@pytest.mark.parametrize(
    ("name", "text"), [("Field", "long text, " * 30), ("Field", ""), ("Editor", "new words")]
)
async def test_a_field_or_an_editor_holds_what_it_is_filled_with(local, name, text):
    page = await local.open("events")
    mark = mark_of(page, name)
    after = await local.step(act.Fill(mark, text))
    filled = after.node(mark)
    assert filled is not None and filled.value == text
    assert len(text) < 300 or render(after).count("keydown") == 1


async def test_an_option_is_chosen_by_its_label(local: LocalWorld) -> None:
    page = await local.open("events")
    choice = mark_of(page, "Choice")
    after = await local.step(act.SelectOption(choice, "Two"))
    chosen = after.node(choice)
    assert chosen is not None and chosen.value == "Two"
    assert "change=Two" in render(after)
    missing = await local.step(act.SelectOption(choice, "Three"))
    assert missing.outcome == f'element {choice} has no option "Three"'
    wrong = await local.step(act.SelectOption(mark_of(page, "Plain"), "Two"))
    assert wrong.outcome.endswith("is not a drop-down list")


async def test_clicking_an_option_chooses_it(local: LocalWorld) -> None:
    page = await local.open("events")
    after = await local.step(act.Click(mark_of(page, "Two")))
    chosen = after.node(mark_of(page, "Choice"))
    assert chosen is not None and chosen.value == "Two"


async def test_mouse_gestures_are_the_browsers_own(local: LocalWorld) -> None:
    page = await local.open("events")
    plain = mark_of(page, "Plain")
    assert "mouseenter" in render(await local.step(act.Hover(plain)))
    assert "dblclick" in render(await local.step(act.DoubleClick(plain)))
    assert "contextmenu" in render(await local.step(act.Click(plain, "right")))


async def test_keys_and_combinations_are_pressed_on_an_element(local: LocalWorld) -> None:
    page = await local.open("events")
    field = mark_of(page, "Field")
    await local.step(act.Press(field, "Control+a"))
    emptied = (await local.step(act.Press(field, "Backspace"))).node(field)
    assert emptied is not None and emptied.value == ""
    assert (await local.step(act.Press(field, "Nonsense"))).outcome == "there is no key 'Nonsense'"


async def test_a_file_is_put_into_a_file_field(local: LocalWorld, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear reader")
    page = await local.open("events")
    file = mark_of(page, "File")
    after = await local.step(act.UploadFile(file, str(letter)))
    assert "file=letter.txt" in render(after)
    missing = await local.step(act.UploadFile(file, str(tmp_path / "none.txt")))
    assert missing.outcome.startswith("there is no file")


async def test_native_drag_and_drop_carries_its_data(local: LocalWorld) -> None:
    page = await local.open("drag")
    drag = act.DragAndDrop(mark_of(page, "Parcel"), mark_of(page, "Shelf"))
    assert "dropped parcel" in render(await local.step(drag))


async def test_text_that_is_selected_is_shown_highlighted(local: LocalWorld) -> None:
    page = await local.open("second")
    left, top, width, height = next(node.box for node in page.nodes if node.name == "You arrived")
    middle = top + height // 2
    after = await local.step(act.MouseDrag(left + 1, middle, left + width - 1, middle))
    assert after.nodes[0].states == ("highlighted",)
    assert after.outcome == ""


async def test_a_mouse_drag_draws_a_stroke(local: LocalWorld) -> None:
    page = await local.open("drag")
    left, top, width, height = next(node.box for node in page.nodes if node.kind == "svg")
    drag = act.MouseDrag(left + 5, top + 5, left + width - 5, top + height - 5)
    assert "stroke drawn" in render(await local.step(drag))


async def test_a_point_outside_the_viewport_is_refused(local: LocalWorld) -> None:
    await local.open("drag", viewport=(400, 300))
    after = await local.step(act.MouseClick(400, 10))
    assert after.outcome == "the point 400,10 is outside the 400x300 viewport"


async def test_the_page_scrolls_until_there_is_nothing_left(local: LocalWorld) -> None:
    page = await local.open("covered")
    assert page.scroll[0] == 0
    assert (await local.step(act.Scroll(0, 0, 100_000))).scroll[1] == 0
    assert "nothing left to scroll" in (await local.step(act.Scroll(0, 0, 100))).outcome


async def test_an_action_that_changes_nothing_is_said_to(local: LocalWorld) -> None:
    page = await local.open("events")
    await local.step(act.Focus(mark_of(page, "Plain")))
    after = await local.step(act.Focus(mark_of(page, "Plain")))
    assert after.outcome == "no effect"


async def test_dialogs_are_dismissed_and_reported(local: LocalWorld) -> None:
    page = await local.open("dialogs")
    alerted = await local.step(act.Click(mark_of(page, "Alert")))
    assert alerted.title == "after alert"
    assert alerted.outcome == "the page opened a dialog (alert), dismissed: Hello there"
    assert (await local.step(act.Click(mark_of(page, "Confirm")))).title == "declined"


@pytest.mark.parametrize("opener", ["New tab", "Pop up"])
async def test_what_the_page_opens_becomes_a_tab_in_front(local: LocalWorld, opener: str) -> None:
    page = await local.open("tabs")
    opened = await local.step(act.Click(mark_of(page, opener)))
    assert (opened.tabs, opened.active_tab) == (("First", "Second"), 1)
    assert "You arrived" in render(opened)
    back = await local.step(act.TabFocus(0))
    assert (back.active_tab, back.title) == (0, "First")
    assert (await local.step(act.TabFocus(7))).outcome == "there is no tab 7, only 0 to 1"


async def test_tabs_open_close_and_close_themselves(local: LocalWorld) -> None:
    page = await local.open("tabs")
    assert len((await local.step(act.NewTab())).tabs) == 2
    assert (await local.step(act.TabClose())).tabs == ("First",)
    opened = await local.step(act.Click(mark_of(page, "Pop up")))
    closed = await local.step(act.Click(mark_of(opened, "Close me")))
    assert (closed.tabs, closed.title) == (("First",), "First")
    assert (await local.step(act.TabClose())).url == "about:blank"


async def test_navigation_is_followed_and_undone(local: LocalWorld) -> None:
    page = await local.open("tabs")
    there = await local.step(act.Click(mark_of(page, "Same tab")))
    assert (there.title, there.outcome) == ("Second", "")
    assert (await local.step(act.GoBack())).title == "First"
    assert (await local.step(act.GoForward())).title == "Second"
    assert "no page to go to" in (await local.step(act.GoForward())).outcome
    assert (await local.step(act.Goto(page.url))).title == "First"
    assert "cannot open" in (await local.step(act.Goto("http://127.0.0.1:9/"))).outcome


@pytest.mark.parametrize(
    ("button", "said"),
    [("Later", "five seconds passed"), ("Frames", "sixty frames passed"), ("Grow", "grown")],
)
async def test_timers_and_animations_are_over_at_once_when_the_page_is_seen(local, button, said):
    page = await local.open("timers")
    started = time.monotonic()
    assert said in render(await local.step(act.Click(mark_of(page, button))))
    assert time.monotonic() - started < 3


async def test_the_page_stands_still_while_one_thinks(world, page_task):
    ticks = "Number(document.getElementById('ticks').textContent)"
    task = page_task("timers", evidence={"ticks": ticks}, settle_ms=500)
    await world.reset(task)
    before = await world.evidence(task)
    await asyncio.sleep(0.4)
    assert await world.evidence(task) == before
    await world.step(act.Wait(1000))
    after = await world.evidence(task)
    assert after["ticks"] == pytest.approx(float(str(before["ticks"])) + 15, abs=1)


@pytest.mark.slow
async def test_a_page_that_never_rests_is_left_after_a_while(local: LocalWorld) -> None:
    restless = await local.open("timers", clock="real")
    assert restless.outcome == "the page is still changing after 5 s"


async def test_hooks_start_the_page_write_the_goal_and_tell_the_end(world, page_task):
    hooks = PageHooks(
        init="window.early = 'early';",
        start="window.over = false;",
        goal="window.early + ' goal'",
        over="document.title === 'far clicked'",
        ignore="#half",
    )
    task = page_task("covered", hooks=hooks, evidence={"early": "early", "wrong": "nowhere.x"})
    page = await world.reset(task)
    assert (page.goal, page.over) == ("early goal", False)
    assert "Half" not in render(page)
    assert (await world.step(act.Click(mark_of(page, "Far below")))).over
    assert await world.evidence(task) == {"early": "early", "wrong": None}


async def test_every_episode_has_a_storage_of_its_own(world, page_task):
    kept = "document.cookie + (localStorage.getItem('kept') ?? 'nothing')"
    task = page_task(
        "tabs",
        hooks=PageHooks(start=f"window.found = {kept}; localStorage.setItem('kept', 'leaked');"),
        evidence={"found": "window.found", "kept": kept},
    )
    for _ in range(2):
        await world.reset(task)
        assert await world.evidence(task) == {"found": "nothing", "kept": "leaked"}


async def test_a_prepared_page_is_used_only_where_it_fits(world, page_task):
    await world.prepare(page_task("tabs"))
    assert (await world.reset(page_task("tabs"))).title == "First"
    await world.prepare(page_task("tabs"))
    assert (await world.reset(page_task("form"))).title == "Form"
    await world.prepare(page_task("form", viewport=(400, 300)))
    assert (await world.reset(page_task("form"))).title == "Form"


async def test_a_screenshot_is_taken_while_time_stands_still(browser, page_task):
    images: list[bytes] = []

    def keep(image: bytes) -> str:
        images.append(image)
        return f"image-{len(images)}"

    world = await browser.world(keep_image=keep)
    page = await world.reset(page_task("form"))
    assert page.screenshot == "image-1"
    assert images[0].startswith(b"\x89PNG")
    await world.close()


async def test_pictures_for_people_are_bounded_and_are_no_effect_of_an_action(browser, page_task):
    images: list[bytes] = []

    def keep(image: bytes) -> str:
        images.append(image)
        return f"image-{len(images)}"  # another one each time, as where something flickers

    world = await browser.world(keep_image=ViewerPictures(keep, 2))
    page = await world.reset(page_task("marks"))
    waited = await world.step(act.Hover(mark_of(page, "First")))
    again = await world.step(act.Hover(mark_of(page, "First")))
    await world.close()
    assert [each.screenshot for each in (page, waited, again)] == ["image-1", "image-2", ""]
    assert waited.outcome == "no effect" and len(images) == 2


async def test_eight_worlds_play_at_once_and_apart(browser: Browser, page_task: MakeTask) -> None:
    async def play(number: int) -> str:
        world = await browser.world()
        page = await world.reset(page_task("events"))
        field = mark_of(page, "Field")
        filled = (await world.step(act.Fill(field, f"text {number}"))).node(field)
        await world.close()
        return filled.value if filled else ""

    texts = await asyncio.gather(*(play(number) for number in range(8)))
    assert texts == [f"text {number}" for number in range(8)]


async def test_acting_before_reset_is_an_error(world: BrowserWorld) -> None:
    with pytest.raises(WorldError, match="call reset first"):
        await world.step(act.Click(1))
