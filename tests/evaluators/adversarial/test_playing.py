"""The corpus was really played: its episodes come out the same when they are played again."""

from dataclasses import replace

import pytest

from benchmarks.miniwob import tasks as miniwob
from evaluators.adversarial import KINDS, AdversarialCase, load_corpus
from webagent.browser import BrowserWorld
from webagent.policy.policy import ScriptedPolicy, replay_recording
from webagent.records import Trajectory
from webagent.rollout import run_episode

pytestmark = pytest.mark.browser

SAMPLE = 2
"""Episodes of each kind and domain."""


def sampled(domain: str, *kinds: str) -> list[AdversarialCase]:
    """The first ones of each kind."""
    return [
        case
        for kind in kinds
        for case in [c for c in load_corpus() if (c.kind, c.domain) == (kind, domain)][:SAMPLE]
    ]


async def played_again(case: AdversarialCase, world: BrowserWorld, start_url: str) -> Trajectory:
    """The same actions on the live page."""
    task = replace(case.trajectory.task, start_url=start_url)
    recorded = replace(case.trajectory, task=task)
    return await run_episode(task, ScriptedPolicy(replay_recording(recorded)), world)


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", sampled("miniwob", *KINDS, "honest"), ids=lambda case: case.id)
async def test_an_episode_on_miniwob_comes_out_the_same(case, world):
    page = case.trajectory.task.start_url.removeprefix("file:///miniwob")
    again = await played_again(case, world, miniwob.pages().as_uri() + page)

    assert (again.ending, again.evidence) == (case.trajectory.ending, case.trajectory.evidence)
