"""Pages of the episode to come: opened while the policy thinks, or when wanted, and not before."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from tasks.task import PageHooks, Task
from webagent.browser.preloading import PagePreloader, PreloadSlots, StartSlots
from webagent.browser.sessions.profile import Profile
from webagent.errors import WorldError
from webagent.timing import time_limit

TASK = Task("test/page@1", "file:///page.html")
OTHER = replace(TASK, start_url="file:///other.html")
SILENCE = 0.02


@dataclass(eq=False)
class Pages:
    """Stands in for the tabs of a browser."""

    loaded: str = ""
    is_open: bool = True

    async def start(self, url: str, site: str = "") -> None:
        self.loaded = url


@dataclass
class Source:
    """Stands in for a browser."""

    opened: list[Pages] = field(default_factory=list)
    lost: bool = False

    async def open_tabs(self, task: Task, profile: Profile) -> Pages:
        await asyncio.sleep(0)
        self.opened.append(Pages())
        return self.opened[-1]

    def renew(self, tabs: Pages) -> None:
        if self.lost:
            self.lost = False
            raise WorldError("the browser is gone")

    async def close_tabs(self, tabs: Pages) -> None:
        tabs.is_open = False


def prepare() -> tuple[Source, PagePreloader]:
    """A browser, and what has its pages ready."""
    source = Source()
    return source, PagePreloader(source, Profile(), PreloadSlots())


async def pass_silence() -> None:
    """Let the policy be silent, and what begins then go on: on a busy machine both timers are due
    in the same turn of the loop."""
    await asyncio.sleep(SILENCE)
    for _ in range(10):
        await asyncio.sleep(0)


async def test_nothing_is_opened_while_the_policy_answers_at_once():
    source, upcoming = prepare()
    for _ in range(5):
        with upcoming.wait():
            await asyncio.sleep(0.001)
        upcoming.begin(TASK, "")
        await asyncio.sleep(0)  # a policy that yields is not silent yet
    assert source.opened == []
    await upcoming.close()
    assert source.opened == [], "opened only to be closed"


async def test_a_page_is_opened_while_the_policy_thinks_and_then_taken():
    source, upcoming = prepare()
    with upcoming.wait():
        pass
    upcoming.begin(TASK, "")
    await pass_silence()
    [pages] = source.opened
    assert pages.loaded == ""
    upcoming.begin(TASK, TASK.start_url)
    await pass_silence()
    assert pages.loaded == TASK.start_url
    with upcoming.wait():
        assert await upcoming.take(TASK) is pages
    assert len(source.opened) == 1


async def test_what_is_wanted_is_opened_at_once():
    source, upcoming = prepare()
    with upcoming.wait():
        pages = await upcoming.take(TASK)
    assert pages is source.opened[0]


@pytest.mark.parametrize(
    ("task", "url"),
    [(OTHER, OTHER.start_url), (replace(TASK, hooks=PageHooks(init="let a")), "")],
    ids=["another address", "other surroundings"],
)
async def test_a_page_that_does_not_fit_is_closed(task: Task, url: str):
    source, upcoming = prepare()
    upcoming.begin(task, url)
    await pass_silence()
    pages = await upcoming.take(TASK)
    await asyncio.sleep(0)
    assert [each.is_open for each in source.opened] == [False, True]
    assert pages is source.opened[1]


async def test_a_page_is_kept_ready_for_the_same_login_only():
    source, known = Source(), {"anna": "first"}

    def state(task: Task):
        return {"cookies": [known[task.login]], "origins": []}

    upcoming = PagePreloader(source, Profile(), PreloadSlots(), state)
    anna = replace(TASK, login="anna")
    for login, reused in (("first", True), ("second", False)):
        upcoming.begin(anna, "")
        await pass_silence()
        ready = source.opened[-1]
        known["anna"] = login
        assert (await upcoming.take(anna) is ready) == reused
    upcoming.begin(anna, "")
    await pass_silence()
    assert await upcoming.take(TASK) is source.opened[-1]
    assert [each.is_open for each in source.opened] == [True, False, True, False, True]


async def test_nothing_is_ready_for_a_login_that_nobody_has():
    source, upcoming = prepare()
    upcoming.begin(replace(TASK, login="anna"), TASK.start_url)
    await pass_silence()
    assert source.opened == []
    with pytest.raises(WorldError, match="webagent login"):
        await upcoming.take(replace(TASK, login="anna"))


async def test_worlds_share_the_places_for_pages_kept_ready():
    source, places = Source(), PreloadSlots(2)
    worlds = [PagePreloader(source, Profile(), places) for _ in range(5)]
    for each in worlds:
        each.begin(TASK, TASK.start_url)
    await pass_silence()
    assert len(source.opened) == 2
    assert await worlds[4].take(TASK) is source.opened[2], "who has no place opens when wanted"
    await worlds[0].take(TASK)
    assert places.free == 1
    with worlds[3].wait():
        pass
    await pass_silence()
    assert len(source.opened) == 4
    for each in worlds:
        await each.close()
    assert places.free == 2
    assert sum(pages.is_open for pages in source.opened) == 2, "those that were taken"


async def test_pages_lost_with_their_browser_are_opened_again():
    source, upcoming = prepare()
    upcoming.begin(TASK, "")
    await pass_silence()
    source.lost = True
    pages = await upcoming.take(TASK)
    assert pages is source.opened[-1]
    assert len(source.opened) == 2


async def test_no_more_episodes_start_at_once_than_there_is_room_for() -> None:
    slots, starting, most = StartSlots(2), 0, 0

    async def start() -> None:
        nonlocal starting, most
        async with slots.turn():
            starting += 1
            most = max(most, starting)
            await asyncio.sleep(0.01)
            starting -= 1

    await asyncio.gather(*(start() for _ in range(7)))
    assert (most, starting) == (2, 0)


async def test_a_start_that_waits_for_its_turn_has_its_whole_time_afterwards() -> None:
    slots = StartSlots(1)

    async def start_late() -> None:
        async with time_limit(0.3), slots.turn():
            pass

    async with slots.turn():
        late = asyncio.create_task(start_late())
        await asyncio.sleep(0.5)
        assert not late.done()
    await late


async def test_a_start_that_fails_or_is_given_up_gives_its_place_back() -> None:
    slots = StartSlots(1)
    with pytest.raises(WorldError):
        async with slots.turn():
            raise WorldError("no page")
    async with slots.turn():
        given_up = asyncio.create_task(slots.turn().__aenter__())
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.wait({given_up})
    async with time_limit(1), slots.turn():
        pass
