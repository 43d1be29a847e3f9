"""An episode on a hostile page ends in time and in a typed way, and the next page is fine."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import pytest

from tasks.task import Task
from tests.webagent.browser.hostile.corpus import CORPUS, Hostile
from tests.webagent.browser.hostile.server import HostileServer
from webagent.action import Action, Answer, Wait
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.records import Decision, Ending, Observation, Trajectory
from webagent.rollout import run_episode

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ACTIONS = 7
AT_ONCE = 6
"""Most of these pages wait for limits of time to pass, so several wait together."""
CASES = [(page, clock) for page in CORPUS for clock in ("virtual", "real")]


class Poker:
    """Clicks, types and scrolls, whatever the page shows, and goes back at the end or stays."""

    def __init__(self, leaves: bool = True) -> None:
        self._leaves = leaves

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The next action of the round."""
        marks = [node.mark for node in observation.nodes if node.mark]
        fields = [node.mark for node in observation.nodes if node.role == "textbox"]
        click: Action = act.Click(marks[0]) if marks else act.MouseClick(10, 10)
        last: Action = act.Click(marks[-1]) if marks else act.MouseClick(50, 50)
        fill: Action = act.Fill(fields[0], "words") if fields else act.Press(0, "a")
        actions = (click, fill, act.Scroll(0, 0, 300), Wait(200), last, act.GoBack())[
            : None if self._leaves else -1
        ]
        done = len(trajectory.steps)
        return Decision(actions[done] if done < len(actions) else Answer("done"))

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """The one action there is."""
        return [await self.act(trajectory, observation)]


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[HostileServer]:
    """The server for the whole corpus."""
    running = HostileServer()
    await running.start()
    yield running
    await running.stop()


async def play(browser: Browser, url: str, clock: str, leaves: bool = True) -> Trajectory:
    """One episode in a world of its own."""
    task = Task(
        id="hostile/page@1",
        start_url=url,
        clock=clock,
        max_steps=ACTIONS,
        evidence={"out": "document.getElementById('out').textContent"},
    )
    world = await browser.world()
    try:
        return await run_episode(task, Poker(leaves), world)
    finally:
        await world.close()


@dataclass(frozen=True, slots=True)
class Played:
    """What became of a hostile page, and of a healthy one right after it."""

    hostile: Trajectory
    seconds: float
    healthy: Trajectory


async def play_both(browser: Browser, server: HostileServer, page: Hostile, clock: str) -> Played:
    """An episode on the hostile page, then one on a healthy page in the same browser."""
    started = time.monotonic()
    hostile = await play(browser, server.url + (page.path or f"/page/{quote(page.name)}"), clock)
    seconds = time.monotonic() - started
    return Played(
        hostile, seconds, await play(browser, f"{server.url}/fine", "virtual", leaves=False)
    )


@pytest.fixture(scope="module")
async def played(
    request: pytest.FixtureRequest, browser: Browser, server: HostileServer
) -> AsyncIterator[Mapping[tuple[str, str], asyncio.Task[Played]]]:
    """The pages of the tests that were chosen, played some at a time in one browser."""
    free = asyncio.Semaphore(AT_ONCE)
    chosen = {case_of(item) for item in request.session.items}

    async def one(page: Hostile, clock: str) -> Played:
        async with free:
            return await play_both(browser, server, page, clock)

    playing = {
        (page.name, clock): asyncio.create_task(one(page, clock))
        for page, clock in CASES
        if (page, clock) in chosen
    }
    yield playing
    for task in playing.values():
        task.cancel()
    await asyncio.gather(*playing.values(), return_exceptions=True)


def case_of(item: pytest.Item) -> tuple[Hostile, str] | None:
    """The page and clock that a test is about."""
    known: dict[str, tuple[Hostile, str]] = getattr(getattr(item, "callspec", None), "params", {})
    return known.get("case")


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].name}-{case[1]}")
async def test_an_episode_on_a_hostile_page_ends_in_time_and_the_next_is_fine(
    played: Mapping[tuple[str, str], asyncio.Task[Played]], case: tuple[Hostile, str]
) -> None:
    page, clock = case
    both = await played[page.name, clock]
    allowed = {Ending.ANSWERED, Ending.WORLD_FAILED} if page.may_fail else {Ending.ANSWERED}
    assert both.hostile.ending in allowed, both.hostile.error
    assert both.seconds < page.seconds
    after = both.healthy
    assert (after.ending, after.evidence) == (Ending.ANSWERED, {"out": "clicked"}), after.error


def test_the_corpus_holds_a_hundred_pages_of_different_names() -> None:
    assert len({page.name for page in CORPUS}) == len(CORPUS) >= 100
