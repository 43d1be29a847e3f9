"""Cleaned trajectories of AgentRewardBench become trajectories; what is damaged is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.imports import read_episode
from recipes.cli import main
from webagent.action import Answer, GiveUp
from webagent.action.actions import Click, DragAndDrop, Fill
from webagent.errors import SetupError, StoreError
from webagent.records import Ending
from webagent.store import Store

PNG = b"\x89PNG\r\n\x1a\n"
TREE = (
    "RootWebArea 'Lamps', focused\n"
    "\t[12] link 'Red lamp', clickable\n"
    "\tStaticText 'It\\'s 12 euros'\n"
    "\t[a51] textbox 'Search', focused\n"
)
SHOTS = "trajectories/screenshots/webarena/agent-1/webarena.7"


def step(action: str | None, **fields: Any) -> dict[str, Any]:
    """One recorded step."""
    given = {"num": 0, "action": action, "reasoning": "so", "url": "http://shop.test/"}
    return {**given, "axtree": TREE, "chat_messages": [], "stats": {}, **fields}


def lay_down(folder: Path, *steps: dict[str, Any], **fields: Any) -> Path:
    """A trajectory's file where the data set has it."""
    path = folder / "trajectories" / "cleaned" / "webarena" / "agent-1" / "webarena.7.json"
    path.parent.mkdir(parents=True)
    content = {
        "benchmark": "webarena",
        "agent": "agent-1",
        "goal": "Find a red lamp.\n",
        "valid": True,
        "summary_info": {"terminated": True, "err_msg": None},
        "steps": list(steps),
    }
    path.write_text(json.dumps({**content, **fields}))
    return path


def keep(image: bytes, suffix: str) -> str:
    """A reference that says which screenshot it was."""
    return f"{image[-1]}.{suffix}"


def test_steps_become_ours_with_marks_for_bids(tmp_path: Path) -> None:
    path = lay_down(
        tmp_path,
        step("fill('a51', 'b52')", screenshot_path=f"{SHOTS}/screenshot_step_0.png"),
        step("drag_and_drop('12', 'a51')", screenshot_path="None"),
        step("click(bid='12')", last_action_error="Timeout\n  30 s"),
        step("send_msg_to_user('The red one')", reasoning=None),
        step(None),
    )
    shots = tmp_path / SHOTS
    shots.mkdir(parents=True)
    (shots / "screenshot_step_0.png").write_bytes(PNG + b"\x07")

    episode = read_episode(path, keep)

    inner = episode.steps[0].observation.nodes[3].mark
    assert [each.decision.action for each in episode.steps] == [
        Fill(inner, "b52"),
        DragAndDrop(12, inner),
        Click(12),
        Answer("The red one"),
    ]
    first, third = episode.steps[0].observation, episode.steps[2].observation
    assert [(node.role, node.name, node.mark > 0) for node in first.nodes] == [
        ("text", "Lamps", False),
        ("link", "Red lamp", True),
        ("text", "It's 12 euros", False),
        ("textbox", "Search", True),
    ]
    assert (first.screenshot, first.captured, third.screenshot) == ("7.png", TREE, "")
    assert third.outcome == "Timeout 30 s"
    assert (episode.task.id, episode.goal) == ("webarena/7@1", "Find a red lamp.")
    assert (episode.ending, episode.provenance.arm) == (Ending.ANSWERED, "agent-1")
    assert episode.last is not None
    assert episode.steps[0].decision.thought == "so"


@pytest.mark.parametrize(
    ("last", "summary", "ending"),
    [
        ("report_infeasible('no')", {}, Ending.GAVE_UP),
        ("click('12')", {"terminated": False, "truncated": True}, Ending.STEP_LIMIT),
        ("click('12')", {"terminated": True}, Ending.TASK_OVER),
        ("click('12')", {"err_msg": "no browser"}, Ending.WORLD_FAILED),
    ],
)
def test_an_episode_ends_as_it_was_recorded(tmp_path, last, summary, ending):
    episode = read_episode(lay_down(tmp_path, step(last), summary_info=summary), keep)

    assert episode.ending == ending
    if ending == Ending.GAVE_UP:
        assert episode.steps[-1].decision.action == GiveUp("no")


def test_what_is_no_call_makes_no_step_and_is_told(tmp_path: Path) -> None:
    path = lay_down(tmp_path, step("I would click"), step("fly('12')"), step("click('12')"))

    episode = read_episode(path, keep)

    assert [each.decision.action for each in episode.steps] == [Click(12)]
    assert "step 1: not a call" in episode.error
    assert "step 2: Invalid action type 'fly'" in episode.error


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_text("{"), "is damaged"),
        (lambda path: path.write_text('{"goal": "x"}'), "not a cleaned trajectory"),
        (lambda path: path.write_text(path.read_text().replace("true", "false", 1)), "not valid"),
        (lambda path: path.write_text(path.read_text().replace("None", "../x")), "is outside"),
        (lambda path: path.write_text(path.read_text().replace("None", "/x")), "is outside"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path, damage, message):
    path = lay_down(tmp_path, step("click('12')", screenshot_path="None"))
    damage(path)

    with pytest.raises(StoreError, match=message) as error:
        read_episode(path, keep)

    assert "webarena.7.json" in str(error.value)


def test_a_screenshot_that_is_none_is_named(tmp_path: Path) -> None:
    path = lay_down(tmp_path, step("click('12')", screenshot_path="shown.png"))
    path.with_name("shown.png").write_text("<html>")
    with pytest.raises(StoreError, match=r"shown\.png is not a PNG"):
        read_episode(path, keep)


def test_the_command_imports_what_it_can_once_and_names_the_rest(tmp_path, capsys):
    lay_down(tmp_path, step("click('12')")).with_name("webarena.8.json").write_text("{")
    run, folder = tmp_path / "run", str(tmp_path / "trajectories")
    line = ["record", "--import", "agentrewardbench", folder, "--into", str(run)]

    assert main(line) == 1
    told = capsys.readouterr()
    assert "imported: 1 of 2 episodes" in told.out and "webarena.8.json is damaged" in told.err
    with Store.open(run) as store:
        (episode,) = store.trajectories(phase="imported")
    assert episode.id == "agentrewardbench-agent-1-webarena.7"
    assert main(line) == 1
    assert "is already in" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["agentrewardbench"],
        ["agentrewardbench", "nowhere", "--into", "run"],
        ["agentrewardbenhc", "x", "--into", "run"],
    ],
)
def test_a_line_that_names_no_episodes_is_answered_in_a_sentence(arguments, tmp_path, monkeypatch):
    monkeypatch.setenv("WEBAGENT_DEBUG", "1")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SetupError):
        main(["record", "--import", *arguments])
