"""A student in front of a model behind a server, through the commands."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loop.console.output import Status
from loop.student import note_student
from loop.summary.students import format_student, summarize_students
from recipes import cli
from tests.fakes.chat_server import Behave, ChatHandler, ChatServer, completion, counted
from tests.fakes.run import episode
from webagent.action.actions import Click
from webagent.models.builtin.model import BuiltinModel
from webagent.models.weight_notes import write_role
from webagent.policy.student import Student
from webagent.records import Decision, Provenance
from webagent.store import Store

COLLECT = [
    *("collect", "miniwob", "--tasks", "click-test", "--policy", "endpoint", "--model", "served"),
    *("--temperature", "0", "--concurrency", "1", "--json"),
]
BENCHMARK = [
    *("benchmark", "--tasks", "click-test", "--policy", "endpoint", "--model", "served"),
    *("--no-baselines", "--seeds", "3", "--concurrency", "1", "--json"),
]


def presses(handler: ChatHandler, body: dict[str, Any]) -> None:
    """A model that presses the first button."""
    button = re.search(r"\[(\d+)\] button", str(body["messages"][-1]["content"]))
    said = f"Action: click({button[1]})" if button else 'Action: answer("")'
    handler.send(completion([said], prompt_tokens=counted(body)))


@pytest.fixture(autouse=True)
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chat_server: ChatServer) -> Path:
    """An empty working folder, and the server that commands ask."""
    monkeypatch.chdir(tmp_path)
    chat_server.will(presses)
    return tmp_path


def found(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(capsys.readouterr().out)
    return facts


@pytest.mark.very_slow
@pytest.mark.browser
def test_the_student_takes_over_and_its_folder_is_measured(capsys, chat_server):
    collect = [*COLLECT, "--student", "builtin", "--seeds", "8"]
    assert cli.main([*collect, "--name", "c"]) == Status.DONE
    row = found(capsys)["student"][0]
    assert row["steps_of_student"] + row["calls"] == row["steps"] == 8
    assert row["steps_of_student"] >= 3 and row["success"] == 1.0 and row["tokens_saved"] > 0
    assert row["calls"] == len(chat_server.requests)
    begun = chat_server.requests[:]

    assert cli.main([*BENCHMARK, "--student", "runs/c/student", "--name", "b"]) == Status.DONE
    summary = found(capsys)
    assert summary["arms"][0]["name"] == "served +student"
    assert summary["students"][0]["steps_of_student"] == 3 and chat_server.requests == begun


@pytest.mark.browser
@pytest.mark.slow
def test_a_server_that_dies_costs_nothing_that_was_learnt_and_a_resumed_run_goes_on(
    capsys, chat_server, served
):
    chat_server.will(presses, presses, Behave.status(401))
    collect = [*COLLECT, "--student", "builtin", "--student-confidence", "1", "--name", "c"]
    cli.main([*collect, "--seeds", "4"])
    facts = found(capsys)
    assert facts["episodes"] == 2 and facts["failures"] > 0
    assert len(Student.load(served / "runs" / "c" / "student").memory) == 2

    chat_server.will(presses)
    assert cli.main(["collect", "--resume", "runs/c", "--json"]) == Status.DONE
    assert len(Student.load(served / "runs" / "c" / "student").memory) >= 2


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--student", "nowhere"], "no student lies there"),
        (["--student", "."], "trained to be a world"),
        (["--student", "empty"], "has learnt from no episode yet"),
        (["--student", "builtin", "--student-confidence", "0"], "lies above 0 and at most at 1"),
        (["--student", "builtin", "--policy", "model:weights"], "is the built-in one itself"),
    ],
)
def test_what_cannot_be_a_student_is_refused_by_name_before_anything_is_played(
    flags, said, capsys, served
):
    BuiltinModel.create(0).save(served / "weights")
    write_role(served, "world")
    Student().save(served / "empty")
    assert cli.main([*COLLECT, *flags]) in (Status.USAGE, Status.SETUP)
    assert said in capsys.readouterr().err
    assert not (served / "runs").exists()


@pytest.mark.browser
@pytest.mark.very_slow
@pytest.mark.timeout(900)
def test_the_loop_keeps_a_student_for_every_round_and_tells_what_it_took_over(capsys, served):
    improve = [
        *("improve", "--policy", "endpoint", "--model", "served", "--student", "builtin"),
        *("--tasks", "click-test", "--demonstrations", "2", "--json"),
        *("--rounds", "1", "--steps", "10", "--evaluate", "2"),
        *("--arms", "none", "self", "--concurrency", "1", "--max-tokens", "64", "--name", "i"),
    ]
    assert cli.main(improve) == Status.DONE
    rows = {(row["arm"], row["phase"]): row for row in found(capsys)["students"]}
    assert rows["self", "evaluate"]["steps"] == rows["none", "evaluate"]["steps"] == 2
    assert rows["self", "collect"]["steps_of_student"] > 0
    for arm, round in (("none", 0), ("self", 1)):
        kept = Student.load(served / "runs" / "i" / "weights" / f"{arm}-0" / str(round) / "student")
        assert len(kept.memory) >= 2


@pytest.mark.browser
def test_a_run_keeps_what_its_student_learnt_for_the_next_one(capsys, served, chat_server):
    (served / "shop.html").write_text(
        "<title>Shop</title><button onclick=\"this.after('Bought')\">Buy</button>"
    )
    chat_server.will(presses, Behave.reply('Thought: so\nAction: answer("bought")'))
    run = ["run", "Buy it", "--url", (served / "shop.html").as_uri(), "--model", "served"]
    assert cli.main([*run, "--student", "kept", "--name", "first", "--json"]) == Status.DONE
    assert '"steps_of_student": 0' in capsys.readouterr().out
    assert len(Student.load(served / "kept").memory) == 2


def test_a_student_that_learnt_from_too_little_is_said_to_have(served: Path) -> None:
    """It never acts, and its row says what to do."""
    large = Decision(Click(1), usage={"student_sure": 0, "student_asked": 1, "student_agreed": 0})
    with Store.open(served / "run", create=True) as store:
        made = episode(Provenance(arm="self", phase="collect"), "enter-text", 0, True)
        store.add(replace(made, steps=tuple(replace(step, decision=large) for step in made.steps)))
        note_student(store, Student())
        (row,) = summarize_students(store)
    assert row["steps_of_student"] == 0
    assert "it was never sure" in format_student(row) and "more episodes" in format_student(row)
