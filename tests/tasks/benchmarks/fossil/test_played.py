"""The tasks on Fossil as they are played, each on a site of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest

from evaluators.rules import checks_hold
from recipes.hosting import Hosting
from tasks.benchmarks.catalogue import Options
from tasks.benchmarks.fossil import TEMPLATES, suite
from tasks.sites.fossil import site
from tasks.task import Task
from webagent.action.actions import Answer, GiveUp
from webagent.browser import Browser
from webagent.policy.oracles import OraclePolicy
from webagent.policy.policy import Policy
from webagent.policy.scripted import ScriptedPolicy, listed, replay
from webagent.records import Ending, Trajectory
from webagent.rollout.episode import run_episode

pytestmark = [
    pytest.mark.site,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(bool(site().missing()), reason=site().missing()),
]
SUITE = suite(Options())
PLACES = 4
SEEDS = (0, 1)
REPLAYED = (
    *("ticket-set-status", "ticket-close", "ticket-open", "ticket-find-field", "wiki-append-line"),
    *("wiki-create-page", "forum-reply-to", "forum-new-thread", "code-add-tag", "admin-add-user"),
    *("admin-project-name", "admin-contact"),
)
Asked = tuple[Task, Policy]
Play = Callable[[Sequence[Asked], int], "asyncio.Future[list[Trajectory]]"]


async def played(
    hosting: Hosting, browser: Browser, asked: Sequence[Asked], places: int
) -> list[Trajectory]:
    """The episodes, so many at a time, in the order in which they were asked for."""
    await hosting.prepare([task for task, _ in asked])
    open_world = hosting.worlds(partial(browser.world, logins=hosting.logins))
    waiting = list(enumerate(asked))[::-1]
    done: dict[int, Trajectory] = {}

    async def play_on() -> None:
        world = await open_world()
        while waiting:
            place, (task, policy) = waiting.pop()
            done[place] = await run_episode(task, policy, world)
        await world.close()

    await asyncio.gather(*(play_on() for _ in range(places)))
    return [done[place] for place in range(len(asked))]


@pytest.fixture(scope="module")
async def hosting() -> AsyncIterator[Hosting]:
    async with Hosting(8) as running:
        yield running


@pytest.fixture(scope="module")
async def solved(hosting: Hosting, browser: Browser) -> dict[tuple[str, int], Trajectory]:
    """Every template done by its script on two seeds."""
    pairs = [(name, seed) for name in SUITE.names for seed in SEEDS]
    asked = [(SUITE.task(name, seed, "test"), OraclePolicy(name)) for name, seed in pairs]
    return dict(zip(pairs, await played(hosting, browser, asked, PLACES), strict=True))


@pytest.fixture(scope="module")
async def untouched(hosting: Hosting, browser: Browser) -> dict[str, Trajectory]:
    """Every template given up at once."""
    policy = ScriptedPolicy(listed([GiveUp("too hard")]))
    asked = [(SUITE.task(name, 0, "test"), policy) for name in SUITE.names]
    episodes = await played(hosting, browser, asked, PLACES)
    return dict(zip(SUITE.names, episodes, strict=True))


async def success(trajectory: Trajectory) -> tuple[float | None, str]:
    [score] = await checks_hold()(trajectory)
    return score.value, score.reason


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SUITE.names)
async def test_the_scripted_solution_passes(
    name: str, seed: int, solved: dict[tuple[str, int], Trajectory]
) -> None:
    episode = solved[name, seed]
    assert not episode.error
    value, reason = await success(episode)
    assert value == 1.0, reason
    assert len(episode.steps) <= TEMPLATES[name].steps


@pytest.mark.parametrize("name", SUITE.names)
async def test_giving_up_passes_what_cannot_be_done_and_nothing_else(
    name: str, untouched: dict[str, Trajectory]
) -> None:
    assert untouched[name].ending is Ending.GAVE_UP
    value, reason = await success(untouched[name])
    assert value == (1.0 if "infeasible" in TEMPLATES[name].skills else 0.0), reason


@pytest.mark.parametrize("name", SUITE.names)
async def test_an_empty_answer_at_once_passes_nothing(
    name: str, untouched: dict[str, Trajectory]
) -> None:
    episode = untouched[name]
    decision = replace(episode.steps[0].decision, action=Answer(""))
    answered = replace(
        episode,
        steps=(replace(episode.steps[0], decision=decision),),
        ending=Ending.ANSWERED,
    )
    value, reason = await success(answered)
    assert value == 0.0, reason


async def test_a_replay_on_another_seed_fails_where_the_values_differ(
    hosting: Hosting, browser: Browser, solved: dict[tuple[str, int], Trajectory]
) -> None:
    asked = [
        (SUITE.task(name, 1, "test"), ScriptedPolicy(replay(solved[name, 0]))) for name in REPLAYED
    ]
    for episode in await played(hosting, browser, asked, PLACES):
        assert episode.ending is not Ending.WORLD_FAILED, episode.error
        value, reason = await success(episode)
        assert value == 0.0, f"{episode.task.name}: {reason}"


async def test_eight_episodes_at_once_leave_no_trace_in_one_anothers_state(
    hosting: Hosting, browser: Browser
) -> None:
    names = ("ticket-set-here", "ticket-close", "ticket-open", "wiki-append-line")
    tasks = [SUITE.task(name, seed, "test") for name in names for seed in (2, 3)]
    asked = [(task, OraclePolicy(task.name)) for task in tasks]
    for episode in await played(hosting, browser, asked, 8):
        value, reason = await success(episode)
        assert value == 1.0, reason
        told = episode.evidence["changes"]
        assert isinstance(told, dict) and isinstance(told["event"], dict)
        added = told["event"]["added"]
        assert isinstance(added, list) and len(added) == 1
