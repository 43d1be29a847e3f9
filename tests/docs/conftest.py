"""A small run that all pages share, and a model's server for those that ask one."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from recipes import cli
from tests.docs.scenes import MODEL
from tests.fakes.chat_server import ChatServer, click, serving


@pytest.fixture(scope="session")
def server() -> Iterator[ChatServer]:
    """A server that speaks OpenAI's protocol; its model clicks the first button."""
    with serving(click) as made:
        yield made


@pytest.fixture(scope="session")
def small_run(server: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four episodes by that model, which solves one task and fails at the other."""
    folder = tmp_path_factory.mktemp("run")
    line = ["benchmark", "--tasks", "click-test", "login-user", "--seeds", "2", "--no-baselines"]
    with pytest.MonkeyPatch.context() as patch:
        reach(server, patch)
        asked = ["--policy", "endpoint", "--model", MODEL, "--images"]
        assert cli.main([*line, *asked, "--runs", str(folder), "--name", "small"]) == 0
    return folder / "small"


def reach(server: ChatServer, patch: pytest.MonkeyPatch) -> None:
    """Point the environment to the server."""
    patch.setenv("OPENAI_BASE_URL", server.url)
    patch.setenv("OPENAI_API_KEY", "none")
    patch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: ChatServer) -> Path:
    """An empty folder to work in, with the model in reach and nothing else set."""
    reach(server, monkeypatch)
    monkeypatch.setenv("WEBAGENT_LOGINS", str(tmp_path / "logins"))
    monkeypatch.setenv("SHOP_PASSWORD", "kept from the model")
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
