"""What pages open by themselves: tabs and windows, with and without an opener, brief and many."""

import pytest

from tests.local_pages import LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", ["No opener", "Script, no opener"])
async def test_a_page_opened_without_an_opener_comes_to_the_front(local, name):
    page = await local.open("openers")
    opened = await local.step(act.Click(mark_of(page, name)))
    assert (opened.tabs, opened.active_tab) == (("Openers", "Second"), 1)


async def test_a_page_that_its_opener_writes_is_seen(local: LocalWorld) -> None:
    page = await local.open("openers")
    written = await local.step(act.Click(mark_of(page, "Written")))
    assert "Hello from the opener" in render(written)


@pytest.mark.parametrize(
    ("action", "wait", "tabs"),
    [
        (lambda page: act.Click(mark_of(page, "Brief")), 500, ["Openers"]),
        (lambda page: act.ClickWith(mark_of(page, "Plain"), "Control"), 100, ["Openers", "Second"]),
    ],
    ids=["closed again by its opener", "opened by a click with Control"],
)
async def test_tabs_that_close_and_open_meanwhile_are_known(local, action, wait, tabs):
    await local.step(action(await local.open("openers")))
    assert sorted((await local.step(act.Wait(wait))).tabs) == tabs
