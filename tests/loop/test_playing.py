"""Playing for a session: a model that is gone ends it, and goes on where it stopped."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from loop.flat import compose
from loop.folder import RunFolder
from loop.judging.scoring import OUTAGE
from loop.playing import Player, play_episodes
from loop.settings import ImproveConfig
from loop.task_split import load_suite
from webagent.errors import ModelError
from webagent.records import Ending, Provenance, Trajectory
from webagent.rollout import PlannedEpisode, episode_id


@pytest.fixture
def player(tmp_path: Path) -> Iterator[Player]:
    """One whose worlds nobody opens."""
    config = compose(ImproveConfig, tasks=("click-test",))
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    worlds = cast(Any, lambda *given: None)
    with folder.store() as store:
        yield Player(store, lambda *reported: None, worlds)


async def test_a_model_that_is_gone_ends_the_session_but_not_the_next_one(player, monkeypatch):
    task = load_suite(ImproveConfig()).task("click-test", 0)
    episodes = [
        Trajectory(
            f"e{index}",
            task,
            ending=Ending.MODEL_FAILED,
            error="no connection",
            provenance=Provenance(index=index),
        )
        for index in range(OUTAGE)
    ]

    async def collect(
        plan: Sequence[PlannedEpisode],
        *rest: object,
        on_episode: Callable[[Trajectory], None],
        **settings: object,
    ) -> list[Trajectory]:
        for each in episodes:
            on_episode(each)
        return []

    monkeypatch.setattr("loop.playing.collect", collect)
    plan = [PlannedEpisode(task, Provenance())]
    with pytest.raises(ModelError, match=f"failed in the last {OUTAGE} episodes.*no connection"):
        await play_episodes(player, plan, cast(Any, None), "collect")
    for each in episodes:
        player.store.add(each)
    assert await play_episodes(player, plan, cast(Any, None), "collect") == []


async def test_a_model_that_fails_every_one_of_a_few_ends_the_session_and_they_are_tried_anew(
    player, monkeypatch
):
    task = load_suite(ImproveConfig()).task("click-test", 0)
    plan = [PlannedEpisode(task, Provenance(arm="self", index=index)) for index in range(2)]
    asked: list[int] = []

    async def collect(
        plan: Sequence[PlannedEpisode],
        *rest: object,
        on_episode: Callable[[Trajectory], None],
        retries: int,
        **settings: object,
    ) -> list[Trajectory]:
        asked.append(retries)
        for attempt in range(1, 4):
            for each in plan:
                name = episode_id(task, each.provenance, attempt)
                made = Trajectory(
                    name, task, ending=Ending.MODEL_FAILED, error="gone", provenance=each.provenance
                )
                if player.store.load(name) is None:
                    player.store.add(made)
                on_episode(made)
        return []

    monkeypatch.setattr("loop.playing.collect", collect)
    with pytest.raises(ModelError, match=r"failed in every one of 6 tries at 2 episodes.*gone"):
        await play_episodes(player, plan, cast(Any, None), "collect")
    await play_episodes(player, plan, cast(Any, None), "collect")
    assert asked == [2, 5], "as many tries more as it was failed in"
