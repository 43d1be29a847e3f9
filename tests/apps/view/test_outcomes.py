"""The list of runs says what each was for and came to; a task's page opens on its answer."""

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from apps.view.contents import Archive
from apps.view.episode.film import changed_lines
from apps.view.pages import Pages
from loop.folder import PROGRESS, RunFolder
from loop.notes import read_warnings
from loop.summary import RunMeta, summarize, write_summary
from tests.fakes.run import JUDGE, episode, measure
from webagent.records import Ending, Node, Observation, Provenance, Score
from webagent.store import Store

pytestmark = pytest.mark.slow  # seconds together

View = Callable[[Path], str]
PLACE = Provenance(phase="run", arm="big-1")


@dataclass(frozen=True)
class TaskSettings:
    """As `webagent run` writes them, as far as the viewer reads them."""

    task: str
    max_steps: int = 3


@dataclass(frozen=True)
class ResumableSettings:
    """As `webagent benchmark` writes them, as far as the viewer reads them."""

    benchmark: str = "miniwob"
    tasks: tuple[str, ...] = ("click-link",)
    resume: Path | None = None


def task_run(runs: Path, name: str, ending: Ending, answer: str = "") -> Path:
    """A run of one task that ended so."""
    folder = RunFolder.create(runs / name, TaskSettings(f"Buy <b>{name}</b>"), ["webagent", "run"])
    with folder.store() as store:
        store.add(replace(episode(PLACE, "buy", 1, True), ending=ending, error="no server"))
    said = {"outcome": ending, "answer": answer, "tokens": 1234, "cost": 0.5, "currency": "EUR"}
    folder.write_json("result.json", {**said, "reason": "" if answer else "no server"})
    return folder.path


def measured_run(runs: Path, name: str, *, is_over: bool) -> Path:
    """A measurement of two episodes, finished or stopped."""
    folder = RunFolder.create(runs / name, ResumableSettings(), ["webagent", "benchmark"])
    with folder.store() as store:
        for seed in (1, 2):
            measure(store, Provenance(phase="evaluate", arm="a"), "click-link", seed, seed == 1)
    if is_over:
        folder.write_json("summary.json", {})
    return folder.path


def get(address: str) -> str:
    """The text of a page."""
    with urlopen(address) as response:
        return str(response.read().decode())


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Runs of every outcome."""
    folder = tmp_path / "runs"
    task_run(folder, "kayak", Ending.ANSWERED, "It costs 420")
    task_run(folder, "deaf", Ending.MODEL_FAILED)
    task_run(folder, "lost", Ending.STEP_LIMIT)
    measured_run(folder, "whole", is_over=True)
    measured_run(folder, "half", is_over=False)
    return folder


def test_the_list_tells_a_failed_model_from_success_and_says_the_goal(runs, view):
    text = get(view(runs))
    for name, tone, word in (
        ("kayak", "good", "answered"),
        ("deaf", "warn", "model failed"),
        ("lost", "bad", "step limit"),
        ("whole", "", "finished"),
        ("half", "warn", "interrupted"),
    ):
        row = text.partition(f'href="/run/{name}"')[2].partition("</tr>")[0]
        assert f'<span class="pill {tone}">{word}</span>' in row, name
    assert "Buy &lt;b&gt;kayak" in text and "benchmark miniwob click-link" in text


def test_a_run_whose_judge_abstained_from_everything_is_not_called_finished(tmp_path, view):
    run = measured_run(tmp_path / "runs", "mute", is_over=True)
    with Store.open(run) as store:
        for id in store.ids():
            store.score(id, Score("success", None, "no last page", JUDGE))
    os.utime(run / "summary.json")
    assert ">no verdict</span>" in get(f"{view(tmp_path / 'runs')}/")


def test_a_run_says_when_it_ended_and_how_long_it_took_by_its_own_word(tmp_path, view):
    run = measured_run(tmp_path / "runs", "whole", is_over=True)
    with Store.open(run) as store:
        began = min(entry.started for entry in store.entries())
    (run / "summary.json").write_text(json.dumps({"ended": began + 90}))
    assert "<dt>took</dt><dd>2 min</dd>" in get(f"{view(tmp_path / 'runs')}/run/whole")
    (run / "summary.json").write_text(json.dumps({"ended": time.time() - 7200}))
    archive = Archive(tmp_path / "runs")
    assert Pages.of(archive).state(archive.run("whole"))["text"] == "finished 2 h ago"


def test_the_list_is_searched_and_sorted(runs: Path, view: View) -> None:
    address = view(runs)
    found = get(f"{address}/?q=BUY+answered")
    assert 'href="/run/kayak"' in found and 'href="/run/deaf"' not in found
    assert "1 of 5 runs have these words" in found
    names = ["deaf", "half", "kayak", "lost", "whole"]
    for sort, expected in (("run", names), ("-run", names[::-1])):
        text = get(f"{address}/?sort={sort}")
        places = [text.index(f'href="/run/{name}"') for name in expected]
        assert places == sorted(places)
    assert "0 of 5 runs" in get(f"{address}/?q=nothing+of+that&sort=wrong")


def test_a_task_opens_on_its_answer_and_hands_out_its_files_alone(runs: Path, view: View) -> None:
    for name in ("trace/one.zip", "downloads/a b.html"):
        (runs / "kayak" / name).parent.mkdir()
        (runs / "kayak" / name).write_text("<script>alert(1)</script>")
    (runs / "kayak" / "downloads" / "link").symlink_to(runs / "kayak" / "run.json")
    address = view(runs)
    text = get(f"{address}/run/kayak")
    assert "It costs 420" in text and "0.5 EUR" in text and "1,234" in text
    assert "Step by step" in text and "Nothing has been measured" not in text
    for name, kind in (("trace/one.zip", "attachment"), ("downloads/a%20b.html", "attachment")):
        assert f"/run/kayak/file/{name}" in text
        with urlopen(f"{address}/run/kayak/file/{name}") as response:
            assert response.headers["content-disposition"].startswith(kind)
    for name in ("run.json", "run.sqlite", "downloads/link", "trace/..%2Frun.json", "downloads/"):
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{address}/run/kayak/file/{name}")
    assert "no server" in get(f"{address}/run/deaf")


def test_an_interrupted_run_says_how_to_go_on_and_nothing_is_under_way(runs, view):
    with Store.open(runs / "half") as store:
        begun = episode(Provenance(phase="evaluate", arm="a", index=9), "click-link", 9, True)
        store.begin(replace(begun, steps=(), last=None, ending=None))
    address = view(runs)
    text = get(f"{address}/run/half")
    assert "webagent benchmark --resume" in text and "runs/half</code>" in text
    assert "under way" not in text and "<dt>interrupted</dt><dd>1</dd>" in text
    assert "--resume" not in get(f"{address}/run/whole")
    assert "interrupted</span>" in get(f"{address}/run/half/episodes?q=running")


def test_a_run_that_never_played_is_not_to_be_gone_on_with(tmp_path: Path, view: View) -> None:
    still = tmp_path / "runs" / "still"
    RunFolder.create(still, ResumableSettings(), ["webagent", "benchmark"])
    for name in ("run.json", "run.sqlite"):
        os.utime(still / name, (1e9, 1e9))
    address = view(tmp_path / "runs")
    text = get(f"{address}/run/still")
    assert "--resume" not in text and "No episode has been played" in text
    assert ">never began</span>" in get(f"{address}/")


def test_judging_a_run_that_is_over_does_not_make_it_live(runs: Path) -> None:
    pages = Pages.of(Archive(runs))
    run = pages.archive.run("whole")
    before = time.time() + 1
    os.utime(run.path / "summary.json", (before, before))
    with Store.open(run.path) as store:
        store.score(store.ids("any")[0], Score("success", 0.0, "it does not hold", "other@1"))
        later = before + 30
        os.utime(run.path / "run.sqlite", (later, later))
        assert run.is_over() and not run.is_finished()
        assert pages.state(run)["kind"] == "rest"


def test_a_run_at_work_is_live(runs: Path) -> None:
    pages = Pages.of(Archive(runs))
    with Store.open(runs / "half") as store:
        store.put_state("at", "work")
        assert pages.state(pages.archive.run("half"))["kind"] == "running"
    assert json.loads((runs / "half" / "run.json").read_text())["command"][1] == "benchmark"
    assert pages.state(pages.archive.run("half"))["kind"] == "rest"


def test_a_run_is_live_for_as_long_as_it_is_held(runs: Path) -> None:
    pages, run = Pages.of(Archive(runs)), runs / "half"
    with RunFolder.open(run).locked(), Store.open(run) as store:
        store.put_state("at", "work")
        for name in ("run.sqlite", "run.sqlite-wal", "run.json"):
            os.utime(run / name, (time.time() - 600,) * 2)
        assert pages.state(pages.archive.run("half"))["kind"] == "running"
    (run / "run.sqlite-wal").touch()  # as a kill leaves it
    state = pages.state(pages.archive.run("half"))
    assert state["kind"] == "rest" and state["text"].startswith("stopped")


def test_a_run_in_training_shows_phase_loss_and_what_was_measured(runs: Path, view: View) -> None:
    run, address = runs / "half", view(runs)
    with Store.open(run) as store:
        store.put_state("at", "work")
        with closing(sqlite3.connect(run / "run.sqlite")) as database, database:
            database.execute("UPDATE episodes SET started = started - 100")
        for name in ("run.sqlite", "run.sqlite-wal", "run.json"):
            os.utime(run / name, (time.time() - 600,) * 2)
        assert "live</span>" not in get(f"{address}/")
        at_work = {"self 0": ["policy 45% loss 3.296", "round 1: 3 of 4 test episodes succeed"]}
        (run / PROGRESS).write_text(json.dumps(at_work))
        text = get(f"{address}/run/half")
        assert "<dt>took</dt><dd>2 min</dd>" in text  # training counts
        assert "policy 45% loss 3.296" in text and "round 1: 3 of 4 test" in text
        assert "Nothing has been measured" not in text and "stored nothing for a while" not in text
        assert "live</span>" in get(f"{address}/")
    while (run / "run.sqlite-wal").exists():  # the viewer was reading when it was closed
        Store.open(run).close()
    assert "policy 45%" not in get(f"{address}/run/half")  # closed, as its process ended


def test_a_run_repeats_the_command_as_it_is_typed_and_each_warning_once(tmp_path, view):
    command = ["webagent", "improve", "--name", "my run"]
    folder = RunFolder.create(tmp_path / "runs" / "flat", ResumableSettings(), command)
    with folder.store() as store:
        measure(store, Provenance(phase="evaluate", arm="self"), "click-link", 1, True)
        store.put_state("training:self:0", "nothing more is gained")
        notes = tuple(read_warnings(store))
        meta = RunMeta("miniwob@1", ("click-link",), "", folder.note_origin(), JUDGE, notes=notes)
        write_summary(summarize(store, meta), folder.path)
    text = get(f"{view(tmp_path / 'runs')}/run/flat")
    assert "webagent improve --name &#39;my run&#39;" in text
    assert text.count("nothing more is gained") == 1


def test_a_comparison_opens_on_a_run_of_the_same_benchmark(tmp_path: Path, view: View) -> None:
    runs = tmp_path / "runs"
    with Store.open(runs / "shop", create=True) as store:
        played = episode(Provenance(phase="evaluate"), "buy", 1, True)
        store.add(replace(played, task=replace(played.task, id="shop/buy@1")))
    for age, name in enumerate(("shop", "early", "first")):
        run = runs / name if name == "shop" else measured_run(runs, name, is_over=True)
        for file in run.iterdir():
            os.utime(file, (time.time() - 1000 * age,) * 2)
    text = get(f"{view(runs)}/compare/runs?a=first")
    assert '<option value="early" selected' in text.split('name="b"')[1]


def test_a_page_without_a_verdict_names_a_judge_that_can_give_one(runs: Path, view: View) -> None:
    address = view(runs)
    with Store.open(runs / "kayak") as store:
        (id,) = store.ids()
    text = get(f"{address}/run/kayak/episode/{id}")
    assert "--with judge:webvoyager --model NAME" in text and "--with rules" not in text


def test_each_row_of_a_tasks_page_names_its_arm(tmp_path: Path, view: View) -> None:
    run = measured_run(tmp_path / "runs", "whole", is_over=True)
    with Store.open(run) as store:
        for round in (1, 2):
            measure(
                store, Provenance(phase="evaluate", arm="a", round=round), "click-link", 1, True
            )
    rows = get(f"{view(tmp_path / 'runs')}/run/whole/task/click-link").split("<tbody>")[1]
    rows = rows.partition("</tbody>")[0]
    assert rows.count("<tr") == rows.count('<th scope="row"><span class="key') == 3


def test_elements_that_only_got_other_marks_have_not_changed() -> None:
    before = Observation(
        "g", "http://p/", "", (Node(1, "button", "Go"), Node(2, "textbox", "Name", "Ada"))
    )
    after = replace(
        before,
        nodes=(Node(1, "alert", "Saved"), Node(2, "button", "Go"), Node(3, "textbox", "Name", "B")),
    )
    said = changed_lines(before, after)
    assert ("+", '[1] alert "Saved"') in said
    assert not any("button" in line for _, line in said)
    assert [sign for sign, line in said if "Name" in line] != []
