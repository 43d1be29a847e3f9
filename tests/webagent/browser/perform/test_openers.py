"""What pages open by themselves: tabs and windows, with and without an opener, brief and many."""

from collections.abc import Callable

import pytest

from tasks.task import Task
from webagent.action import actions as act
from webagent.browser import BrowserWorld
from webagent.observation import render
from webagent.records import Observation

pytestmark = pytest.mark.browser
MakeTask = Callable[..., Task]


def mark_of(observation: Observation, name: str) -> int:
    """The mark of the element with this name."""
    return next(node.mark for node in observation.nodes if node.mark and node.name == name)


@pytest.mark.parametrize("name", ["No opener", "Script, no opener"])
async def test_a_page_opened_without_an_opener_comes_to_the_front(
    world: BrowserWorld, page_task: MakeTask, name: str
) -> None:
    page = await world.reset(page_task("openers"))
    opened = await world.step(act.Click(mark_of(page, name)))
    assert (opened.tabs, opened.active_tab) == (("Openers", "Second"), 1)


async def test_a_page_that_its_opener_writes_is_seen(
    world: BrowserWorld, page_task: MakeTask
) -> None:
    page = await world.reset(page_task("openers"))
    written = await world.step(act.Click(mark_of(page, "Written")))
    assert "Hello from the opener" in render(written)


async def test_a_page_that_its_opener_closes_again_is_gone(
    world: BrowserWorld, page_task: MakeTask
) -> None:
    page = await world.reset(page_task("openers"))
    await world.step(act.Click(mark_of(page, "Brief")))
    after = await world.step(act.Wait(500))
    assert after.tabs == ("Openers",)


async def test_a_click_with_control_opens_another_tab(
    world: BrowserWorld, page_task: MakeTask
) -> None:
    page = await world.reset(page_task("openers"))
    await world.step(act.ClickWith(mark_of(page, "Plain"), "Control"))
    after = await world.step(act.Wait(100))
    assert sorted(after.tabs) == ["Openers", "Second"]
