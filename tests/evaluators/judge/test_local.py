"""A judge with weights in this process: pictures and texts reach it, gibberish is no verdict."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from evaluators.judge import VARIANTS, build_judge
from tests.evaluators.judge.episodes import TASK, answered
from tests.evaluators.judge.test_pages import picture
from tests.fakes.tiny_models import llava
from webagent.models.local import LocalModel


@pytest.fixture(scope="module")
async def model(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalModel]:
    """A tiny model of images and text that was never trained."""
    loaded = LocalModel.load(str(llava(tmp_path_factory.mktemp("judge") / "llava")))
    yield loaded
    await loaded.close()


@pytest.mark.sample(3)
@pytest.mark.parametrize("variant", sorted(VARIANTS))
async def test_an_untrained_model_looks_at_the_screenshots_and_never_gives_a_verdict(
    variant, model
):
    episode = answered()
    steps = tuple(
        replace(step, observation=replace(step.observation, screenshot="shot"))
        for step in episode.steps
    )
    asked = build_judge(
        variant,
        model,
        lambda reference: picture((10, 10, 90, 90)),
        key_points={TASK.goal: ["a lamp"]},
        max_tokens=4,
    )

    report = await asked.examine(replace(episode, steps=steps, last=steps[-1].observation))

    assert report.value is None
    assert "cut off before its end" in report.reason, report.reason
    assert report.spent.calls >= 2
    assert report.spent.input_tokens > 0
    assert "without screenshots" not in report.judge
