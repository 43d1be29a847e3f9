"""The tasks on our own sites as they are played, each on a site of its own."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import pytest
from _pytest.mark import ParameterSet

from benchmarks.catalogue import find_benchmark
from benchmarks.fossil.site import site as fossil_site
from benchmarks.fossil.tasks import TEMPLATES as FOSSIL
from benchmarks.oracles import OraclePolicy
from benchmarks.oscar.site import site as oscar_site
from benchmarks.oscar.tasks import TEMPLATES as OSCAR
from benchmarks.rules import checks_hold
from benchmarks.sites.hosting import Hosting
from tasks.task import Task
from webagent.action.actions import Answer, GiveUp
from webagent.browser import Browser
from webagent.policy.policy import Policy, ScriptedPolicy, play_actions, replay_recording
from webagent.records import Ending, Trajectory
from webagent.rollout.episode import run_episode

IGNORED = pytest.mark.filterwarnings("ignore::ResourceWarning")
pytestmark = [pytest.mark.site, pytest.mark.browser, IGNORED]
SUITES = {name: find_benchmark(name).load() for name in ("fossil", "oscar")}
MISSING = {"fossil": fossil_site().missing(), "oscar": oscar_site().missing()}
REPLAYED = (
    *("ticket-set-status", "ticket-close", "ticket-open", "ticket-find-field", "wiki-append-line"),
    *("wiki-create-page", "forum-reply-to", "forum-new-thread", "code-add-tag", "admin-add-user"),
    *("admin-project-name", "admin-contact"),
    *("shop-price", "shop-add", "shop-basket-quantity", "shop-address-edit", "shop-rename"),
)
AT_ONCE = {
    "fossil": ("ticket-set-here", "ticket-close", "ticket-open", "wiki-append-line"),
    "oscar": ("shop-add",) * 4,
}
"""Four tasks; each is played on two seeds, those of the shop all put something into one basket."""
Plan: TypeAlias = tuple[Task, Policy]


def cases(names: Sequence[str], every: int) -> list[ParameterSet]:
    """A case for each name; every n-th of Fossil's is among the default tests."""
    found = []
    for name in names:
        site = "fossil" if name in FOSSIL else "oscar"
        marks = [pytest.mark.skipif(bool(MISSING[site]), reason=MISSING[site])]
        if site == "fossil":
            marks.append(pytest.mark.sample(every))
        else:
            marks += [pytest.mark.very_slow, pytest.mark.timeout(1500)]
        found.append(pytest.param(site, name, marks=marks, id=name))
    return found


@pytest.fixture(scope="module")
async def hosting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hosting]:
    """Sites, built into a folder that the run throws away."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBAGENT_SITES", str(tmp_path_factory.mktemp("sites")))
        async with Hosting(8) as running:
            yield running


async def play(hosting: Hosting, browser: Browser, *plans: Plan) -> list[Trajectory]:
    """Play all episodes at once; return them in the order in which they were asked for."""
    await hosting.prepare([task for task, _ in plans])
    open_world = hosting.worlds(partial(browser.world, logins=hosting.logins))

    async def play_one(task: Task, policy: Policy) -> Trajectory:
        world = await open_world()
        try:
            return await run_episode(task, policy, world)
        finally:
            await world.close()

    return await asyncio.gather(*(play_one(task, policy) for task, policy in plans))


async def success(trajectory: Trajectory) -> tuple[float | None, str]:
    assert trajectory.ending is not Ending.WORLD_FAILED, trajectory.error
    score = await checks_hold()(trajectory)
    return score.value, score.reason


def scripted(site: str, name: str, seed: int) -> Plan:
    return SUITES[site].task(name, seed, "test"), OraclePolicy(name)


@pytest.mark.parametrize(("site", "name"), cases([*FOSSIL, *OSCAR], 20))
async def test_the_scripted_solution_passes_on_two_seeds(site, name, hosting, browser):
    episodes = await play(hosting, browser, scripted(site, name, 0), scripted(site, name, 1))
    for episode in episodes:
        assert not episode.error
        value, reason = await success(episode)
        assert value == 1.0, reason
        # pages of the shop may have to be waited for
        most = FOSSIL[name].steps if site == "fossil" else 0.6 * episode.task.max_steps
        assert len(episode.steps) <= most
    first, second = episodes
    is_feasible = name not in SUITES[site].groups["infeasible"]
    if site == "oscar" and is_feasible and first.task.checks != second.task.checks:
        wrong = replace(first, task=replace(first.task, checks=second.task.checks))
        assert (await success(wrong))[0] == 0.0, "the same done to the wrong thing"


@pytest.mark.parametrize(("site", "name"), cases([*FOSSIL, *OSCAR], 20))
async def test_doing_nothing_passes_only_what_cannot_be_done_and_only_when_that_is_said(
    site, name, hosting, browser
):
    policy = ScriptedPolicy(play_actions([GiveUp("too hard")]))
    [episode] = await play(hosting, browser, (SUITES[site].task(name, 0, "test"), policy))
    assert episode.ending is Ending.GAVE_UP
    value, reason = await success(episode)
    assert value == float(name in SUITES[site].groups["infeasible"]), reason
    step = episode.steps[0]
    answer = replace(step, decision=replace(step.decision, action=Answer("")))
    value, reason = await success(replace(episode, steps=(answer,), ending=Ending.ANSWERED))
    assert value == 0.0, reason


@pytest.mark.parametrize(("site", "name"), cases(REPLAYED, 6))
async def test_a_replay_on_another_seed_fails_where_the_values_differ(site, name, hosting, browser):
    [recording] = await play(hosting, browser, scripted(site, name, 0))
    other = SUITES[site].task(name, 1, "test")
    assert other.checks != recording.task.checks
    [episode] = await play(hosting, browser, (other, ScriptedPolicy(replay_recording(recording))))
    value, reason = await success(episode)
    assert value == 0.0, reason


@pytest.mark.very_slow
@pytest.mark.parametrize("site", [name for name in SUITES if not MISSING[name]])
async def test_eight_episodes_at_once_leave_no_trace_in_one_anothers_state(site, hosting, browser):
    names = [(name, 2 * place) for place, name in enumerate(AT_ONCE[site])]
    plans = [scripted(site, name, seed + more) for name, seed in names for more in (0, 1)]
    for episode in await play(hosting, browser, *plans):
        value, reason = await success(episode)
        assert (value, episode.ending) == (1.0, Ending.ANSWERED), reason
        changes = episode.evidence["changes"]
        table = "event" if site == "fossil" else "basket_line"
        assert isinstance(changes, dict) and isinstance(changes[table], dict)
        added = changes[table]["added"]
        assert isinstance(added, list) and len(added) == 1


@pytest.mark.very_slow
@pytest.mark.skipif(bool(MISSING["fossil"]), reason=MISSING["fossil"])
async def test_what_is_done_to_the_wrong_ticket_does_not_count(hosting, browser):
    [right] = await play(hosting, browser, scripted("fossil", "ticket-close", 0))
    wrong = replace(SUITES["fossil"].task("ticket-close", 1, "test"), goal=right.goal)
    [episode] = await play(hosting, browser, (wrong, OraclePolicy("ticket-close")))
    value, reason = await success(episode)
    assert value == 0.0 and "tickets_touched" in reason


@pytest.mark.very_slow
@pytest.mark.skipif(bool(MISSING["fossil"]), reason=MISSING["fossil"])
async def test_one_thing_more_than_was_asked_for_is_seen(hosting, browser):
    task = SUITES["fossil"].task("wiki-create-page", 0, "test")
    both = SUITES["fossil"].task("wiki-create-and-mention", 0, "test")
    both = replace(both, checks=task.checks, queries=task.queries, probes=task.probes)
    goal = 'the page "{}" with the text "{}", then the line "A line." at the end of "Team"'
    both = replace(both, goal=goal.format(*re.findall('"([^"]*)"', task.goal)))
    [episode] = await play(hosting, browser, (both, OraclePolicy(both.name)))
    value, reason = await success(episode)
    assert value == 0.0 and "pages_touched" in reason
    assert "page_1 is" not in reason, "what was asked for was done"
