"""What counts as an episode of the policy is the same for the viewer, attribution and summary."""

import html
import time
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest

from apps.report.page import format_page
from apps.view.contents import Archive, Contents, ContentsCache
from apps.view.episodes import count_outcomes, list_chips, read_filter
from apps.view.pages import CauseFinder
from apps.view.runs import standing
from loop.failures import attribute_failures, summarize_failures
from loop.origin import read_origin
from loop.summary import RunMeta, summarize
from recipes import cli
from tests.fakes.run import TASKS, episode, measure
from webagent.records import SET_APART, Provenance, Score
from webagent.store import Store

pytestmark = pytest.mark.slow  # seconds together

BASELINE, RECORDING = SET_APART


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three episodes of a policy of which one failed, three failed baselines, one recording that
    failed, and one imagined failure."""
    folder = tmp_path / "runs" / "one"
    with Store.open(folder, create=True) as store:
        place = Provenance(arm="m", phase="evaluate")
        for index, success in enumerate((True, True, False)):
            measure(store, replace(place, index=index), "click-link", index, success)
        for index in range(3):
            apart = Provenance(arm="do nothing", phase=BASELINE, index=index)
            measure(store, apart, "click-link", index, False)
        measure(store, Provenance(arm="oracle", phase=RECORDING), "click-link", 0, False)
        dreamt = Provenance(arm="m", phase="imagine", world="imagined")
        dream = episode(dreamt, "click-link", 0, False)
        store.add(dream)
        store.score(dream.id, Score("success", 0.0, "imagined", "checks_hold@2"))
    return folder


def test_the_rate_of_a_list_is_that_of_the_evaluation(tmp_path: Path) -> None:
    with Store.open(tmp_path / "one", create=True) as store:
        for phase, outcomes in {"demonstrate": "111", "collect": "00", "evaluate": "10"}.items():
            for index, outcome in enumerate(outcomes):
                place = Provenance(arm="self", phase=phase, index=index)
                measure(store, place, "click-link", index, outcome == "1")
    tally = count_outcomes(ContentsCache().contents(Archive(tmp_path).run("one")).lines)
    assert (tally["count"], tally["scored"], tally["success"]) == (7, 2, 0.5)
    assert tally["episodes"] == "evaluation episodes"


@pytest.fixture
def contents(run: Path) -> Contents:
    return ContentsCache().contents(Archive(run.parent).run("one"))


def test_one_of_three_failed_whoever_is_asked(run, contents, tmp_path):
    found, scored, _ = attribute_failures(run)
    assert (len(found), scored) == (1, 3)
    assert summarize_failures(run).failures == 1
    assert len(attribute_failures(run, BASELINE)[0]) == 3, "unless their phase is named"
    assert list(contents.failed) == [found[0].episode]
    finder = CauseFinder(tmp_path / "cache")
    known = finder.known(Archive(run.parent).run("one"), contents)
    finder.close()
    assert known.failures == 1
    with Store.open(run) as store:
        row = summarize(store, RunMeta("miniwob@1", TASKS, "", (read_origin(),)))["arms"][0]
    assert row["rounds"][-1]["success"] == pytest.approx(2 / 3)
    latest = standing(contents)
    assert latest is not None and (latest.success, latest.episodes) == (pytest.approx(2 / 3), 3)


def wait_for(text: str, address: str) -> None:
    """Read the run's page until it shows a text, which it finds out beside."""
    deadline = time.monotonic() + 20
    shown = ""
    while text not in shown:
        assert time.monotonic() < deadline
        time.sleep(0.1)
        with urlopen(f"{address}/run/one") as answer:
            shown = html.unescape(answer.read().decode())


def test_what_to_fix_first_is_of_the_evaluation_wherever_it_is_shown(run, view, capsys):
    with Store.open(run) as store:
        for index in range(9):
            measure(store, Provenance(arm="m", phase="collect", index=index), "t", index, False)
        page = format_page(
            summarize(store, RunMeta("miniwob@1", TASKS, "", (read_origin(),))), store
        )
    first = summarize_failures(run).first.partition(" See ")[0]
    assert ": 1 of 1 evaluation episodes without success" in first
    assert first in html.unescape(page)
    assert cli.main(["report", str(run), "--failures"]) == 0
    assert " ".join(first.split()) in " ".join(capsys.readouterr().out.split())
    wait_for(first, view(run.parent))


def test_of_several_arms_only_what_the_learner_still_does_wrong_is_to_be_fixed(tmp_path, view):
    folder = tmp_path / "runs" / "one"
    with Store.open(folder, create=True) as store:
        for index, (arm, number, successes) in enumerate(
            (("none", 0, "000"), ("control", 2, "000"), ("self", 1, "000"), ("self", 2, "110"))
        ):
            for at, outcome in enumerate(successes):
                place = Provenance(arm=arm, round=number, phase="evaluate", index=10 * index + at)
                measure(store, place, "click-link", at, outcome == "1")
    found, scored, chosen = attribute_failures(folder)
    assert (len(found), scored, chosen.arm, chosen.round) == (1, 3, "self", 2)
    first = summarize_failures(folder).first.partition(" See ")[0]
    assert "1 of 1 evaluation episodes of self without success" in first
    assert len(attribute_failures(folder, "evaluate")[0]) == 1
    wait_for(first, view(folder.parent))


def test_the_rate_of_a_list_is_that_of_the_policy_in_it(contents: Contents) -> None:
    whole = count_outcomes(contents.lines)
    assert (whole["count"], whole["scored"], whole["apart"]) == (8, 3, 5)
    assert whole["success"] == pytest.approx(2 / 3)
    alone = count_outcomes(read_filter("phase:baseline", contents).chosen(contents, {}))
    assert (alone["count"], alone["scored"], alone["apart"]) == (3, 3, 0)


def test_each_chip_chooses_as_many_as_it_says(contents: Contents) -> None:
    chips = list_chips(contents, {})
    assert ("failed", "policy failed", 1) in chips
    for _, text, count in chips:
        assert len(read_filter(text, contents).chosen(contents, {})) == count


def test_runs_of_different_benchmarks_are_compared_with_a_warning(run, view):
    other = run.with_name("two")
    with Store.open(other, create=True) as store:
        for index in range(3):
            place = Provenance(arm="m", phase="evaluate", index=index)
            whole = episode(place, "click-link", index, True)
            store.add(replace(whole, task=replace(whole.task, id="oscar/click-link@1")))
            store.score(whole.id, Score("success", 1.0, "seen", "checks_hold@2"))
    with urlopen(f"{view(run.parent)}/compare/runs?a=one&b=two") as answer:
        page = answer.read().decode()
    assert "A was measured on miniwob@1 and B on oscar@1" in page
    assert "By task" not in page, "tasks of one name on two benchmarks are not one task"


def test_commands_on_a_page_can_be_typed_where_the_viewer_was_started(run, monkeypatch):
    found = Archive(run.parent).run("one")
    monkeypatch.chdir(run.parent.parent)
    assert found.argument == "runs/one"
    (run.parent / "elsewhere").mkdir()
    monkeypatch.chdir(run.parent / "elsewhere")
    assert found.argument == str(run)


def test_who_has_the_last_word_is_the_judge_of_the_run(tmp_path: Path) -> None:
    """A run that other evaluators judged alone: the one that gave most verdicts decides."""
    folder = tmp_path / "runs" / "one"
    with Store.open(folder, create=True) as store:
        for index, (most, few) in enumerate(((1.0, 0.0), (0.0, None), (1.0, None))):
            whole = episode(Provenance(arm="m", phase="evaluate", index=index), "t", index, True)
            store.add(whole)
            store.score(whole.id, Score("success", most, "seen", "judge[m]@1"))
            if few is not None:
                store.score(whole.id, Score("success", few, "guessed", "guess@1"))
    contents = ContentsCache().contents(Archive(folder.parent).run("one"))
    found, scored, _ = attribute_failures(folder)
    assert (len(found), scored) == (1, 3)
    assert list(contents.failed) == [found[0].episode]
