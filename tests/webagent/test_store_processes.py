"""The store under several processes, and under processes that are killed."""

import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import FakeWorld, ScriptedPolicy
from tests.fakes.player import open_world, player_plan
from webagent.records import Trajectory
from webagent.rollout import INTERRUPTED, collect, run_episode
from webagent.store import Store

ROOT = Path(__file__).parents[2]
LANES = 3
"""Episodes a player runs at the same time; as many steps are in flight."""


def start_player(folder: Path, arm: str, episodes: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.fakes.player", str(folder), arm, str(episodes)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def kill_after(player: "subprocess.Popen[str]", lines: int, delay: float) -> list[str]:
    """What the player had said when it was killed, so many lines and seconds in."""
    assert player.stdout is not None
    said = [player.stdout.readline() for _ in range(lines)]
    time.sleep(delay)
    player.kill()
    rest, errors = player.communicate()
    assert errors == ""
    whole = "".join((*said, rest)).splitlines(keepends=True)
    return [line.strip() for line in whole if line.endswith("\n")]


def timeless(trajectory: Trajectory) -> Trajectory:
    """Without what the clock and retries change."""
    steps = tuple(replace(step, seconds=0.0) for step in trajectory.steps)
    return replace(trajectory, id="", steps=steps, seconds=0.0, attempt=1)


def everything(folder: Path) -> dict[str, Trajectory]:
    with Store.open(folder) as store:
        return {one.id: one for one in store.trajectories("any")}


@pytest.mark.slow
async def test_a_run_killed_ten_times_loses_nothing_that_was_said_to_be_safe(tmp_path):
    dice = random.Random(20)
    folder, episodes = tmp_path / "run", 600
    Store.open(folder, create=True).close()
    before: dict[str, Trajectory] = {}
    for _ in range(10):
        player = start_player(folder, "self", episodes)
        said = kill_after(player, dice.randrange(1, 150), dice.uniform(0, 0.03))
        kept = everything(folder)
        after = {name: one for name, one in kept.items() if one.ending is not None}
        assert before.items() <= after.items()
        assert len(kept) - len(after) <= LANES
        for line in said:
            what, episode, *position = line.split()
            if what == "finish":
                assert episode in after
            else:
                assert len(kept[episode].steps) > int(position[0])
        before = after

    with Store.open(folder) as store:
        plan = player_plan("self", episodes)
        resumed = await collect(plan, ScriptedPolicy(), open_world, recorder=store)
    kept = everything(folder)
    cut_off = [one for one in kept.values() if one.error == INTERRUPTED]
    assert before.items() <= kept.items()
    assert 1 <= len(cut_off) <= 10 * LANES
    undisturbed = await collect(plan, ScriptedPolicy(), open_world)
    assert [timeless(one) for one in resumed] == [timeless(one) for one in undisturbed]


@pytest.mark.slow
async def test_two_processes_write_into_one_run(tmp_path: Path) -> None:
    arms, episodes = ("none", "self"), 150
    Store.open(tmp_path / "run", create=True).close()
    players = [start_player(tmp_path / "run", arm, episodes) for arm in arms]
    for player in players:
        _, errors = player.communicate(timeout=60)
        assert (player.returncode, errors) == (0, "")
    with Store.open(tmp_path / "run") as store:
        for arm in arms:
            kept = list(store.trajectories(arm=arm))
            assert [one.task.seed for one in kept] == list(range(episodes))
            assert all(one.evidence == {"reward": 1.0} for one in kept)
            assert store.count_real_steps(arm=arm) == 3 * episodes


async def test_a_writer_waits_for_another_instead_of_failing(tmp_path: Path) -> None:
    """Held for a moment by someone else, the folder is written to as soon as it is free."""
    with Store.open(tmp_path, create=True) as store:
        holder = (
            "import sqlite3, sys, time\n"
            "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "database.execute('BEGIN IMMEDIATE')\n"
            "sys.stdout.write('held\\n'); sys.stdout.flush(); time.sleep(0.5)\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", holder, str(tmp_path / "run.sqlite")],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        started = time.monotonic()
        (entry, *_) = player_plan("self", 1)
        played = await run_episode(
            entry.task, ScriptedPolicy(), FakeWorld(), provenance=entry.provenance, recorder=store
        )
        assert time.monotonic() - started > 0.2
        assert store.load(played.id) == played
        process.communicate()
