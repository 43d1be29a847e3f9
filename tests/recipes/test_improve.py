"""The loop through its real entry point: all arms, small, in a real Chromium; and under kill -9."""

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from loop.arms import ARMS
from loop.flat import compose
from loop.folder import RunFolder
from loop.settings import ImproveConfig
from loop.task_split import split_tasks
from recipes import cli
from recipes import improve as improve_recipe
from webagent.models.weight_notes import write_role
from webagent.records import Trajectory
from webagent.store import Store
from worldmodel import lookahead
from worldmodel.lookahead import ASKED, Gate

pytestmark = pytest.mark.browser
PAGES = Path(__file__).parents[1] / "pages"
TINY = shlex.split(
    """--tasks click-test --rounds 1 --steps 12 --base-tokens 1000 --round-tokens 500
--evaluate 1 --arms none self"""
)

SMALL = shlex.split(
    """--tasks click-widget login-user count-sides --demonstrations 1 --rounds 2 --steps 24
--base-tokens 3000 --round-tokens 1500
--evaluate 1 --dreams 4"""
)


def improve(*arguments: str) -> list[str]:
    """The command line of a small run."""
    return [sys.executable, "-m", "recipes.cli", "improve", *arguments]


def finished(run: Path) -> dict[str, Trajectory]:
    """Every episode that had ended, by id."""
    with Store.open(run) as store:
        return {t.id: t for t in store.trajectories("finished")}


def played(episodes: dict[str, Trajectory]) -> dict[tuple[object, ...], list[str]]:
    """What was done in every real, judged episode, attempts and times apart."""
    return {
        (p.arm, p.repeat, p.round, p.phase, p.index, t.task.id, t.task.seed): [
            repr(step.decision.action) for step in t.steps
        ]
        for t, p in ((each, each.provenance) for each in episodes.values())
        if t.ending is not None and not t.ending.is_infrastructure
    }


OWN = """[tasks.{name}]
url = "{url}"
goal = "What is the word of {name}? Answer with it."
max_steps = 2
answer = "{name}"
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_tasks_of_ones_own_are_learnt_on_and_others_of_them_measured_on(
    tmp_path, capsys, jobs_here
):
    """With a file of proposals, one of which copies a task that is held out."""
    names, url = ["alder", "birch", "cedar", "elm", "fir", "oak"], (PAGES / "form.html").as_uri()
    own = tmp_path / "own.toml"
    own.write_text("".join(OWN.format(name=name, url=url) for name in names))
    held = split_tasks(compose(ImproveConfig, benchmark="own", files=own)).measured[0]
    goal = f"What is the word of {held}? Answer with it."
    copied = {"id": "own/copy@1", "start_url": url, "goal": goal}
    proposals = tmp_path / "proposals.jsonl"
    proposals.write_text(json.dumps({"source": "pages", "reason": "seen", "task": copied}) + "\n")
    tasks = ["--benchmark", "own", "--files", str(own), "--runs", str(tmp_path)]
    small = shlex.split("--rounds 1 --steps 8 --round-tokens 500 --arms none self --workers 1")
    run = ["--name", "run", "--proposals", str(proposals)]
    assert cli.main(["improve", *tasks, *small, *run]) == 0
    assert "0 proposed tasks are practised, 1 refused, as copy" in capsys.readouterr().out
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    split = summary["tasks_by_use"]
    assert (split["by"], len(split["learning"]), len(split["measured"])) == ("task", 4, 2)
    assert summary["tasks"] == split["measured"] and list(split["refused"]) == ["copy"]
    for trajectory in finished(tmp_path / "run").values():
        phase, name = trajectory.provenance.phase, trajectory.task.name
        assert name in split["measured" if phase == "evaluate" else "learning"]
    assert cli.main(["improve", *tasks, *small, "--tasks", "elm", "fir", "--name", "few"]) == 2
    assert "a figure of one task says nothing" in capsys.readouterr().err


@pytest.mark.very_slow
@pytest.mark.timeout(900)
def test_all_arms_of_the_built_in_policy_run_and_are_summarised(tmp_path, capsys):
    arguments = ["--runs", str(tmp_path), "--name", "run", *SMALL, "--arms", "all"]
    write_role(tmp_path, "policy")
    weights = ["--policy", f"local:{tmp_path}"]
    for flags, refusal in (
        ([], "rerank asks a judge about each candidate"),
        (["--lookahead-by", "rules"], "imagined is for language models"),
        (["--imagined-share", "1.2"], "give a share from 0 to 1"),
        (["--imagined-share", "0.3", *weights], "needs a judge of imagined episodes"),
    ):
        arguments += flags
        assert cli.main(["improve", *arguments]) == 2
        assert refusal in capsys.readouterr().err
    arms = [name for name, arm in ARMS.items() if not arm.dreams]
    arguments = [*arguments[: -len(weights)], "--arms", *arms]
    assert cli.main(["improve", *arguments]) == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    names = [arm["name"] for arm in summary["arms"]]
    assert set(names) == set(arms)
    by_name = {arm["name"]: arm for arm in summary["arms"]}
    assert by_name["self"]["rounds"][-1]["real_steps"] > 0
    assert by_name["control"]["rounds"][-1]["real_steps"] == 0
    assert 0 < max(row["real_steps"] for row in by_name["self"]["rounds"]) <= 48
    assert (tmp_path / "run" / "report.html").stat().st_size > 1000


@pytest.mark.very_slow
def test_an_arm_that_looks_ahead_by_what_is_remembered_trains_no_network(
    tmp_path, monkeypatch, jobs_here
):
    # A lead is always small enough to look ahead.
    monkeypatch.setattr(lookahead, "Gate", partial(Gate, margin=99.0))
    # There memory is not certain which number to press: it has several to compare.
    more = shlex.split("--arms lookahead --tasks count-sides --world map --workers 1")
    assert cli.main(["improve", "--runs", str(tmp_path), "--name", "run", *[*TINY, *more]]) == 0
    with Store.open(tmp_path / "run") as store:
        measured = list(store.trajectories(arm="lookahead", phase="evaluate"))
        versions = {
            arm: {
                step.decision.weights
                for trajectory in store.trajectories(arm=arm, phase="evaluate")
                for step in trajectory.steps
            }
            for arm in ("none", "self", "lookahead")
        }
    assert versions["none"] != versions["self"] == versions["lookahead"]
    decisions = [step.decision for trajectory in measured for step in trajectory.steps]
    assert any(ASKED in decision.usage for decision in decisions)
    assert not list((tmp_path / "run" / "weights").glob("*/*/world"))


def test_the_arm_that_practises_begins_before_the_control(tmp_path: Path) -> None:
    config = compose(ImproveConfig, arms=("none", "control", "self", "lookahead"))
    jobs = improve_recipe.list_jobs(config, RunFolder(tmp_path))
    assert [(job.name, job.after) for job in jobs] == [
        ("none 0", ""),
        ("self 0", "none 0"),
        ("lookahead 0", "self 0"),
        ("control 0", "none 0"),
    ]


@pytest.mark.parametrize(
    ("workers", "order"), [(1, "none0 self0 none1 self1"), (2, "none0 none1 self0 self1")]
)
def test_one_worker_ends_a_repeat_before_it_begins_the_next(tmp_path, workers, order):
    config = compose(ImproveConfig, arms=("none", "self"), repeats=2)
    jobs = improve_recipe.list_jobs(config, RunFolder(tmp_path), workers)
    assert " ".join(job.name.replace(" ", "") for job in jobs) == order


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"arms": ["none", "judged"]}, "the arm 'judged' was removed"),
        ({"curriculum": "on"}, "with settings that are gone (curriculum)"),
        ({"arms": ["none", "self", "both"]}, "the arm 'both' was removed"),
        ({"observation": "cropped"}, "webagent: unknown observation 'cropped'; known: "),
    ],
)
def test_a_run_that_needs_what_was_removed_is_not_resumed(tmp_path, capsys, settings, complaint):
    run = RunFolder.create(tmp_path / "run", ImproveConfig(), ["webagent", "improve"]).path
    file = json.loads((run / "run.json").read_text())
    file["config"] |= settings
    (run / "run.json").write_text(json.dumps(file))
    assert cli.main(["improve", "--resume", str(run)]) in (2, 3)
    assert complaint in capsys.readouterr().err


def kill_at_random(command: list[str], run: Path, longest: float, kills: int = 10) -> int:
    """Start, kill with -9 and resume a run so many times, each after 1.5 seconds to the longest;
    return how often it was killed, less where it came to its end before.

    What had ended stays as it was, and nothing that the run started outlives it.
    """
    rng, killed = random.Random(0), 0
    while killed < kills:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(rng.uniform(1.5, longest))
        except subprocess.TimeoutExpired:
            before = finished(run) if (run / "run.json").exists() else {}
            children = psutil.Process(process.pid).children(recursive=True)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            assert_all_gone(children)
            killed += 1
        else:
            assert process.returncode == 0
            break
        if (run / "run.json").exists():
            after = finished(run)
            assert {i: after[i] for i in before} == before
            command = improve("--resume", str(run))
    return killed


@pytest.mark.very_slow
def test_ten_kills_lose_nothing_and_change_nothing(tmp_path: Path) -> None:
    """Ten kills at random moments, then the run to its end: as if nothing had happened."""
    settings = ["--runs", str(tmp_path), "--arms", "none", "self", *SMALL]
    calm = tmp_path / "calm"
    assert subprocess.run(improve("--name", "calm", *settings), check=False).returncode == 0
    run = tmp_path / "killed"
    assert kill_at_random(improve("--name", "killed", *settings), run, 9.0) > 0
    subprocess.run(improve("--resume", str(run)), check=True, stdout=subprocess.DEVNULL)
    assert played(finished(run)) == played(finished(calm))
    again = subprocess.run(improve("--resume", str(run)), check=True, capture_output=True)
    assert b"measure" not in again.stdout and b"report:" in again.stdout


def assert_all_gone(processes: list[psutil.Process]) -> None:
    """No worker and no Chromium outlives the run by more than a few seconds."""
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        alive = [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
        if not alive:
            return
        time.sleep(0.2)
    pytest.fail(f"still running: {[p.cmdline()[:2] for p in alive]}")
