"""An expensive model behind a cheap one, through the commands."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from loop.console.output import Status
from loop.escalation import EscalationChoice
from loop.policies import NamedPolicy
from recipes import cli
from tests.fakes.chat_server import ChatHandler, ChatServer, completion, counted
from webagent.agent.asking import Asking
from webagent.policy.prompting import Prompting
from webagent.store import Store

PAIR = ["--policy", "endpoint", "--model", "cheap", "--expert", "big", "--concurrency", "1"]


def loops_or_solves(handler: ChatHandler, body: dict[str, Any]) -> None:
    """The cheap model scrolls and scrolls; the expensive one presses the first button."""
    text = str(body["messages"][-1]["content"])
    button = re.search(r"\[(\d+)\] button", text)
    solves = body["model"] == "big" and button is not None
    said = f"click({button[1]})" if solves and button else "scroll(0, 0, 0)"
    handler.send(completion([f"Thought: so.\nAction: {said}"], prompt_tokens=counted(body)))


@pytest.fixture(autouse=True)
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chat_server: ChatServer) -> Path:
    """An empty working folder, and the server that commands ask."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    chat_server.will(loops_or_solves)
    return tmp_path


@pytest.mark.browser
@pytest.mark.slow
def test_the_expert_solves_what_the_cheap_one_is_stuck_on_and_the_run_says_so(
    capsys: pytest.CaptureFixture[str], chat_server: ChatServer, served: Path
) -> None:
    measure = ["benchmark", "--tasks", "click-test", "--seeds", "2", "--no-baselines", *PAIR]
    assert cli.main([*measure, "--name", "b"]) == Status.DONE
    told = " ".join(capsys.readouterr().out.split())
    assert "expert: 2 of 8 actions in 2 of 2 episodes; 2 hand-overs: 2 stuck" in told
    summary = json.loads((served / "runs" / "b" / "summary.json").read_text())
    [arm] = summary["arms"]
    assert arm["name"] == "cheap +expert=big" and arm["rounds"][-1]["success"] == 1.0
    asked = {row["model"]: row["requests"] for row in summary["spent"]["asked"]}
    assert asked == {"cheap": 6, "big": 2}
    with Store.open(served / "runs" / "b") as store:
        for episode in store.trajectories():
            assert [s.decision.usage.get("expert_stuck") for s in episode.steps] == [*[None] * 3, 1]


@pytest.mark.parametrize("grammars", [True, False])
def test_the_expert_is_held_to_a_grammar_only_where_its_server_can(
    served: Path, grammars: bool
) -> None:
    server = f'kind = "vllm"\ngrammars = {str(grammars).lower()}\n'
    described = f'[endpoint]\nmodel = "big"\n[endpoint.server]\n{server}'
    (served / "big.toml").write_text(described)
    asked = Asking(prompting=Prompting(constrained=True, thought_tokens=0))
    cheap = NamedPolicy("local:weights", asking=asked)
    expert = EscalationChoice(expert_endpoint=Path("big.toml")).contestant(cheap)
    expert.check()
    assert expert.asking.prompting.constrained == grammars
    assert cheap.asking.prompting.constrained


@pytest.mark.browser
def test_collected_and_live_tasks_have_an_expert_too(
    capsys: pytest.CaptureFixture[str], chat_server: ChatServer, served: Path
) -> None:
    collect = ["collect", "--tasks", "click-test", "--seeds", "1", *PAIR, "--stalled", "1"]
    assert cli.main([*collect, "--temperature", "0", "--name", "c"]) == Status.DONE
    told = " ".join(capsys.readouterr().out.split())
    assert "expert: 1 of 2 actions in 1 of 1 episodes" in told
    (served / "shop.html").write_text(
        "<title>Shop</title><button onclick=\"this.after('Bought')\">Buy</button>"
    )
    run = ["run", "Buy it", "--url", (served / "shop.html").as_uri(), "--model", "cheap"]
    more = ["--expert", "big", "--stalled", "1", "--max-steps", "3", "--name", "r"]
    cli.main([*run, *more])
    said = " ".join(capsys.readouterr().out.split())
    assert "expert: 2 of 3 actions in 1 of 1 episodes; 1 hand-overs: 1 stuck" in said


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--stalled", "0"], "both must be at least 1"),
        (["--expert", "local:nowhere/model"], "there is no such folder"),
        (["--policy", "oracle"], "has nothing to take over"),
        (["--max-cost", "1"], "--max-cost 1 cannot be kept"),
    ],
)
def test_what_cannot_be_is_named_before_anything_is_played(
    flags: list[str], said: str, capsys: pytest.CaptureFixture[str], served: Path
) -> None:
    assert cli.main(["benchmark", "--tasks", "click-test", *PAIR, *flags]) != Status.DONE
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (served / "runs").exists()
