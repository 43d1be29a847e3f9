"""Episodes played by the oracles in process: what a model reads, what it does, how they end."""

from dataclasses import dataclass

from apps.trainers.episode import write_page
from benchmarks.oracles import OraclePolicy
from benchmarks.rules import checks_hold
from tasks.task import Task
from webagent.action import format_action
from webagent.browser import Browser
from webagent.observation import render
from webagent.records import Observation
from webagent.rollout import World, run_episode


@dataclass(frozen=True, slots=True)
class RecordedEpisode:
    """One episode; the texts and actions are as many as its steps."""

    texts: tuple[str, ...]
    actions: tuple[str, ...]
    reward: float
    ending: str


async def record(browser: Browser, task: Task) -> RecordedEpisode:
    """Play a task of MiniWoB++."""
    world = await browser.world()
    try:
        return await record_in(world, task)
    finally:
        await world.close()


async def record_in(world: World, task: Task) -> RecordedEpisode:
    """Play a task in this world."""
    whole = await run_episode(task, OraclePolicy(), world)
    score = await checks_hold()(whole)
    pages = [_read(step.observation, number) for number, step in enumerate(whole.steps)]
    actions = [format_action(step.decision.action) for step in whole.steps]
    assert score.value is not None
    return RecordedEpisode(tuple(pages), tuple(actions), score.value, str(whole.ending))


def _read(page: Observation, number: int) -> str:
    seen = {"goal": page.goal, "outcome": page.outcome, "url": page.url, "page": render(page, 2000)}
    return write_page(seen, is_first=number == 0)
