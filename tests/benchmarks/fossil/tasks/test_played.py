"""The tasks on Fossil as they are played, each on a site of its own."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import pytest

from benchmarks.catalogue import Options
from benchmarks.fossil.site import site
from benchmarks.fossil.tasks import TEMPLATES, suite
from benchmarks.oracles import OraclePolicy
from benchmarks.rules import checks_hold
from benchmarks.sites.hosting import Hosting
from tasks.task import Task
from webagent.action.actions import Answer, GiveUp
from webagent.browser import Browser
from webagent.policy.policy import Policy, ScriptedPolicy, play_actions, replay_recording
from webagent.records import Ending, Trajectory
from webagent.rollout.episode import run_episode

pytestmark = [
    pytest.mark.site,
    pytest.mark.browser,
    pytest.mark.skipif(bool(site().missing()), reason=site().missing()),
]
SUITE = suite(Options())
REPLAYED = (
    *("ticket-set-status", "ticket-close", "ticket-open", "ticket-find-field", "wiki-append-line"),
    *("wiki-create-page", "forum-reply-to", "forum-new-thread", "code-add-tag", "admin-add-user"),
    *("admin-project-name", "admin-contact"),
)
Asked = tuple[Task, Policy]


@pytest.fixture(scope="module")
async def hosting() -> AsyncIterator[Hosting]:
    async with Hosting(8) as running:
        yield running


async def played(hosting: Hosting, browser: Browser, *asked: Asked) -> list[Trajectory]:
    """The episodes, all at once, in the order in which they were asked for."""
    await hosting.prepare([task for task, _ in asked])
    open_world = hosting.worlds(partial(browser.world, logins=hosting.logins))

    async def play(task: Task, policy: Policy) -> Trajectory:
        world = await open_world()
        try:
            return await run_episode(task, policy, world)
        finally:
            await world.close()

    return await asyncio.gather(*(play(task, policy) for task, policy in asked))


async def success(trajectory: Trajectory) -> tuple[float | None, str]:
    assert trajectory.ending is not Ending.WORLD_FAILED, trajectory.error
    score = await checks_hold()(trajectory)
    return score.value, score.reason


def scripted(name: str, seed: int) -> Asked:
    return SUITE.task(name, seed, "test"), OraclePolicy(name)


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", SUITE.names)
async def test_the_scripted_solution_passes_on_two_seeds(
    name: str, hosting: Hosting, browser: Browser
) -> None:
    for episode in await played(hosting, browser, scripted(name, 0), scripted(name, 1)):
        assert not episode.error
        value, reason = await success(episode)
        assert value == 1.0, reason
        assert len(episode.steps) <= TEMPLATES[name].steps


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", SUITE.names)
async def test_doing_nothing_passes_only_what_cannot_be_done_and_only_when_that_is_said(
    name: str, hosting: Hosting, browser: Browser
) -> None:
    policy = ScriptedPolicy(play_actions([GiveUp("too hard")]))
    [episode] = await played(hosting, browser, (SUITE.task(name, 0, "test"), policy))
    assert episode.ending is Ending.GAVE_UP
    value, reason = await success(episode)
    assert value == (1.0 if "infeasible" in TEMPLATES[name].skills else 0.0), reason
    step = episode.steps[0]
    answer = replace(step, decision=replace(step.decision, action=Answer("")))
    value, reason = await success(replace(episode, steps=(answer,), ending=Ending.ANSWERED))
    assert value == 0.0, reason


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", REPLAYED)
async def test_a_replay_on_another_seed_fails_where_the_values_differ(
    name: str, hosting: Hosting, browser: Browser
) -> None:
    [recording] = await played(hosting, browser, scripted(name, 0))
    other = SUITE.task(name, 1, "test")
    assert other.checks != recording.task.checks
    policy = ScriptedPolicy(replay_recording(recording))
    [episode] = await played(hosting, browser, (other, policy))
    value, reason = await success(episode)
    assert value == 0.0, reason


@pytest.mark.very_slow
async def test_what_is_done_to_the_wrong_ticket_does_not_count(
    hosting: Hosting, browser: Browser
) -> None:
    [right] = await played(hosting, browser, scripted("ticket-close", 0))
    wrong = replace(SUITE.task("ticket-close", 1, "test"), goal=right.goal)
    [episode] = await played(hosting, browser, (wrong, OraclePolicy("ticket-close")))
    value, reason = await success(episode)
    assert value == 0.0 and "tickets_touched" in reason


@pytest.mark.very_slow
async def test_one_thing_more_than_was_asked_for_is_seen(
    hosting: Hosting, browser: Browser
) -> None:
    task = SUITE.task("wiki-create-page", 0, "test")
    both = replace(SUITE.task("wiki-create-and-mention", 0, "test"), checks=task.checks)
    both = replace(both, queries=task.queries, probes=task.probes)
    goal = 'the page "{}" with the text "{}", then the line "A line." at the end of "Team"'
    both = replace(both, goal=goal.format(*re.findall('"([^"]*)"', task.goal)))
    [episode] = await played(hosting, browser, (both, OraclePolicy(both.name)))
    value, reason = await success(episode)
    assert value == 0.0 and "pages_touched" in reason
    assert "page_1 is" not in reason, "what was asked for was done"


@pytest.mark.very_slow
async def test_eight_episodes_at_once_leave_no_trace_in_one_anothers_state(
    hosting: Hosting, browser: Browser
) -> None:
    names = ("ticket-set-here", "ticket-close", "ticket-open", "wiki-append-line")
    asked = [scripted(name, seed) for name in names for seed in (2, 3)]
    for episode in await played(hosting, browser, *asked):
        value, reason = await success(episode)
        assert value == 1.0, reason
        told = episode.evidence["changes"]
        assert isinstance(told, dict) and isinstance(told["event"], dict)
        added = told["event"]["added"]
        assert isinstance(added, list) and len(added) == 1
