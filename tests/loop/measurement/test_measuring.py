"""What stands beside a measured policy, and what a run that was killed comes to."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.catalogue import BENCHMARKS, Benchmark
from benchmarks.oracles import ORACLES, View
from loop.console.output import Status
from loop.measurement.measurement import describe_changes
from loop.summary import read_summary
from recipes import cli
from tasks.task import Task
from tests.loop.measurement import toy
from webagent.action import Action
from webagent.action.actions import Answer, Click, GiveUp
from webagent.records import Provenance, Trajectory
from webagent.store import Store

ASKED = ("toy", "--files", "toy.html", "--concurrency", "2")


def press(view: View) -> Action:
    """Presses once, then is done."""
    return Answer("") if view.done else Click(view.find("button").mark)


def give_up(view: View) -> Action:
    """Presses, sees that this was not it, and gives up."""
    return GiveUp("there is no other button") if view.done else press(view)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page, and two suites on it, one of them with seeds."""
    monkeypatch.chdir(tmp_path)
    for name, subset in (("toy", ""), ("toy-seeded", "seeded")):
        monkeypatch.setitem(BENCHMARKS, name, Benchmark("a page", 3, toy.__name__, subset))
    (tmp_path / "toy.html").write_text(toy.PAGE)
    return tmp_path


def solve(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have oracles for these tasks."""
    for name in names:
        monkeypatch.setitem(ORACLES, name, give_up if name == "impossible" else press)


@pytest.mark.very_slow
@pytest.mark.browser
def test_baselines_stand_beside_the_policy_on_the_same_tasks_and_are_none_of_its_episodes(
    folder, monkeypatch, capsys
):
    solve(monkeypatch, "press", "impossible")
    assert cli.main(["benchmark", "toy-seeded", *ASKED[1:], "--seeds", "3", "--name", "a"]) == 0
    summary = read_summary(folder / "runs" / "a")
    (arm,) = summary["arms"]
    assert {name: rate["success"] for name, rate in arm["by_task"].items()} == {
        "press": 1.0,
        "press-again": 0.0,
        "impossible": 1.0,
    }
    assert arm["rounds"][-1]["episodes"] == 9
    rows = {row["name"]: row for row in summary["baselines"]}
    assert {name: (row["success"], row["episodes"]) for name, row in rows.items()} == {
        "do nothing": (0.0, 6),
        "give up at once": (pytest.approx(1 / 3), 6),
        "blind replay": (1.0, 4),
    }
    assert rows["do nothing"]["policy"] == pytest.approx(2 / 3)
    assert rows["blind replay"]["policy"] == 1.0
    told = " ".join(capsys.readouterr().out.split())
    assert "nothing to replay for 1 of 3 tasks (press-again)" in told
    with Store.open(folder / "runs" / "a") as store:
        shown = store.entries(phase="record")
        assert {entry.seed for entry in shown} == {1_000_000}, "a seed that is not measured"
        assert summary["spent"]["episodes"] == 9


@pytest.mark.browser
def test_a_template_counts_once_however_many_tasks_it_has(folder, monkeypatch, capsys):
    solve(monkeypatch, "press", "press-again")
    assert cli.main(["benchmark", *ASKED, "--name", "a", "--seeds", "2", "--no-baselines"]) == 0
    summary = read_summary(folder / "runs" / "a")
    assert summary["arms"][0]["rounds"][-1]["success"] == pytest.approx(2 / 3)
    (row,) = summary["macro"]
    assert (row["success"], row["templates"]) == (0.5, 2)
    assert row["low"] == 0.0
    assert row["high"] == 1.0
    told = " ".join(capsys.readouterr().out.split())
    assert "oracle: 50.0 % on average over 2 templates" in told
    assert "baselines: left out, as --no-baselines says" in told
    assert "2 repeats of each task: its tasks are the same whatever the seed" in told
    for name in ("benchmark", "policy", "judge", "judged as", "begun", "commit", "Chromium"):
        assert f"{name}: " in told
    assert summary["setup"]["judged as"] == "checks_hold@2"
    assert "on average over 2 templates" in (folder / "runs" / "a" / "report.html").read_text()


@pytest.mark.browser
def test_successes_of_another_run_are_replayed(folder, monkeypatch):
    solve(monkeypatch, "press", "impossible")
    asked = (*ASKED, "--tasks", "press", "impossible")
    assert cli.main(["benchmark", *asked, "--name", "a", "--no-baselines"]) == 0
    assert cli.main(["benchmark", *asked, "--name", "b", "--replay", "runs/a"]) == 0
    summary = read_summary(folder / "runs" / "b")
    rows = {row["name"]: row["success"] for row in summary["baselines"]}
    assert rows == {"do nothing": 0.0, "give up at once": 0.5, "blind replay": 1.0}
    assert summary["notes"] == [
        "blind replay: of a success of each task that the episodes of runs/a show"
    ]


@pytest.mark.browser
def test_where_nothing_can_be_replayed_the_report_says_so(folder, capsys):
    cli.main(["benchmark", *ASKED, "--name", "a", "--tasks", "press"])
    told = " ".join(capsys.readouterr().out.split())
    assert "blind replay: not played, oracles show no success of these tasks" in told


def played(run: Path) -> int:
    """Episodes that have come to an end in a store that another process writes."""
    if not (run / "run.sqlite").exists():
        return 0
    with closing(sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)) as database:
        return int(
            database.execute(
                "SELECT count(*) FROM episodes WHERE ending IS NOT NULL AND phase = 'evaluate'"
            ).fetchone()[0]
        )


@pytest.mark.very_slow
@pytest.mark.browser
def test_a_run_that_was_killed_comes_to_what_it_would_have_come_to(folder, monkeypatch):
    solve(monkeypatch, *toy.NAMES)
    asked = [*ASKED, "--seeds", "4", "--baseline-seeds", "1"]
    script = (
        "import sys\nfrom recipes import cli\n"
        "from benchmarks.catalogue import BENCHMARKS, Benchmark\n"
        "from tests.loop.measurement import test_measuring as own, toy\n"
        "from benchmarks.oracles import ORACLES\n"
        "BENCHMARKS['toy'] = Benchmark('a page', 3, toy.__name__)\n"
        "ORACLES.update({n: own.give_up if n == 'impossible' else own.press for n in toy.NAMES})\n"
        "sys.exit(cli.main(['benchmark', *sys.argv[1:]]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", script, *asked, "--name", "killed"]
    running = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    run, deadline = folder / "runs" / "killed", time.monotonic() + 120
    while played(run) < 3 and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.wait(timeout=30)
    assert 3 <= played(run) < 12
    assert cli.main(["benchmark", "--resume", str(run)]) == 0
    assert cli.main(["benchmark", *asked, "--name", "whole"]) == 0
    killed, whole = read_summary(run), read_summary(folder / "runs" / "whole")
    assert killed["arms"][0]["by_task"] == whole["arms"][0]["by_task"]
    assert killed["baselines"] == whole["baselines"]
    assert killed["macro"] == whole["macro"]
    with Store.open(run) as one, Store.open(folder / "runs" / "whole") as other:
        places = [[(e.phase, e.arm, e.task, e.seed) for e in run.entries()] for run in (one, other)]
        assert places[0] == places[1], "the same episodes, whichever were played first"


def test_a_preview_tells_judge_templates_baselines_and_what_is_missing(folder, monkeypatch, capsys):
    solve(monkeypatch, "press")
    assert cli.main(["benchmark", *ASKED, "--preview", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["preview"]
    assert (facts["tasks"], facts["templates"], facts["episodes"]) == (3, 2, 3)
    assert facts["steps at most"] == 12
    assert facts["judge"] == "rules"
    assert facts["infeasible"] == "1 tasks (impossible): right is to give up"
    counted, replayed = facts["baselines"]
    assert counted.startswith("7 episodes: 3 of do nothing, 3 of give up at once, 1 of blind")
    assert "nothing to replay for 2 of 3 tasks" in replayed
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("asked", "status", "answer"),
    [
        (("--judge", "jugde"), Status.USAGE, "'jugde' is not an evaluator"),
        (("--judge", "judge:webvoyager"), Status.USAGE, "name it with --judge-model"),
        (("--replay", "nowhere"), Status.SETUP, "nowhere"),
        (("--addresses", "nowhere.toml"), Status.SETUP, "nowhere.toml cannot be read"),
        (("--har", "nowhere.har"), Status.SETUP, "nowhere.har cannot be read"),
        (("--baseline-seeds", "-1"), Status.USAGE, "must be at least 1, the last 0"),
        (("--first-seed", "1000000"), Status.USAGE, "a split has 1,000,000 seeds"),
        (("--first-seed", "-1"), Status.USAGE, "the first of which is 0"),
    ],
)
def test_a_mistake_is_named_before_anything_is_played(folder, capsys, asked, status, answer):
    assert cli.main(["benchmark", *ASKED, *asked]) == status
    assert answer in " ".join(capsys.readouterr().err.split())
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "names no sites"),
        ("shopping = 1", "shopping is 1; expected an http address"),
        ("shopping = 'localhost:7770'", "expected an http address"),
        ("shopping", "is not TOML"),
    ],
)
def test_addresses_that_make_no_sense_are_named(folder, capsys, text, answer):
    (folder / "addresses.toml").write_text(text)
    assert cli.main(["benchmark", *ASKED, "--addresses", "addresses.toml", "--preview"]) == 3
    assert answer in capsys.readouterr().err


def test_tables_that_change_while_nothing_is_done_are_named():
    def played(arm, **changes):
        task, origin = Task("a/b@1", "http://a/"), Provenance(arm=arm)
        return Trajectory(arm, task, "", provenance=origin, evidence={"changes": changes})

    acted, idle = played("policy", ticket={}), played("do nothing", visit={"changed": [{}]})
    assert describe_changes([acted, played("do nothing")]) == []
    [sentence] = describe_changes([acted, idle])
    assert "visit changed all the same" in sentence and "ticket" not in sentence
