"""The loop with a model behind a server, whose weights cannot be trained."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from loop.flat import compose
from loop.settings import ImproveConfig
from loop.task_split import split_tasks
from recipes import cli
from tests.fakes.chat_server import ChatHandler, completion, counted
from tests.fakes.roles import play_roles
from tests.recipes.test_improve import OWN, PAGES, finished
from webagent.policy.knowledge import read_file
from webagent.store import Store

SMALL = shlex.split(
    """--policy endpoint --model served --tasks click-test --demonstrations 1 --rounds 1
--steps 20 --evaluate 2 --arms none self --concurrency 2 --max-tokens 64"""
)


def needs_examples(handler: ChatHandler, body: dict[str, Any]) -> None:
    """A model that knows what to do only where it is shown how it was done before."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    _, _, shown = text.rpartition("The page now")
    button = re.search(r"\[(\d+)\] button", shown)
    knows = "<<<episode" in text and button is not None
    said = f"click({button[1]})" if knows and button else 'answer("what is to be done?")'
    handler.send(completion([f"Thought: so.\nAction: {said}"], prompt_tokens=counted(body)))


def improve(runs: Path, *more: str) -> list[str]:
    return ["improve", "--runs", str(runs), "--name", "run", *SMALL, *more]


@pytest.mark.browser
@pytest.mark.very_slow
@pytest.mark.timeout(900)
def test_examples_of_the_demonstrations_are_shown_from_then_on(tmp_path, chat_server):
    chat_server.will(needs_examples)
    assert cli.main(improve(tmp_path)) == 0
    run = tmp_path / "run"
    policy = run / "weights" / "none-0" / "0" / "policy"
    [entry] = read_file(policy / "site-memory", "click-test").entries
    assert entry.kind == "examples"
    summary = json.loads((run / "summary.json").read_text())
    assert {arm["name"]: arm["rounds"][-1]["success"] for arm in summary["arms"]} == {
        "none": 1.0,
        "self": 1.0,
    }
    assert summary["spent"]["asked"][0]["requests"] > 0


@pytest.mark.browser
@pytest.mark.very_slow
@pytest.mark.timeout(900)
def test_another_process_is_helped_by_what_one_has_learnt(tmp_path, chat_server, capsys):
    chat_server.will(needs_examples)
    collect = ["collect", "--tasks", "click-test", "--seeds", "1", "--runs", str(tmp_path)]
    assert cli.main([*collect, "--name", "shown"]) == 0
    memory = ["--site-memory", str(tmp_path / "memory")]
    assert cli.main(["memory", str(tmp_path / "shown"), *memory, "--entries", "examples"]) == 0
    measure = ["benchmark", "--tasks", "click-test", "--seeds", "2", "--no-baselines"]
    measure += ["--policy", "endpoint", "--model", "served", "--runs", str(tmp_path), "--json"]
    rates = {}
    for name, told in (("without", []), ("with", memory)):
        capsys.readouterr()
        assert cli.main([*measure, "--name", name, *told]) == 0
        [arm] = json.loads(capsys.readouterr().out)["arms"]
        rates[arm["name"]] = arm["rounds"][-1]["success"]
    assert rates == {"served": 0.0, "served +site memory": 1.0}


@pytest.mark.browser
@pytest.mark.very_slow
@pytest.mark.timeout(900)
def test_a_cap_ends_the_run_and_a_higher_one_goes_on(tmp_path, chat_server, capsys):
    chat_server.will(needs_examples)
    assert cli.main(improve(tmp_path, "--max-tokens-total", "300")) != 0
    assert "of 300 are spent" in capsys.readouterr().out
    before = finished(tmp_path / "run")
    more = ["--resume", str(tmp_path / "run"), "--max-tokens-total", "1000000"]
    assert cli.main(["improve", *more]) == 0
    after = finished(tmp_path / "run")
    assert {name: after[name] for name in before} == before
    with Store.open(tmp_path / "run") as store:
        assert store.get_state("done:self 0")


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_round_says_who_proposed_who_judged_what_was_learnt_from_and_what_it_cost(
    tmp_path, chat_server, capsys
):
    """Policy, judge and proposer behind one server; a proposal that copies a held-out task."""
    names, url = ["alder", "birch", "cedar", "elm", "fir", "oak"], (PAGES / "form.html").as_uri()
    own = tmp_path / "own.toml"
    own.write_text("".join(OWN.format(name=name, url=url) for name in names))
    held = split_tasks(compose(ImproveConfig, benchmark="own", files=own)).measured[0]
    chat_server.will(play_roles([f"What is the word of {held}? Answer with it."]))
    models = "--policy endpoint --model policy --judge judge:pae --judge-model judge"
    proposing = "--proposer endpoint --proposer-model proposer --propose 3"
    small = "--benchmark own --rounds 2 --steps 8 --arms none self"
    words = shlex.split(f"{models} {proposing} {small}")
    run = tmp_path / "run"
    asked = ["improve", "--files", str(own), "--runs", str(tmp_path), "--name", "run", *words]
    assert cli.main(asked) == 0
    told = " ".join(capsys.readouterr().out.split())
    summary = json.loads((run / "summary.json").read_text())
    assert summary["spent"]["run"]["seconds"] > 0
    first, second = summary["learning"]
    assert (first["round"], second["round"], first["arm"]) == (1, 2, "self")
    assert (first["proposer"], first["proposed"], first["kept"]) == ("endpoint", 3, 2)
    assert first["refused"] == {"held out": 1} and first["judge"].startswith("pae")
    assert first["played"] > 0 and first["model_tokens"] > 0 and first["real_steps"] > 0
    assert "round 1: proposer endpoint: 3 tasks proposed, 2 kept, refused 1 held out" in told
    assert "proposer endpoint" in (run / "report.html").read_text()
    collected = [t.task for t in finished(run).values() if t.provenance.phase == "collect"]
    proposed = [task for task in collected if task.id.startswith("proposed/")]
    assert proposed and all(held not in task.goal and not task.checks for task in proposed)
    asked_before = len(chat_server.requests)
    assert cli.main(["improve", "--resume", str(run)]) == 0
    assert len(chat_server.requests) == asked_before


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--lora", "4"], "--policy endpoint has no weights to train"),
        (["--model", ""], "asks a server for a model by name"),
        (["--samples", "0"], "at least 1 of each is needed"),
        (["--policy", "builtin", "--site-memory", "."], "--site-memory is for language models"),
        (["--max-cost", "1"], "--max-cost 1 cannot be kept"),
        (["--proposer", "endpoint"], "pages that give their own goals"),
        (["--benchmark", "fossil", "--tasks", "all", "--proposer", "failures"], "solved with"),
        (["--proposer", "endpoint", "--propose", "0"], "--propose 0: at least 1 is needed"),
    ],
)
def test_settings_that_cannot_be_are_named(tmp_path, more, complaint, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # nobody is asked
    assert cli.main(improve(tmp_path, *more)) == 2
    assert complaint in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run").exists()
