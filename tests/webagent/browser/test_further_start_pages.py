"""Further start pages lie in tabs behind the first, and a guard holds them as it holds that."""

from collections.abc import AsyncIterator

import pytest

from tasks.task import Task
from tests.fakes.site import Site, serving
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.errors import GuardError, WorldError
from webagent.guard import Guard, GuardPolicy, SiteRule, parse_site

pytestmark = pytest.mark.browser


@pytest.fixture
async def sites() -> AsyncIterator[tuple[Site, Site]]:
    """Two servers with a page each."""
    async with serving() as one, serving() as other:
        one.page("/", "<title>One</title><p>first</p>")
        other.page("/", "<title>Other</title><p>second</p>")
        yield one, other


def task(*sites: Site, **fields: str) -> Task:
    """Starts at the first site, with the others behind it."""
    first, *others = [f"{site.address}/" for site in sites]
    return Task("t/tabs@1", first, further_urls=tuple(others), **fields)


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_every_start_page_has_a_tab_and_the_first_is_in_front(world, sites, clock):
    seen = await world.reset(task(*sites, clock=clock))
    assert (seen.tabs, seen.active_tab, seen.title) == (("One", "Other"), 0, "One")
    behind = await world.step(act.TabFocus(1))
    assert [node.name for node in behind.nodes] == ["second"]
    again = await world.reset(task(sites[0]))
    assert again.tabs == ("One",)


async def test_a_further_page_that_does_not_answer_fails_the_world(world, sites):
    await sites[1].close()
    with pytest.raises(WorldError, match=r"a further start page failed: .*ERR_CONNECTION_REFUSED"):
        await world.reset(task(*sites))


async def test_a_guard_opens_the_servers_of_further_pages_and_no_others(sites, page_task):
    async with Browser(guard=Guard(GuardPolicy())) as browser:
        world = await browser.world()
        seen = await world.reset(task(*sites))
        assert seen.tabs == ("One", "Other")
        alone = await world.reset(task(sites[0]))
        refused = await world.step(act.Goto(f"{sites[1].address}/"))
        assert alone.tabs == ("One",)
        assert "refused" in refused.outcome
        await world.close()


async def test_a_further_page_that_the_guard_closes_ends_the_episode(sites):
    closed = SiteRule(parse_site(sites[1].address), verdict="deny")
    async with Browser(guard=Guard(GuardPolicy(sites=(closed,)))) as browser:
        world = await browser.world()
        with pytest.raises(GuardError, match="blocks a further start page"):
            await world.reset(task(*sites))
        await world.close()
