"""The corpus was really played: its episodes come out the same when they are played again."""

from dataclasses import replace

import pytest

from benchmarks.miniwob import tasks as miniwob
from evaluators.adversarial import KINDS, AdversarialCase, load_corpus
from webagent.policy.policy import ScriptedPolicy, replay_recording
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


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", sampled("miniwob", *KINDS, "honest"), ids=lambda case: case.id)
async def test_an_episode_on_miniwob_comes_out_the_same(case, world):
    page = case.trajectory.task.start_url.removeprefix("file:///miniwob")
    task = replace(case.trajectory.task, start_url=miniwob.pages().as_uri() + page)
    policy = ScriptedPolicy(replay_recording(replace(case.trajectory, task=task)))
    again = await run_episode(task, policy, world)

    assert (again.ending, again.evidence) == (case.trajectory.ending, case.trajectory.evidence)
