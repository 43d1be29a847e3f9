"""Goals said in other words by a served model, by `webagent improve` and `webagent memory`."""

import json
from pathlib import Path
from typing import Any

import pytest

from loop.console.output import Status
from recipes import cli
from tests.fakes.chat_server import ChatHandler, ChatServer, completion, counted
from webagent.memory import Memory

IMPROVE = (
    *("improve", "--tasks", "click-test", "click-dialog-2", "--arms", "none", "--rounds", "1"),
    *("--steps", "6", "--demonstrations", "1", "--base-tokens", "500", "--round-tokens", "500"),
    *("--evaluate", "1", "--evaluate-every", "1", "--pictures", "0", "--name", "run"),
)


def says_otherwise(handler: ChatHandler, body: dict[str, Any]) -> None:
    """One other wording in which all values stand, and one without."""
    values = str(body["messages"][-1]["content"]).rpartition("letter by letter:")[2].split("\n- ")
    others = [f"Kindly see to {' and '.join(values[1:])}", "See to it"]
    handler.send(completion([json.dumps({"others": others})], prompt_tokens=counted(body)))


@pytest.fixture(autouse=True)
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chat_server: ChatServer) -> Path:
    """An empty working folder, and the server that commands ask."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    chat_server.will(says_otherwise)
    return tmp_path


@pytest.mark.browser
@pytest.mark.very_slow
def test_demonstrated_goals_are_remembered_in_a_models_words(
    capsys: pytest.CaptureFixture[str], served: Path, chat_server: ChatServer
) -> None:
    assert cli.main([*IMPROVE, "--reword", "2", "--proposer-model", "worldly"]) == Status.DONE
    told = " ".join(capsys.readouterr().err.split())
    assert "other wordings of 2 kinds of goals" in told
    run = served / "runs" / "run"
    memory = Memory.load(run / "weights" / "none-0" / "0" / "memory")
    goals = {case.goal.text for case in memory.index.cases}
    assert any(goal.startswith("Kindly see to") for goal in goals)
    lines = (run / "rewordings.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    asked = len(chat_server.requests)
    assert cli.main(["memory", str(run), "--rebuild", "--reword", "2", "--model", "worldly"]) == 0
    assert "other wordings of 2 kinds of goals" in capsys.readouterr().out
    assert len(chat_server.requests) == asked


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--reword", "2"], "name it with --proposer-model"),
        (["--reword", "-1", "--proposer-model", "m"], "--reword -1 is a number of wordings"),
        (["--reword", "2", "--memory", "off", "--proposer-model", "m"], "leave it out"),
    ],
)
def test_rewording_without_a_model_or_a_memory_is_refused(
    flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*IMPROVE, *flags]) == 2
    assert said in capsys.readouterr().err


def test_a_memory_is_reworded_only_where_it_is_rebuilt(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["memory", "run", "--reword", "2"]) == 2
    assert "needs --rebuild" in capsys.readouterr().err
