"""Each oracle on one page that no training seed makes, in a real browser."""

import pytest

from benchmarks.miniwob import tasks as miniwob
from benchmarks.oracles import ORACLES, OraclePolicy
from webagent.action import format_action
from webagent.browser import Browser, BrowserWorld
from webagent.rollout import run_episode

SEEDS = {"find-midpoint": 1, "tic-tac-toe": 2}
"""Other seeds than 0, where that page cannot be won: between pixels, or by chance."""
UNREACHABLE = {"circle-center"}
"""The page counts half a pixel against every click on a whole one: 0.98 at most."""
MOST_STEPS = 40
SOLVED = 0.99

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
async def stage(browser: Browser) -> BrowserWorld:
    """One world for all oracles; every episode gets a fresh context of its own."""
    return await browser.world()


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", sorted((set(ORACLES) & set(miniwob.NAMES)) - UNREACHABLE))
async def test_an_oracle_solves_a_page_it_has_not_seen(stage: BrowserWorld, name: str) -> None:
    task = miniwob.task(name, SEEDS.get(name, 0), "test")
    trajectory = await run_episode(task, OraclePolicy(name), stage, max_steps=MOST_STEPS)
    actions = [format_action(step.decision.action) for step in trajectory.steps]
    story = f"{trajectory.goal} {actions} {trajectory.ending} {trajectory.error}"
    raw_reward = trajectory.evidence["raw_reward"]
    assert isinstance(raw_reward, int | float) and raw_reward >= SOLVED, story
