"""A model that puts goals in words that memory knows, through the commands."""

from pathlib import Path

import pytest

from loop.console.output import Status
from recipes import cli
from tests.fakes.chat_server import Behave, ChatServer
from tests.fakes.networks import untrained
from tests.fakes.orders import episode, link
from webagent.action.actions import Answer, Click
from webagent.memory import Memory
from webagent.store import Store

PAGE = """<title>Shop</title><h1>Shop</h1>
<a href="#mug" onclick="this.after('It is in the cart')">Mug</a> <a href="#pot">Pot</a>"""


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chat_server: ChatServer) -> str:
    """A policy that remembers how to put a mug into the cart, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.html").write_text(PAGE)
    memory = Memory()
    for name, thing in (("a", "Mug"), ("b", "Pot")):
        page = (link(1, "Mug"), link(2, "Pot", left=80))
        turns = ((page, Click(1 if thing == "Mug" else 2)), (page, Answer("done")))
        memory.remember(episode(name, f'Put the "{thing}" into the cart', *turns))
    memory.save(tmp_path / "weights" / "memory")
    untrained().save(tmp_path / "weights" / "policy")
    return "model:weights/policy"


@pytest.mark.browser
def test_a_task_in_other_words_is_restated_and_the_run_says_so(capsys, chat_server, policy):
    chat_server.will(Behave.reply('{"request": 1, "goal": "Put the \\"Mug\\" into the cart"}'))
    address = Path("shop.html").resolve().as_uri()
    asked = ["run", "I would like to buy a mug", "--url", address, "--policy", policy]
    cli.main([*asked, "--restate", "big", "--max-steps", "2", "--name", "r"])
    said = " ".join(capsys.readouterr().out.split())
    assert "goals put in words that memory knows: 1 of 1" in said
    with Store.open(Path("runs/r")) as store:
        [played] = store.trajectories(phase="run")
    assert played.goal == "I would like to buy a mug"
    first = played.steps[0]
    assert 'taken as: Put the "Mug" into the cart' in first.decision.thought
    assert isinstance(first.decision.action, Click)
    named = first.observation.node(first.decision.action.mark)
    assert named is not None and named.name == "Mug"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--policy", "oracle", "--restate", "big"], "has none"),
        (["--policy", "endpoint", "--model", "a", "--restate", "big"], "has none"),
        (["--policy", "model:weights/policy", "--restate", "local:none/model"], "no such folder"),
        (
            ["--policy", "model:weights/policy", "--restate", "big", "--max-cost", "1"],
            "--max-cost 1 cannot be kept",
        ),
    ],
)
def test_what_cannot_be_restated_is_refused_before_anything_is_played(flags, said, capsys, policy):
    assert policy
    assert cli.main(["benchmark", *flags]) == Status.USAGE
    assert said in " ".join(capsys.readouterr().err.split())
    assert not Path("runs").exists()
