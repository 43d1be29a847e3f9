"""Lists, ticks, files and drags inside frames, of the page's own site and of another."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tasks.task import Task
from tests.fakes.site import Site, serving
from tests.local_pages import mark_of
from webagent.action import actions as act
from webagent.browser import BrowserWorld
from webagent.observation import render
from webagent.records import Observation

pytestmark = pytest.mark.browser
PAGES = Path(__file__).parents[3] / "pages"
Open = Callable[[str], Awaitable[Observation]]


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site with the pages that are tried in frames."""
    async with serving() as running:
        for name in ("lists", "uploads", "sorting", "questions"):
            running.page(f"/{name}", (PAGES / f"{name}.html").read_text())
        yield running


@pytest.fixture(params=["same site", "other site"])
async def framed(request: pytest.FixtureRequest, site: Site, world: BrowserWorld) -> Open:
    """Opens a page in a frame, 50 pixels down."""

    async def open_page(name: str) -> Observation:
        host = site.address.replace("127.0.0.1", "localhost")
        address = host if request.param == "other site" else site.address
        frame = f'<iframe src="{address}/{name}" width="700" height="500"></iframe>'
        site.page("/", f'<title>Outer</title><div style="height: 50px">Above</div>{frame}')
        return await world.reset(Task(id="t/framed@1", start_url=f"{site.address}/"))

    return open_page


async def test_lists_and_ticks_work_in_a_frame(world: BrowserWorld, framed: Open) -> None:
    page = await framed("lists")
    after = await world.step(act.SelectOption(mark_of(page, "City"), "Rome"))
    assert "city Rome" in render(after)
    several = act.SelectOptions(mark_of(page, "Colours"), ("Green", "Blue"))
    assert "colours Green+Blue" in render(await world.step(several))
    terms = mark_of(page, "Terms")
    ticked = (await world.step(act.Check(terms))).node(terms)
    assert ticked is not None and "checked" in ticked.states


async def test_files_are_given_in_a_frame(world, framed, tmp_path):
    letter = tmp_path / "a.txt"
    letter.write_text("abc")
    page = await framed("uploads")
    given = await world.step(act.UploadFile(mark_of(page, "Many"), str(letter)))
    assert "many: a.txt 3" in render(given)
    asked = await world.step(act.UploadFile(mark_of(page, "Choose a picture"), str(letter)))
    assert "hidden: a.txt 3" in render(asked)


async def test_things_are_dragged_in_a_frame(world: BrowserWorld, framed: Open) -> None:
    page = await framed("sorting")
    after = await world.step(act.DragAndDrop(mark_of(page, "One"), mark_of(page, "Three")))
    assert "pointer:Two,Three,One" in render(after)
    after = await world.step(act.DragAndDrop(mark_of(page, "Alpha"), mark_of(page, "Gamma")))
    assert "todo:Beta,Gamma,Alpha" in render(after)
