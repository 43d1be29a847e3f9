"""A person pauses the agent, does something themselves and hands back; all of it is kept."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from apps.live.steering import Control, PersonActions, SteeredEpisode
from tests.apps.record.conftest import Person, Server, hands_on
from webagent.action import Answer, Wait, format_action
from webagent.action.actions import Click
from webagent.agent import Agent, Result, Stop
from webagent.browser import Browser, BrowserWorld
from webagent.policy.policy import Policy
from webagent.records import PERSON, Decision, Ending, Observation, Trajectory
from webagent.rollout.world import World
from webagent.store import Store

pytestmark = pytest.mark.browser

LOGIN = """<title>In</title><form onsubmit="document.title = 'Hello'; return false">
<label>Name <input id=name></label><label>Password <input id=pass type=password></label>
<button>Log in</button></form><p id=said></p>
<button onclick="said.textContent = document.getElementById('pass').value">Show</button>"""


@dataclass
class Thinking:
    """A policy that decides when it is told to, and keeps what it saw."""

    decide: asyncio.Queue[Decision] = field(default_factory=asyncio.Queue)
    seen: list[Observation] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """What comes next."""
        self.seen.append(observation)
        self.asked.set()
        return await self.decide.get()

    async def propose(self, trajectory, observation, n):
        """The same."""
        return [await self.act(trajectory, observation)]

    async def is_asked(self) -> None:
        """Wait until it is to decide."""
        async with asyncio.timeout(20):
            await self.asked.wait()
        self.asked.clear()


@dataclass
class Scene:
    """A task at work with a person beside it."""

    policy: Thinking
    said: list[str]
    desk: Control
    stop: Stop
    running: asyncio.Future[Result] | None = None
    hands: PersonActions | None = None
    world: BrowserWorld | None = None

    async def person(self) -> Person:
        """The person at the page, once it is theirs."""
        assert self.world is not None and self.hands is not None
        async with asyncio.timeout(20):
            while self.hands.watch is None:
                await asyncio.sleep(0.02)
        page = self.world.tabs().active.page
        person = Person(page, await hands_on(page), self.hands.watch)
        await person.see()
        return person

    async def result(self) -> Result:
        """What came of it."""
        assert self.running is not None
        async with asyncio.timeout(30):
            return await self.running


Begin = Callable[..., object]


@pytest.fixture
def scene(browser: Browser, store: Store, site: Server) -> Callable[..., object]:
    """`async with scene(page, max_steps=3) as at:` a task is at work on this page."""

    @asynccontextmanager
    async def begin(page: str, **settings: int) -> AsyncIterator[Scene]:
        site.pages["/"] = page
        said: list[str] = []
        desk = Control(has_window=True, say=said.append)
        at = Scene(Thinking(), said, desk, Stop())

        def between(policy: Policy, world: BrowserWorld, stop: Stop) -> tuple[Policy, World]:
            at.world, at.hands = world, PersonActions(world, store, said.append)
            steering = SteeredEpisode(policy, world, stop, desk, at.hands)
            return steering, steering

        agent = Agent(at.policy, browser=browser, store=store, screenshots=True, **settings)  # type: ignore[arg-type]  # limits only
        run = agent.run("Log in", url=f"{site.address}/", between=between, stop=at.stop)
        at.running = asyncio.ensure_future(run)
        await at.policy.is_asked()
        try:
            yield at
        finally:
            at.stop.end("the test is over")
            await asyncio.gather(at.running, return_exceptions=True)

    return begin


def actions(result: Result) -> list[tuple[str, str]]:
    """Who did what."""
    return [
        (step.decision.weights or "agent", format_action(step.decision.action))
        for step in result.steps
    ]


async def test_what_a_person_does_is_kept_between_the_agents_steps_and_takes_none_of_them(
    scene, store
):
    async with scene(LOGIN, max_steps=1) as at:  # type: ignore[attr-defined]
        at.desk.take_over()
        person = await at.person()
        await person.click("#name")
        await person.type("Ada")
        await person.click("#pass")
        await person.type("wonderland7")
        await person.click("text=Log in")
        await person.see()
        at.desk.go_on()
        await at.policy.is_asked()
        at.policy.decide.put_nowait(Decision(Answer("in")))
        result = await at.result()

    assert actions(result) == [
        (PERSON, 'fill(1, "Ada")'),
        (PERSON, 'fill(2, "<secret:password>")'),
        (PERSON, "click(3)"),
        ("agent", 'answer("in")'),
    ]
    assert result.ending is Ending.ANSWERED
    assert at.policy.seen[-1].title == "Hello"
    kept = store.load(result.trajectory.id)
    assert kept is not None and kept.steps == result.steps
    assert all(store.images.get(step.observation.screenshot) for step in kept.steps)
    assert "wonderland7" not in str(kept)


async def test_a_secret_that_was_typed_by_hand_is_never_seen_by_the_agent(scene: Begin) -> None:
    async with scene(LOGIN) as at:  # type: ignore[attr-defined]
        at.desk.take_over()
        person = await at.person()
        await person.click("#pass")
        await person.type("wonderland7")
        await person.see()
        at.desk.go_on()
        await at.policy.is_asked()
        show = next(node.mark for node in at.policy.seen[-1].nodes if node.name == "Show")
        at.policy.decide.put_nowait(Decision(Click(show)))
        await at.policy.is_asked()
    assert any("<secret:password>" in node.name for node in at.policy.seen[-1].nodes)
    assert "wonderland7" not in str(at.policy.seen)
    assert at.policy.seen[-1].screenshot == ""


async def test_a_second_takeover_is_heard_once_and_a_changed_page_is_handed_back(scene):
    async with scene(LOGIN) as at:  # type: ignore[attr-defined]
        for name in ("Ada", "Bob"):
            at.desk.take_over()
            person = await at.person()
            await person.click("#name")
            await person.type(name)
            await person.see()
            at.desk.go_on()
            await at.policy.is_asked()
        at.desk.take_over()
        person = await at.person()
        await person.page.evaluate("document.title = 'Other'; document.body.append('new words')")
        await person.see()
        at.desk.go_on()
        await at.policy.is_asked()
        at.policy.decide.put_nowait(Decision(Answer("")))
        result = await at.result()
    assert actions(result)[:2] == [(PERSON, 'fill(1, "Ada")'), (PERSON, 'fill(1, "AdaBob")')]
    assert result.steps[-2].decision.action == Wait(0)
    assert any("new words" in node.name for node in at.policy.seen[-1].nodes)


async def test_a_pause_holds_what_was_decided_until_it_is_to_go_on(scene: Begin) -> None:
    async with scene(LOGIN) as at:  # type: ignore[attr-defined]
        at.desk.pause()
        at.policy.decide.put_nowait(Decision(Answer("later")))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await asyncio.shield(at.running)
        at.desk.go_on()
        result = await at.result()
    assert result.answer == "later"
    assert at.said == ["paused: Enter goes on, t takes over", "going on"]


async def test_a_stop_while_the_person_is_at_work_closes_the_record(scene, store):
    async with scene(LOGIN) as at:  # type: ignore[attr-defined]
        at.desk.take_over()
        person = await at.person()
        await person.click("#name")
        await person.type("Ada")
        await person.click("text=Log in")
        await person.see()
        at.stop.end("enough")
        result = await at.result()
    assert (result.ending, result.reason) == (Ending.STOPPED, "enough")
    kept = store.load(result.trajectory.id)
    assert kept is not None and kept.ending is Ending.STOPPED


def test_nobody_takes_over_where_there_is_no_window() -> None:
    said: list[str] = []
    desk = Control(has_window=False, say=said.append)
    desk.toggle_person()
    assert desk.worker == "agent" and "--headed" in said[0]
    desk.toggle_pause()
    desk.toggle_pause()
    assert desk.worker == "agent" and said[1:] == ["paused: Enter goes on", "going on"]
