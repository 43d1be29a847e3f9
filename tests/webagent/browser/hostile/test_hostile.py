"""An episode on a hostile page ends in time and in a typed way, and the next page is fine."""

import time
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest

from tasks.task import Task
from tests.webagent.browser.hostile.corpus import CORPUS
from tests.webagent.browser.hostile.server import HostileServer
from webagent.action import Action, Answer, Wait
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.records import Decision, Ending, Observation, Trajectory
from webagent.rollout import run_episode

pytestmark = pytest.mark.browser
ACTIONS = 7
CASES = [(page, clock) for page in CORPUS for clock in ("virtual", "real")]
"""Busy pages take half a minute each, so that all take the better part of an hour."""


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

    async def propose(self, trajectory, observation, n):
        """The one action there is."""
        return [await self.act(trajectory, observation)]


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    """A browser apart from that of the other tests, which would suffer from what is left over."""
    async with Browser() as own:
        yield own


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


@pytest.mark.sample(120)
@pytest.mark.parametrize(("page", "clock"), CASES, ids=str)
async def test_an_episode_on_a_hostile_page_ends_in_time_and_the_next_is_fine(
    browser, server, page, clock
):
    """An episode on the hostile page, then one on a healthy page in the same browser."""
    started = time.monotonic()
    played = await play(browser, server.url + (page.path or f"/page/{quote(page.name)}"), clock)
    seconds = time.monotonic() - started
    allowed = {Ending.ANSWERED, Ending.WORLD_FAILED} if page.may_fail else {Ending.ANSWERED}
    assert played.ending in allowed, played.error
    assert seconds < page.seconds
    after = await play(browser, f"{server.url}/fine", "virtual", leaves=False)
    assert (after.ending, after.evidence) == (Ending.ANSWERED, {"out": "clicked"}), after.error


def test_the_corpus_holds_a_hundred_pages_of_different_names() -> None:
    assert len({page.name for page in CORPUS}) == len(CORPUS) >= 100
