"""Look-ahead around a policy, through the commands."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from loop.console.output import Status
from loop.world_models import WorldChoice
from recipes import cli
from tasks.task import Task
from tests.fakes.chat_server import ChatHandler, ChatServer, completion, counted
from webagent.action.actions import Click
from webagent.models.builtin.model import BuiltinModel
from webagent.models.weight_notes import write_role
from webagent.records import Decision, Ending, Observation, Step, Trajectory
from webagent.store import Store
from worldmodel.lookahead import ASKED

BENCHMARK = [
    *("benchmark", "--tasks", "click-test-2", "--policy", "endpoint", "--model", "served"),
    *("--no-baselines", "--seeds", "1", "--concurrency", "1", "--json"),
]


def acts_and_expects(handler: ChatHandler, body: dict[str, Any]) -> None:
    """A policy that is torn between two buttons, and a world in which the task is over then."""
    text = str(body["messages"][-1]["content"])
    if "What changes:" in text:
        said = ["the task is over"]
    else:
        marks = re.findall(r"\[(\d+)\] button", text)
        said = [f"Action: click({marks[i % 2]})" for i in range(body.get("n", 1))]
    handler.send(completion(said, prompt_tokens=counted(body)))


@pytest.fixture(autouse=True)
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chat_server: ChatServer) -> Path:
    """An empty working folder, and the server that commands ask."""
    monkeypatch.chdir(tmp_path)
    chat_server.will(acts_and_expects)
    return tmp_path


@pytest.mark.browser
def test_a_model_behind_a_server_is_asked_what_each_candidate_leads_to(capsys, served):
    assert cli.main([*BENCHMARK, "--world", "endpoint:worldly", "--name", "l"]) == Status.DONE
    shown = capsys.readouterr()
    summary = json.loads(shown.out)
    assert "look-ahead: asked in 1 of 1 steps" in shown.err
    # Without --world-run there is no experience of success to tell the candidates apart.
    assert "in 1 all candidates were valued alike" in shown.err
    assert summary["arms"][0]["name"] == "served +lookahead=worldly"
    with Store.open(served / "runs" / "l") as store:
        [trajectory] = [t for t in store.trajectories() if t.provenance.phase == "evaluate"]
    decision = trajectory.steps[0].decision
    assert decision.usage[ASKED] == 1 and decision.usage["imagined_steps"] == 2
    assert all("ends 1.00" in candidate.expected for candidate in decision.candidates)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--world", "none"], "--arms lookahead ask a world model"),
        (["--world", "map", "--world-run", "r"], "remember their own real steps"),
        (["--world", "endpoint"], "give endpoint:NAME"),
        (["--world", "map", "--candidates", "1"], "--candidates 1"),
        (["--world", "map", "--split", "dev"], "Expected one of ('test', 'development', 'train')"),
    ],
)
def test_arms_that_would_look_ahead_by_nobody_are_refused_before_anything_is_played(
    flags, said, capsys, served
):
    arms = ["improve", "--tasks", "click-test-2", "--arms", "lookahead", "--name", "never"]
    assert cli.main([*arms, *flags]) != 0
    assert said in capsys.readouterr().err
    assert not (served / "runs" / "never").exists()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--world", "mapp"], "did you mean map"),
        (["--world", "map"], "--world-run RUN"),
        (["--world", "map", "--world-run", "empty"], "empty"),
        (["--world", "map", "--world-run", "unplayed"], "holds no step"),
        (["--world", "map", "--world-run", "elsewhere"], "steps on a.example alone"),
        (["--world", "local:"], "names no weights"),
        (["--world", "local:./nowhere"], "there is no such folder"),
        (["--world", "local:./weights"], "trained to be a policy"),
        (["--world", "endpoint"], "give endpoint:NAME"),
        (["--world", "endpoint:w", "--depth", "-1"], "--depth -1"),
        (["--lookahead-by", "judge:evidence"], "asks a language model"),
        (["--policy", "oracle", "--lookahead-by", "rules"], "a world model is pointless"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_played(flags, said, capsys, served):
    (served / "empty").mkdir()
    step = Step(Observation("press", "https://a.example/", "", ()), Decision(Click(1)))
    for name, steps in (("unplayed", ()), ("elsewhere", (step,))):
        task = Task("a/press@1", "https://a.example/")
        with Store.open(served / name, create=True) as store:
            store.add(Trajectory(name, task, steps=steps, ending=Ending.STEP_LIMIT))
    BuiltinModel.create(0).save(served / "weights")
    write_role(served / "weights", "policy")
    assert cli.main([*BENCHMARK, *flags, "--name", "never"]) != 0
    assert said in capsys.readouterr().err
    assert not (served / "runs" / "never").exists()


@pytest.mark.parametrize(
    ("flags", "steps"),
    [
        ({"world": "endpoint"}, 2),
        ({"world": "local:x"}, 2),
        ({"world": "endpoint", "lookahead_by": "judge:evidence"}, 1),
        ({"world": "endpoint", "depth": 1}, 1),
        ({"world": "map"}, 1),
    ],
)
def test_a_language_model_is_asked_as_far_ahead_as_its_pages_matter(flags, steps):
    assert WorldChoice(**flags).steps_ahead == steps


def test_a_folder_of_weights_is_called_by_its_training() -> None:
    assert WorldChoice("local:runs/tiny/model").label() == ["lookahead=tiny"]
    assert WorldChoice("endpoint:worldly").name == "worldly"
    assert WorldChoice("map", lookahead_by="rules").label() == ["lookahead=map by rules"]
