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


async def test_a_page_that_its_opener_closes_again_is_gone(local: LocalWorld) -> None:
    page = await local.open("openers")
    await local.step(act.Click(mark_of(page, "Brief")))
    after = await local.step(act.Wait(500))
    assert after.tabs == ("Openers",)


async def test_a_click_with_control_opens_another_tab(local: LocalWorld) -> None:
    page = await local.open("openers")
    await local.step(act.ClickWith(mark_of(page, "Plain"), "Control"))
    after = await local.step(act.Wait(100))
    assert sorted(after.tabs) == ["Openers", "Second"]
