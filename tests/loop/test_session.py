"""Playing for a session: a model that is gone ends it, and goes on where it stopped."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from loop.arms import ARMS
from loop.flat import compose
from loop.folder import RunFolder
from loop.judging.scoring import OUTAGE
from loop.session import Session, play_episodes
from loop.settings import ImproveConfig
from webagent.errors import ModelError
from webagent.records import Ending, Provenance, Trajectory
from webagent.rollout import PlannedEpisode, episode_id


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """One whose worlds nobody opens."""
    config = compose(ImproveConfig, tasks=("click-test",))
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    worlds = cast(Any, lambda *given: None)
    with folder.store() as store:
        yield Session(*(config, folder, store, worlds, ARMS["self"], 0), lambda *said: None)


async def test_a_model_that_is_gone_ends_the_session_but_not_the_next_one(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = session.suite.task("click-test", 0)
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

    monkeypatch.setattr("loop.session.collect", collect)
    plan = [PlannedEpisode(task, Provenance())]
    with pytest.raises(ModelError, match=f"failed in the last {OUTAGE} episodes.*no connection"):
        await play_episodes(session, plan, cast(Any, None), "collect")
    for each in episodes:
        session.store.add(each)
    assert await play_episodes(session, plan, cast(Any, None), "collect") == []


async def test_a_model_that_fails_every_one_of_a_few_ends_the_session_and_they_are_tried_anew(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = session.suite.task("click-test", 0)
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
                if session.store.load(name) is None:
                    session.store.add(made)
                on_episode(made)
        return []

    monkeypatch.setattr("loop.session.collect", collect)
    with pytest.raises(ModelError, match=r"failed in every one of 6 tries at 2 episodes.*gone"):
        await play_episodes(session, plan, cast(Any, None), "collect")
    await play_episodes(session, plan, cast(Any, None), "collect")
    assert asked == [2, 5], "as many tries more as it was failed in"
