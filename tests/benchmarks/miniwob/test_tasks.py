"""MiniWoB++ as a benchmark: every page starts, says its goal, and is the same for the same seed."""

import pytest

from benchmarks.miniwob import tasks as miniwob
from benchmarks.oracles import OraclePolicy
from benchmarks.rules import checks_hold
from tasks.suite import SPLITS, UnknownTask, seed_of, split_of
from webagent.action import actions as act
from webagent.browser import Browser, BrowserWorld
from webagent.observation import render
from webagent.policy import ScriptedPolicy, play_actions
from webagent.records import Ending, Provenance
from webagent.rollout import collect, plan_episodes, run_episode

STRIDE = 5
"""Of the 125 tasks this many go into one test, so that a failure names a small group."""


def test_there_are_the_125_tasks_that_browsergym_registers() -> None:
    assert len(miniwob.load().names) == len(set(miniwob.NAMES)) == 125
    assert set(miniwob.FIRST_TWENTY) < set(miniwob.NAMES)
    assert all((miniwob.pages() / f"{name}.html").is_file() for name in miniwob.NAMES)


def test_an_unknown_name_meets_its_close_matches() -> None:
    with pytest.raises(UnknownTask, match=r"did you mean .*click-test"):
        miniwob.task("click-tset")


def test_seeds_of_different_splits_never_meet() -> None:
    seeds = [seed_of(split, index) for split in SPLITS for index in (0, 1, 999_999)]
    assert len(set(seeds)) == len(seeds)
    assert [split_of(seed_of(split, 7)) for split in SPLITS] == list(SPLITS)
    for wrong in (-1, 1_000_000):
        with pytest.raises(ValueError, match="seeds 0 to 999999"):
            seed_of("train", wrong)
    with pytest.raises(ValueError, match="no split called 'dev'"):
        seed_of("dev", 0)
    assert split_of(3_000_000) == split_of(-1) == ""


def test_a_variant_names_its_settings_and_its_parent() -> None:
    task = miniwob.task("navigate-tree", 3, settings={"MAX_FILES": 3})
    assert (task.id, task.name) == ("miniwob/navigate-tree@1+MAX_FILES=3", "navigate-tree")
    assert task.parent == miniwob.task("navigate-tree").id


@pytest.mark.sample(5)
@pytest.mark.browser
@pytest.mark.parametrize("offset", range(0, 125, STRIDE))
async def test_every_task_starts_with_a_goal_and_looks_the_same_again(world, offset):
    for name in miniwob.NAMES[offset : offset + STRIDE]:
        task = miniwob.task(name, 5, "development")
        page = await world.reset(task)
        assert len(page.goal) > 8, name
        assert any(node.mark for node in page.nodes), name
        assert not page.over, name
        assert page.outcome == "", name
        assert "START" not in render(page), name
        assert "Last reward" not in render(page), name
        assert await world.reset(task) == page, name


@pytest.mark.browser
async def test_another_seed_gives_another_page(world: BrowserWorld) -> None:
    goals = {(await world.reset(miniwob.task("enter-text", seed))).goal for seed in range(5)}
    assert len(goals) > 1


def test_other_settings_are_known_for_some_tasks_only() -> None:
    suite = miniwob.load()
    for settings in (suite.easier_settings, suite.harder_settings):
        assert set(settings) < set(suite.names)
    assert suite.easier("click-test") == suite.harder("click-test") == {}


@pytest.mark.sample(5)
@pytest.mark.browser
@pytest.mark.parametrize("name", miniwob.load().easier_settings)
async def test_easier_settings_reach_the_generator(world: BrowserWorld, name: str) -> None:
    suite = miniwob.load()
    usual = await world.reset(suite.task(name, 3))
    easier = await world.reset(suite.task(name, 3, settings=suite.easier(name)))
    assert len(easier.goal) > 8
    assert len(easier.nodes) <= len(usual.nodes)


@pytest.mark.sample(4)
@pytest.mark.browser
@pytest.mark.parametrize("name", miniwob.load().harder_settings)
async def test_harder_pages_hold_more_and_can_be_solved(browser: Browser, name: str) -> None:
    suite = miniwob.load()
    seeds = range(3)
    usual = [suite.task(name, seed) for seed in seeds]
    harder = [suite.task(name, seed, settings=suite.harder(name)) for seed in seeds]
    played = await collect(
        plan_episodes([*usual, *harder], Provenance()), OraclePolicy(), browser.world
    )
    texts = [sum(len(t.steps[0].observation.nodes) for t in played[i : i + 3]) for i in (0, 3)]
    assert texts[0] <= texts[1]
    assert any([(await checks_hold()(t)).value == 1 for t in played[3:]])


@pytest.mark.browser
async def test_the_right_actions_are_rewarded_and_wrong_ones_are_not(world: BrowserWorld) -> None:
    task = miniwob.task("click-test-2", 0)
    rewards = []
    for number in ("ONE", "TWO"):
        page = await world.reset(task)
        mark = next(node.mark for node in page.nodes if node.name == number)
        assert (await world.step(act.Click(mark))).over
        rewards.append(await world.evidence(task))
    assert [(each["raw_reward"], each["done"]) for each in rewards] == [(1, True), (-1, True)]


@pytest.mark.browser
async def test_no_delay_lowers_the_reward(world: BrowserWorld) -> None:
    task = miniwob.task("click-test-2", 0)
    page = await world.reset(task)
    assert not (await world.step(act.Wait(60_000))).over
    await world.step(act.Click(next(node.mark for node in page.nodes if node.name == "ONE")))
    assert (await world.evidence(task))["raw_reward"] == 1


@pytest.mark.browser
async def test_prices_of_the_stock_market_tick_slowly_enough_to_be_met(browser: Browser) -> None:
    world = await browser.world()
    page = await world.reset(miniwob.task("stock-market", 1))
    prices = {line for line in render(page).splitlines() if "price" in line}
    for _ in range(20):
        page = await world.step(act.Wait(0))
        prices |= {line for line in render(page).splitlines() if "price" in line}
    assert len(prices) > 10
    await world.close()


@pytest.mark.browser
@pytest.mark.parametrize("leave", [act.TabClose(), act.Goto("about:blank")])
async def test_an_agent_that_leaves_the_page_has_failed_and_is_not_excused(world, leave):
    task = miniwob.task("click-test-2", split="test")
    trajectory = await run_episode(
        task, ScriptedPolicy(play_actions([leave, act.GiveUp("")])), world
    )
    assert trajectory.ending is Ending.GAVE_UP
    assert (await checks_hold()(trajectory)).value == 0.0
