"""Played on the real shop: solutions pass, nothing and everything else fails, nothing leaks."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from functools import partial

import pytest

from benchmarks.catalogue import Options
from benchmarks.oracles import OraclePolicy
from benchmarks.oscar.site import site
from benchmarks.oscar.tasks import suite
from benchmarks.rules import checks_hold
from benchmarks.sites.hosting import Hosting
from perf.fakes.policy import ScriptedPolicy
from tasks.task import Task
from tests.fakes.reader import ReaderWorld
from webagent.action import Answer, GiveUp
from webagent.browser import Browser
from webagent.policy.policy import ScriptedPolicy as Replaying
from webagent.policy.policy import replay_recording
from webagent.records import Decision, Ending, Observation, Provenance, Trajectory
from webagent.rollout import collect, plan_episodes, run_episode

pytestmark = [
    *(pytest.mark.site, pytest.mark.browser, pytest.mark.very_slow, pytest.mark.timeout(1500)),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
SUITE = suite(Options())
FEASIBLE = [name for name in SUITE.names if name not in SUITE.groups["infeasible"]]
SEEDS = (0, 1)
AT_ONCE = 3
JUDGE = checks_hold()
REPLAYED = ("shop-price", "shop-add", "shop-basket-quantity", "shop-address-edit", "shop-rename")


class Oracles:
    """The scripted solution of whatever task is played."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The solution's next action."""
        return await OraclePolicy(trajectory.task.name).act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """The same."""
        return await OraclePolicy(trajectory.task.name).propose(trajectory, observation, n)


@pytest.fixture(scope="module", autouse=True)
def builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The shop is built into a folder of the test run, once."""
    if missing := site().missing():
        pytest.skip(missing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBAGENT_SITES", str(tmp_path_factory.mktemp("sites")))
        yield


@pytest.fixture(scope="module")
async def hosting(builds: None) -> AsyncIterator[Hosting]:
    async with Hosting(concurrency=8) as opened:
        yield opened


@pytest.fixture(scope="module")
async def solutions(hosting: Hosting, browser: Browser) -> dict[tuple[str, int], Trajectory]:
    """Every template's scripted solution on every seed, by name and index."""
    tasks = [SUITE.task(name, index, "test") for name in SUITE.names for index in SEEDS]
    await hosting.prepare(tasks)
    worlds = hosting.worlds(partial(browser.world, logins=hosting.logins))
    plan = plan_episodes(tasks, Provenance())
    played = await collect(plan, Oracles(), worlds, concurrency=AT_ONCE)
    assert len(played) == len(tasks)
    places = [(name, index) for name in SUITE.names for index in SEEDS]
    return dict(zip(places, played, strict=True))


async def at_once(hosting: Hosting, tasks: Sequence[Task], action: Answer | GiveUp) -> list[float]:
    """The scores of ending every task at once. The site is real, its pages are not looked at."""
    opened = hosting.worlds(_reader)
    policy = ScriptedPolicy([action])
    plan = plan_episodes(tasks, Provenance())
    scores = []
    for episode in await collect(plan, policy, opened, concurrency=AT_ONCE):
        value = (await JUDGE(episode)).value
        assert value is not None, episode.error
        scores.append(value)
    return scores


async def _reader() -> ReaderWorld:
    return ReaderWorld()


async def test_the_scripted_solution_passes(
    solutions: dict[tuple[str, int], Trajectory],
) -> None:
    failed = {}
    for place, episode in solutions.items():
        verdict = await JUDGE(episode)
        if verdict.value != 1.0:
            failed[place] = f"{episode.ending} {episode.error} {verdict.reason[:200]}"
    assert failed == {}


def test_a_solution_takes_half_of_the_steps_at_most(
    solutions: dict[tuple[str, int], Trajectory],
) -> None:
    long = {
        place: (len(episode.steps), episode.task.max_steps)
        for place, episode in solutions.items()
        if len(episode.steps) > 0.6 * episode.task.max_steps
    }
    assert long == {}


async def test_doing_nothing_fails(hosting: Hosting) -> None:
    tasks = [SUITE.task(name, 0, "test") for name in SUITE.names]
    assert sum(await at_once(hosting, tasks, Answer(""))) == 0


async def test_giving_up_passes_what_cannot_be_done_and_nothing_else(hosting: Hosting) -> None:
    tasks = [SUITE.task(name, 1, "test") for name in SUITE.names]
    passed = await at_once(hosting, tasks, GiveUp("too hard"))
    by_name = dict(zip(SUITE.names, passed, strict=True))
    assert {name for name, value in by_name.items() if value} == set(SUITE.groups["infeasible"])


async def test_what_one_seed_asks_is_not_what_another_wants(
    solutions: dict[tuple[str, int], Trajectory],
) -> None:
    """The same deed on the wrong product, order or address fails, whoever does it."""
    passed = []
    for name in FEASIBLE:
        first, second = (solutions[name, index] for index in SEEDS)
        if first.task.checks == second.task.checks:
            continue
        wrong = replace(first, task=replace(first.task, checks=second.task.checks))
        if (await JUDGE(wrong)).value != 0.0:
            passed.append(name)
    assert passed == []


async def test_a_replay_on_another_seed_fails_where_the_values_differ(
    solutions: dict[tuple[str, int], Trajectory], hosting: Hosting, browser: Browser
) -> None:
    world = await hosting.worlds(partial(browser.world, logins=hosting.logins))()
    passed = []
    for name in REPLAYED:
        recorded, other = (solutions[name, index] for index in SEEDS)
        assert recorded.task.checks != other.task.checks
        episode = await run_episode(other.task, Replaying(replay_recording(recorded)), world)
        assert episode.ending is not Ending.WORLD_FAILED, episode.error
        if (await JUDGE(episode)).value != 0.0:
            passed.append(name)
    await world.close()
    assert passed == []


async def test_eight_episodes_at_once_leave_no_trace_in_one_anothers_state(
    hosting: Hosting, browser: Browser
) -> None:
    """Each sees its own change and no other's: all eight put something else into one basket."""
    tasks = [SUITE.task("shop-add", index, "train") for index in range(8)]
    worlds = hosting.worlds(partial(browser.world, logins=hosting.logins))
    played = await collect(plan_episodes(tasks, Provenance()), Oracles(), worlds, concurrency=8)
    assert [(await JUDGE(episode)).value for episode in played] == [1.0] * 8
    assert Counter(episode.ending for episode in played) == {Ending.ANSWERED: 8}
