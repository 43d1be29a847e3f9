"""The same episodes in process and across the borders that need no package of others."""

import asyncio
from dataclasses import replace

import pytest

from benchmarks.miniwob import tasks as miniwob
from perf.borders import (
    BorderEpisode,
    compare,
    cross_gymnasium,
    cross_openenv,
    cross_trl,
    make_script,
    play_in_process,
)
from tests.apps.serve.conftest import RunningServer

EPISODE = BorderEpisode(
    "miniwob", "a", 0, ("first", "second"), ("click(1)", "click(2)"), 1.0, "task over"
)


@pytest.mark.browser
@pytest.mark.sample(20)
@pytest.mark.parametrize("task", miniwob.load().groups["twenty"])
async def test_episodes_are_the_same_across_every_border(served: RunningServer, task: str) -> None:
    wanted = await play_in_process("miniwob", task, range(2))
    borders = (cross_gymnasium, cross_openenv(served.url, ""), cross_trl(served.url))
    for cross in borders:
        found = await asyncio.to_thread(lambda cross=cross: list(cross(wanted)))
        assert [compare(*pair) for pair in zip(wanted, found, strict=True)] == ["", ""]


def test_what_differs_is_told() -> None:
    assert compare(EPISODE, EPISODE) == ""
    assert compare(EPISODE, replace(EPISODE, reward=0.0)) == "reward 0.0, in process 1.0"
    other = replace(EPISODE, texts=("first", "third"))
    assert compare(EPISODE, other) == "text 1 of 2: 'third', in process 'second'"
    assert compare(EPISODE, replace(EPISODE, texts=("first",))) == "1 texts, in process 2"
    assert compare(EPISODE, replace(EPISODE, reward=float("nan"))).startswith("reward nan")


def test_a_model_that_reads_the_same_twice_cannot_do_two_things() -> None:
    assert make_script([EPISODE])[EPISODE.texts] == "click(2)"
    with pytest.raises(ValueError, match="another action on the same pages"):
        make_script([EPISODE, replace(EPISODE, actions=("click(1)", "click(3)"))])
