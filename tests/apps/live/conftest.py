"""Pages to run on, a model's server, and the command in a folder of its own."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from recipes import cli
from tests.apps.record.conftest import Server, site
from tests.fakes.chat_server import Behave, Behaviour, ChatServer
from webagent.records import Trajectory
from webagent.store import Store

__all__ = ["site"]

FORM = """<title>Shop</title><h1>Kayaks</h1><label>Name <input id=name></label>
<button onclick="document.title = 'Hello ' + document.getElementById('name').value">Send</button>
<a href=/list.csv download>The list</a>"""


def act(action: str, thought: str = "so be it") -> Behaviour:
    """A reply that chooses this action."""
    return Behave.reply(f"Thought: {thought}\nAction: {action}")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, so that `runs` is made here."""
    for name in [name for name in os.environ if name.startswith(("OPENAI_", "WEBAGENT_RUN"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shop(site: Server) -> Server:
    """A page with a field, a button and a file."""
    site.pages |= {"/": FORM, "/list.csv": "blue,420"}
    return site


@pytest.fixture
def run(shop, chat_server):
    """`webagent run` on the shop, with a model that is there."""

    def play(*more: str, task: str = "Greet Ada", url: str = f"{shop.address}/") -> int:
        return cli.main(["run", task, "--url", url, "--model", "big-1", "--name", "r", *more])

    return play


@pytest.fixture
def asked(shop: Server, chat_server: ChatServer) -> list[str]:
    """The arguments of a `webagent run` whose model is there."""
    return ["run", "Greet", "--url", f"{shop.address}/", "--model", "m", "--name", "r"]


def kept(folder: Path) -> Trajectory:
    """The one episode of the run."""
    with Store.open(folder / "runs" / "r") as store:
        (episode,) = store.ids("any")
        found = store.load(episode)
    assert found is not None
    return found


def lines_of(text: str) -> list[dict[str, Any]]:
    """What `--json` has printed."""
    return [json.loads(line) for line in text.splitlines()]
