"""What an arm believed beside what was true: figures that can be checked by hand."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from apps.report.page import format_page
from loop.console.screen import Console
from loop.folder import read_origin
from loop.summary import RunMeta, print_summary, summarize
from loop.summary.schema import DriftRow
from tests.fakes.run import JUDGE, TASKS, episode
from webagent.records import Provenance, Score
from webagent.store import Store

META = RunMeta("miniwob@1", TASKS, "webagent improve", (read_origin(),))


def believe(
    store: Store, place: Provenance, truth: bool, own: bool | None, frozen: bool | None
) -> None:
    """One episode with the truth and both learned judges' verdicts."""
    whole = episode(place, TASKS[place.index % 4], 2_000_000 + place.index, truth)
    store.add(whole)
    verdicts = [Score("success", float(truth), "", JUDGE)]
    for name, value in (("judged", own), ("frozen", frozen)):
        said = None if value is None else float(value)
        verdicts.append(Score(name, said, "", f"reward_model@{name}"))
    store.score(whole.id, *verdicts)


@pytest.fixture
def run(tmp_path: Path) -> Store:
    """Eight measured and eight collected episodes of both arms: four true successes of each eight;
    the own judge passes six, the frozen one five of these, one of them wrongly."""
    store = Store.open(tmp_path / "run", create=True)
    for arm in ("judged", "checked"):
        for phase in ("evaluate", "collect"):
            place = Provenance(arm=arm, round=1, phase=phase)
            for index in range(8):
                here = replace(place, index=index)
                believe(store, here, index < 4, index < 6, index < 5)
    return store


def rows(store: Store) -> dict[str, DriftRow]:
    return {row["arm"]: row for row in summarize(store, META)["drift"]}


def test_belief_is_the_own_judges_alone_or_where_the_frozen_one_agrees(run: Store) -> None:
    found = rows(run)
    assert {arm: (row["true"], row["believed"]) for arm, row in found.items()} == {
        "judged": (0.5, 0.75),
        "checked": (0.5, 0.625),
    }
    assert found["judged"]["gap"] == pytest.approx(0.25)
    assert found["judged"]["low"] <= 0.25 <= found["judged"]["high"]


def test_what_was_wrongly_kept_is_counted_among_what_was_learnt_from(run: Store) -> None:
    found = rows(run)
    assert (found["judged"]["kept"], found["judged"]["wrong"]) == (6, pytest.approx(2 / 6))
    assert (found["checked"]["kept"], found["checked"]["wrong"]) == (5, pytest.approx(1 / 5))
    assert found["checked"]["wrong_low"] < 0.2 < found["checked"]["wrong_high"]


def test_episodes_on_which_a_judge_abstained_are_left_out(run: Store) -> None:
    place = Provenance(arm="judged", round=1, phase="evaluate", index=8)
    believe(run, place, True, None, True)
    assert rows(run)["judged"]["episodes"] == 8


def test_a_run_whose_arms_see_the_checks_has_no_such_table(tmp_path: Path) -> None:
    with Store.open(tmp_path / "run", create=True) as store:
        whole = episode(Provenance(arm="self", round=1, phase="evaluate"), TASKS[0], 1, True)
        store.add(whole)
        store.score(whole.id, Score("success", 1.0, "", JUDGE))
        assert "drift" not in summarize(store, META)


def test_the_table_stands_on_the_terminal_and_in_the_report(run: Store) -> None:
    summary, out = summarize(run, META), StringIO()
    print_summary(summary, Console(file=out, width=140))
    for text in (out.getvalue(), format_page(summary)):
        assert "believed − true" in text
        assert "+25.0" in text
