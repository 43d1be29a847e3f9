"""A benchmark measures, resumes, stops in order, and finds mistakes before it spends anything."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from io import StringIO
from pathlib import Path

import psutil
import pytest

from apps.view.contents import Archive
from apps.view.pages import Pages
from benchmarks.miniwob import tasks as miniwob
from loop.console.output import Status, Stopped, run_until_stopped
from loop.console.progress import count_episodes
from loop.console.screen import PlainConsole
from loop.failures import summarize_failures
from loop.flat import compose
from loop.folder import RunFolder
from loop.measurement.selection import TaskSelection
from loop.measurement.settings import BenchmarkConfig
from loop.summary import read_summary
from recipes import cli
from tests.fakes.run import episode
from webagent.records import Ending, Provenance, Trajectory
from webagent.rollout import INTERRUPTED
from webagent.store import Store

pytestmark = pytest.mark.usefixtures("folder")

TWO = ("--tasks", "click-test-2", "login-user", "--seeds", "2", "--concurrency", "2")


def played(run: Path) -> int:
    """How many steps are safe in a run's store, while another process may be writing to it."""
    if not (run / "run.sqlite").exists():
        return 0
    with closing(sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)) as database:
        return int(database.execute("SELECT count(*) FROM steps").fetchone()[0])


def test_another_form_of_page_is_for_models_that_read_it(capsys):
    assert cli.main(["benchmark", *TWO, "--observation", "html"]) != 0
    assert "--observation html is for --policy endpoint" in capsys.readouterr().err
    assert cli.main(["benchmark", *TWO, "--observation", "htm"]) != 0
    assert "did you mean html?" in capsys.readouterr().err


def test_a_mistake_in_a_guard_is_found_before_anything_is_played(folder, capsys):
    (folder / "guard.toml").write_text("other_site = 'deny'")
    assert cli.main(["benchmark", *TWO, "--guard", "guard.toml"]) == 2
    assert "did you mean other_sites" in capsys.readouterr().err
    assert not (folder / "runs").exists()


@pytest.mark.browser
def test_a_guard_leaves_the_benchmarks_own_pages_open(folder: Path) -> None:
    (folder / "guard.toml").write_text("")
    more = ["--guard", "guard.toml", "--name", "g", "--no-baselines"]
    assert cli.main(["benchmark", *TWO, *more]) == 0
    (arm,) = read_summary(folder / "runs" / "g")["arms"]
    assert [rate["success"] for rate in arm["by_task"].values()] == [1.0, 1.0]
    with Store.open(folder / "runs" / "g") as store:
        kept = [store.load(name) for name in store.ids(phase="evaluate")]
    assert [each and each.evidence["guard"] for each in kept] == [
        {"refused": 0, "refusals": []}
    ] * 4


@pytest.mark.browser
def test_the_oracle_solves_two_tasks_and_resuming_plays_nothing_again(folder, capsys):
    assert cli.main(["benchmark", *TWO, "--name", "a", "--no-baselines"]) == 0
    shown = capsys.readouterr()
    assert "oracle succeeds in 100.0 % of 4 held-out episodes" in " ".join(shown.out.split())
    assert "4/4 episodes" in shown.err
    run = folder / "runs" / "a"
    summary = read_summary(run)
    (arm,) = summary["arms"]
    assert [rate["success"] for rate in arm["by_task"].values()] == [1.0, 1.0]
    assert list(arm["by_task"]) == ["click-test-2", "login-user"]
    assert summary["seeds"] == [2_000_000, 2_000_001]
    assert summary["command"].startswith("webagent benchmark --tasks click-test-2")
    assert (run / "report.html").exists()
    steps = played(run)
    assert steps >= 2 * 1 + 2 * 3
    assert cli.main(["benchmark", "--resume", str(run), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert played(run) == steps
    assert again["arms"][0]["by_task"] == arm["by_task"]


@pytest.mark.very_slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("stop", "status"),
    [pytest.param(os.kill, 143, marks=pytest.mark.very_slow), (os.killpg, 130)],
)
def test_a_signal_closes_the_browser_keeps_every_step_and_counts_as_nobodys_failure(
    folder, stop, status, capsys
):
    """SIGTERM to the process, or Ctrl-C, which a terminal sends to the whole group."""
    tasks = ("--tasks", "login-user", "--seeds", "6", "--no-baselines")
    command = [sys.executable, "-m", "recipes.cli", "benchmark", *tasks, "--name", "s"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    running = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )
    run, deadline = folder / "runs" / "s", time.monotonic() + 120
    while played(run) < 2 and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    children = psutil.Process(running.pid).children(recursive=True)
    stop(running.pid, status - 128)
    _, err = running.communicate(timeout=60)
    assert running.returncode == status, err
    assert f"webagent benchmark --resume {run.relative_to(folder)}" in err
    assert children
    _, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []
    with Store.open(run) as store:
        assert store.count_real_steps() >= 1
        assert len(store.ids(phase="evaluate")) < 6
    assert cli.main(["benchmark", "--resume", str(run)]) == 0
    assert "environment" not in capsys.readouterr().out
    summary = read_summary(run)
    assert (summary["arms"][0]["rounds"][0]["episodes"], summary["failures"]["masked"]) == (6, 0)
    assert not any(n for name, n in summary["failures"].items() if name != INTERRUPTED)
    assert summarize_failures(run).failures == 0
    assert cli.main(["report", str(run), "--failures"]) == 0
    assert "none of 6 evaluation episodes with a verdict failed" in capsys.readouterr().out
    pages = Pages.of(Archive(folder / "runs"))
    contents = pages.contents.contents(pages.archive.run("s"))
    assert pages.causes.known(pages.archive.run("s"), contents).failures == 0


def test_a_preview_says_what_would_be_played_and_plays_nothing(folder, capsys):
    assert cli.main(["benchmark", "--tasks", "all", "--seeds", "3", "--preview", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["preview"]
    assert (facts["tasks"], facts["episodes"]) == (125, 375)
    assert facts["steps at most"] >= 375 * 10
    assert facts["seeds"] == "test 2000000 to 2000002"
    assert cli.main(["benchmark", "--preview"]) == 0
    assert "episodes        200" in capsys.readouterr().out
    assert list(folder.iterdir()) == []


def test_a_preview_says_what_answers_pass_and_which_file_of_sites_is_missing(folder, capsys):
    task = '[tasks.{0}]\nurl = "http://x.test"\ngoal = "g"\nanswer = "349"\ncompare = "{0}"\n'
    (folder / "own.toml").write_text("".join(map(task.format, ("number", "exact"))))
    line = "benchmark own --files own.toml --sites gone.toml --preview --json"
    assert cli.main(line.split()) == 0
    facts = json.loads(capsys.readouterr().out)["preview"]
    number, exact = facts["answers"]
    assert number.startswith("number: '349'; passes: A text whose numbers are all the")
    assert exact.startswith("exact: '349'; passes: The same")
    assert facts["missing"] == ["gone.toml cannot be read: No such file or directory"]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (["--tasks", "clik-button"], "unknown task 'clik-button'; did you mean click-button"),
        (["--policy", "orcle"], "unknown policy 'orcle'; did you mean oracle"),
        (["--policy", "model:nowhere"], "no saved model in 'nowhere'"),
        (["--policy", "endpoint"], "give it as --model"),
        (["--benchmark", "minwob"], "unknown benchmark 'minwob'; did you mean miniwob"),
        (["--split", "tset"], "unknown split 'tset'; did you mean test"),
        (["--seeds", "0"], "must be at least 1"),
        (["--resume", "nowhere"], "is not a run folder"),
    ],
)
def test_a_mistake_is_answered_with_a_sentence_and_leaves_nothing_behind(
    folder, capsys, asked, answer
):
    status = Status.SETUP if "--resume" in asked else Status.USAGE
    assert cli.main(["benchmark", *asked]) == status
    assert answer in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_a_run_of_another_recipe_is_not_resumed(folder, capsys):
    RunFolder.create(folder / "other", BenchmarkConfig(), ["webagent", "improve"])
    assert cli.main(["benchmark", "--resume", "other"]) == 3
    assert "is a run of another command" in capsys.readouterr().err


def test_every_task_is_played_once_before_any_is_played_again() -> None:
    plan = TaskSelection.of(compose(BenchmarkConfig, tasks=("twenty",), seeds=2)).plan("oracle")
    assert [entry.task.name for entry in plan] == [*miniwob.FIRST_TWENTY] * 2
    assert {entry.task.seed for entry in plan[:20]} == {2_000_000}


def test_seeds_that_nobody_has_looked_at_begin_where_they_are_told_to() -> None:
    config = compose(BenchmarkConfig, tasks=("click-test",), seeds=2, first_seed=500)
    seeds = [entry.task.seed for entry in TaskSelection.of(config).plan("oracle")]
    assert seeds == [2_000_500, 2_000_501]
    assert TaskSelection.of(config).describe_seeds() == "test 2000500 to 2000501"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_work_after_it_has_cleaned_up(number, status):
    cleaned = []
    before = signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL
    signal.signal(number, before)  # a shell starts what it puts into the background without it

    async def work() -> None:
        try:
            os.kill(os.getpid(), number)
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append(number)

    with pytest.raises(Stopped, match=number.name) as stopped:
        run_until_stopped(work())
    assert (stopped.value.status, cleaned) == (status, [number])
    assert signal.getsignal(number) is before


def told(total: int, *attempts: tuple[Trajectory, float | None]) -> str:
    """What the counter says of these attempts at a plan of so many episodes."""
    text = StringIO()
    with count_episodes(total, PlainConsole(file=text, width=200)) as counter:
        for trajectory, success in attempts:
            counter.count(trajectory, success, is_new=True)
    return text.getvalue()


def test_the_meter_counts_episodes_and_sets_failures_of_the_world_aside() -> None:
    good = episode(Provenance(), "click-link", 0, True)
    crashed = replace(good, ending=Ending.WORLD_FAILED, error="the tab crashed [hard]")
    assert "2/2 episodes  50.0 % success" in told(2, (good, 1.0), (good, 0.0))
    shown = told(1, (crashed, None), (good, 1.0))
    assert "1/1 episodes  100.0 % success" in shown
    assert "1 set aside, the last: the tab crashed [hard]" in shown
    shown = told(1, (replace(crashed, error=INTERRUPTED), None), (good, 1.0))
    assert "1/1 episodes  100.0 % success" in shown
    assert "set aside" not in shown, "what a kill cut off is no trouble"
