"""A run to look at closely: really played with screenshots, and what such runs may lack."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from benchmarks.miniwob import tasks as miniwob
from benchmarks.oracles import OraclePolicy
from benchmarks.rules import checks_hold
from loop.folder import RunFolder
from tests.fakes.lessons import page as made_page
from webagent.action import format_action
from webagent.action.actions import Click, Fill
from webagent.browser import Browser
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.records import (
    Candidate,
    Decision,
    Ending,
    Node,
    Observation,
    Provenance,
    Score,
    Step,
    Trajectory,
)
from webagent.rollout import run_episode

JUDGE = "evidence[big-1]@1#abc"


@dataclass(frozen=True)
class Empty:
    """Settings of a run that has none."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A policy that says what it thinks and what else it considered."""

    policy: OraclePolicy | ScriptedPolicy

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """As the policy, with a thought, candidates and tokens."""
        decision = await self.policy.act(trajectory, observation)
        taken = format_action(decision.action)
        other = Candidate("click(3)", -2.0, 0.25, "ends 0.90, no change 0.05")
        return replace(
            decision,
            thought=f"The goal is <b>plain</b>: {taken} is next.",
            source="lookahead",
            candidates=(Candidate(taken, -0.1, 0.75, "ends 0.05, no change 0.01"), other),
            usage={"input_tokens": 1200, "output_tokens": 34, "imagined_steps": 2},
            weights="tiny-1",
        )

    async def propose(self, trajectory, observation, n):
        """The one decision."""
        return [await self.act(trajectory, observation)]


@pytest.fixture(scope="session")
async def played(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Path]:
    """A folder with the run `played`: see `Ids` for its episodes."""
    runs = tmp_path_factory.mktemp("closely")
    folder = RunFolder.create(runs / "played", Empty(), ("improve",))
    task = miniwob.load().task("login-user", 3)
    with folder.store() as store:
        good = await _play(browser, store, task, OraclePolicy(), "self")
        wrong = ScriptedPolicy(play_actions([Fill(1, "nobody"), Fill(2, "nothing"), Click(3)]))
        bad = await _play(browser, store, task, wrong, "none")
        for each in (good, bad):
            store.score(each.id, await checks_hold()(each))
        shown = bad.steps[1].observation.nodes[0]  # which took the judge in
        why = f"judged success: met: the name is given (page 2: {(shown.value or shown.name)!r})"
        store.score(bad.id, Score("success", 1.0, why, JUDGE), Score("raw", 0.3, "", "reward@1"))
        for more in _further(bad):
            store.add(more)
        store.begin(replace(bad, id="running", steps=(), last=None, ending=None, evidence={}))
        store.add_step("running", 0, bad.steps[0])
    (runs / "ids.txt").write_text(f"{good.id} {bad.id}")
    yield runs


@pytest.fixture
def ids(played: Path) -> tuple[str, str]:
    """The episode that succeeded, and the one that failed on the same page."""
    good, bad = (played / "ids.txt").read_text().split()
    return good, bad


@pytest.fixture
def at(played: Path, view: Callable[[Path], str]) -> Callable[[str], str]:
    """The address of an episode of the run `played`."""
    address = view(played)
    return lambda episode: f"{address}/run/played/episode/{episode}"


async def _play(browser, store, task, policy, arm):
    world = await browser.world(store.images.add)
    try:
        place = Provenance(run="r", arm=arm, round=1, phase="evaluate")
        episode = await run_episode(task, Telling(policy), world, provenance=place)
    finally:
        await world.close()
    store.add(episode)
    return episode


def _further(bad: Trajectory) -> list[Trajectory]:
    """Episodes that lack something, or have too much of it."""
    first = bad.steps[0]
    plain = replace(first.observation, screenshot="")
    dream = replace(
        bad,
        id="dream",
        steps=(replace(first, observation=plain),),
        last=None,
        evidence={"imagined": True, "success_probability": 0.83},
        provenance=Provenance(
            world="imagined", arm="self", phase="imagine", round=1, seeded_from=f"{bad.id}:0"
        ),
    )
    return [
        dream,
        _alone("bare", bad, replace(plain, nodes=(Node(0, "text", "only words"),))),
        _alone("drawn", bad, plain),
        _alone("lost", bad, replace(first.observation, screenshot=f"{'ab' * 32}.png")),
        _alone("huge", bad, _huge()),
        replace(bad, id="never", steps=(), last=None, ending=Ending.WORLD_FAILED, error="no page"),
    ]


def _alone(name: str, bad: Trajectory, page: Observation) -> Trajectory:
    """An episode of one step on this page, of a round of its own."""
    place = replace(bad.provenance, arm=name)
    step = Step(page, Decision(Click(1)), 0.1)
    return replace(bad, id=name, steps=(step,), last=page, provenance=place)


def _huge() -> Observation:
    """A page of 3,000 lines, one of them very long, with text that would break out of HTML."""
    lines = [
        Node(n, "link", f"Entry {n} </script><script>alert(1)</script>") for n in range(1, 3001)
    ]
    return made_page("Find it", *lines, Node(0, "text", "long " * 20_000))
