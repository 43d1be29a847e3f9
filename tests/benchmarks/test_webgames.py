"""WebGames' tasks: won by whoever says the game's password."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import webgames
from benchmarks.catalogue import AddressError, Options
from benchmarks.rules import RULES, checks_hold
from benchmarks.task_files import UnreadableTasks
from webagent.action import Action, Answer, GiveUp
from webagent.records import Decision, Ending, Observation, Step, Trajectory

RAW = {
    "id": "maze-hard/*",
    "path": "maze-hard/*",
    "title": "The Maze (Hard)",
    "description": "Find the way out",
    "icon": "x",
    "tags": ["memory", "hard"],
    "password": "Maze.Master!",
    "difficulty": "hard",
    "variant": "hard",
    "base_task": "maze",
}


def written(folder: Path, **fields: Any) -> Path:
    """A file with one game, some fields of it changed."""
    path = folder / "webgames_tasks.jsonl"
    path.write_text(json.dumps({**RAW, **fields}))
    return path


async def success(folder: Path, action: Action) -> float | None:
    """What the checks say of an episode that ends with this action."""
    (task,) = webgames.tasks(written(folder))
    step = Step(Observation(task.goal, task.start_url, "", ()), Decision(action))
    ending = Ending.GAVE_UP if isinstance(action, GiveUp) else Ending.ANSWERED
    played = Trajectory("e", task, steps=(step,), last=step.observation, ending=ending)
    return (await checks_hold()(played)).value


def test_a_game_is_one_page_of_the_site_in_its_family(tmp_path: Path) -> None:
    (task,) = webgames.tasks(written(tmp_path), "http://games.test:5173/")

    assert (task.id, task.start_url) == ("webgames/maze-hard@1", "http://games.test:5173/maze-hard")
    assert (task.template, task.skills) == ("maze", ("hard", "memory"))
    assert task.goal.startswith("The Maze (Hard): Find the way out. When it is done")
    assert {check.rule for check in task.checks} <= RULES.keys()
    assert "Maze.Master" not in task.goal


@pytest.mark.parametrize(
    ("action", "value"),
    [
        (Answer("The password is Maze.Master!"), 1.0),
        (Answer("maze.master!"), 0.0),
        (Answer("MazeXMaster!"), 0.0),
        (Answer(""), 0.0),
        (GiveUp("too hard"), 0.0),
    ],
)
async def test_only_the_password_wins(action: Action, value: float, tmp_path: Path) -> None:
    assert await success(tmp_path, action) == value


def test_games_are_played_where_the_user_hosts_them(tmp_path: Path) -> None:
    own = Options(written(tmp_path), {"webgames": "http://localhost:5173"})
    hosted = webgames.suite(Options(written(tmp_path)))

    assert webgames.suite(own).task("maze-hard", 0).start_url == "http://localhost:5173/maze-hard"
    assert hosted.task("maze-hard", 0).start_url == f"{webgames.ADDRESS}/maze-hard"
    with pytest.raises(AddressError, match="webgames has no site 'games'"):
        webgames.suite(Options(written(tmp_path), {"games": "http://localhost"}))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"password": None}, "line 1: password is None, expected text"),
        ({"tags": "memory"}, "tags is 'memory', expected a list of texts"),
        ({"tags": [1]}, r"tags is \[1\], expected a list of texts"),
        ({"difficulty": "extreme"}, "difficulty is 'extreme', expected easy, medium, hard"),
    ],
)
def test_a_field_of_another_form_is_named(fields, said, tmp_path):
    with pytest.raises(UnreadableTasks, match=said):
        webgames.tasks(written(tmp_path, **fields))
