"""Runs to export: a language policy that plays the fake world, well and badly, with pictures."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from loop.flat import compose
from loop.folder import RunFolder
from loop.measurement import BenchmarkConfig
from recipes import cli
from tasks.task import Task
from tests.fakes.policy import oracle
from tests.fakes.world import SUBMIT, FakeWorld, fake_task
from webagent.action import Action, format_action
from webagent.action.actions import Click
from webagent.errors import WorldError
from webagent.models.canned import CannedModel
from webagent.models.model import Message, Reply
from webagent.observation.variants import VARIANTS
from webagent.policy.language import LanguagePolicy
from webagent.records import Observation, Provenance, Score, Trajectory
from webagent.rollout import episode_id, run_episode
from webagent.store import Store

JUDGE = "checks_hold@2"
SEEN_BY_MODEL: dict[tuple[str, int], tuple[Message, ...]] = {}
"""The prompt of each step as the model was really asked, by episode and position."""


class Pictured(FakeWorld):
    """The fake world with a screenshot of every page; also writes what readers must not count."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store

    async def reset(self, task: Task) -> Observation:
        return self._shot(await super().reset(task))

    async def step(self, action: Action) -> Observation:
        return self._shot(await super().step(action))

    def _shot(self, page: Observation) -> Observation:
        from PIL import Image

        picture = BytesIO()
        colour = (40 * len(page.nodes[0].value) % 256, page.focus * 20 % 256, 90)
        Image.new("RGB", (56, 56), colour).save(picture, "PNG")
        return replace(page, screenshot=self._store.images.add(picture.getvalue()))


def run_folder(path: Path, **config: object) -> RunFolder:
    """A run of its own with these settings."""
    return RunFolder.create(path, compose(BenchmarkConfig, **config), ["webagent", "benchmark"])  # type: ignore[arg-type]


def export(run: Path, *asked: str, out: str = "out") -> Path:
    """Where `webagent export` has written."""
    folder = run.parent / out
    assert cli.main(["export", str(run), "--out", str(folder), *asked]) == 0
    return folder


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows of the Parquet files in a folder."""
    return [
        row for path in sorted(folder.glob("*.parquet")) for row in pq.read_table(path).to_pylist()
    ]


def play(store: Store, seed: int, **how: Any) -> Trajectory:
    """As `_play`."""
    return asyncio.run(_play(store, seed, **how))


async def _play(  # noqa: PLR0913 - each is a separate way to differ
    store: Store,
    seed: int,
    *,
    right: bool = True,
    index: int = 0,
    phase: str = "collect",
    variant: str = "text",
    thought: str = "I do what the task says.",
) -> Trajectory:
    """One episode of the fake task by a language policy; a bad one submits without typing."""
    pictured = VARIANTS[variant].image != ""
    world = Pictured(store) if pictured else FakeWorld()
    task = fake_task(seed)
    page = await world.reset(task)
    script = _script(page, right=right)
    replies = [Reply(f"Thought: {thought}\nAction: {format_action(each)}") for each in script]
    model = CannedModel(replies, name="tiny-1")
    policy = LanguagePolicy(
        model, images=store.images.get if pictured else None, variant=VARIANTS[variant]
    )
    place = Provenance(arm="tiny-1", phase=phase, index=index)
    trajectory = await run_episode(task, policy, world, provenance=place, recorder=store)
    value = float(trajectory.evidence["reward"])  # type: ignore[arg-type]
    store.score(trajectory.id, Score("success", value, "the reward", JUDGE))
    for position, request in enumerate(model.requests):
        SEEN_BY_MODEL[trajectory.id, position] = request.messages
    return trajectory


def fail(store: Store, seed: int, index: int) -> Trajectory:
    """As `_fail`."""
    return asyncio.run(_fail(store, seed, index))


async def _fail(store: Store, seed: int, index: int) -> Trajectory:
    """An episode that the world broke off after a step."""
    world = FakeWorld({"step:2": WorldError("the tab crashed")})
    page = await FakeWorld().reset(fake_task(seed))
    replies = [f"Action: {format_action(each)}" for each in _script(page, right=True)]
    place = Provenance(arm="tiny-1", phase="collect", index=index)
    return await run_episode(
        fake_task(seed),
        LanguagePolicy(CannedModel(replies)),
        world,
        provenance=place,
        recorder=store,
    )


def dream(store: Store, real: Trajectory, index: int, *, believed: bool = True) -> Trajectory:
    """An imagined episode with the real one's steps."""
    place = Provenance(
        world="imagined", arm="tiny-1", phase="imagine", index=index, seeded_from=f"{real.id}:0"
    )
    dreamt = replace(
        real,
        id=episode_id(real.task, place),
        provenance=place,
        evidence={"imagined_success": believed, "success_probability": 0.9},
    )
    store.add(dreamt)
    return dreamt


def _script(page: Observation, *, right: bool) -> Sequence[Action]:
    done = [
        oracle(Trajectory("", fake_task(), steps=(None,) * n), page)  # type: ignore[arg-type]
        for n in range(3)
    ]
    return done if right else [done[0], Click(SUBMIT)]
