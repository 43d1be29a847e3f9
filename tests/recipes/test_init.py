"""The starter is written, is refused where it would overwrite, and runs as it stands."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import own
from loop.flat import flat
from recipes import cli
from recipes.commands import load
from recipes.settings import resolve
from tests.apps.record.conftest import site
from tests.fakes.chat_server import Behave
from webagent.guard import Guard

__all__ = ["site"]


@pytest.fixture
def begin(folder, monkeypatch, chat_server) -> Callable[..., int]:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return lambda *more: cli.main(["init", *more])


def test_every_file_of_the_starter_is_read_by_whoever_reads_such_files(begin, capsys):
    assert begin("--model", "anthropic/big-1") == 0
    said = capsys.readouterr().out
    assert "cp .env.example .env    # and put ANTHROPIC_API_KEY in" in said
    assert "webagent doctor --model anthropic/big-1" in said
    Guard.read(Path("guard.toml"))
    assert own.read(Path("tasks.toml"))["heading"].goal
    for command in tomllib.loads(Path("webagent.toml").read_text()):
        config = resolve(load(cli.COMMANDS[command].settings), command, [])
        assert "anthropic/big-1" in repr(config)
        assert flat(config)["guard"] == Path("guard.toml")
    assert Path(".env.example").is_file()


def test_nothing_is_overwritten(begin, capsys):
    Path("tasks.toml").write_text("mine")
    assert begin() == 2
    assert "tasks.toml already exists" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["tasks.toml"]


@pytest.mark.browser
def test_the_starter_runs_as_it_stands(begin, site, chat_server, monkeypatch, capsys):
    monkeypatch.setenv("OLLAMA_HOST", chat_server.url.removesuffix("/v1"))
    site.pages["/"] = "<title>Example</title><h1>Example Domain</h1>"
    begin()
    tasks = Path("tasks.toml")
    tasks.write_text(tasks.read_text().replace("https://example.org", site.address))
    chat_server.will(Behave.reply('Thought: it is there\nAction: answer("Example Domain")'))
    assert cli.main(["doctor", "--model", "ollama/qwen3"]) == 0
    assert "ok       model" in capsys.readouterr().out
    assert cli.main(["run", "What is the heading?", "--url", f"{site.address}/"]) == 0
    assert cli.main(["benchmark", "own", "--name", "b"]) == 0
    assert "100.0 % of 1" in capsys.readouterr().out
    assert {request["model"] for request in chat_server.requests} == {"qwen3"}
