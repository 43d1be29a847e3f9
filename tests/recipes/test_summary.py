"""A run's store becomes numbers that can be checked by hand, and sentences no bolder than those."""

import json
import time
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from apps.report.page import format_page
from evaluators.statistics import Interval, wilson
from loop.arms import ARMS
from loop.console.screen import PlainConsole
from loop.origin import Origin, read_origin
from loop.summary import (
    ArmRow,
    RunMeta,
    Summary,
    format_comparison,
    format_headline,
    print_summary,
    read_summary,
    summarize,
    write_summary,
)
from loop.summary.format import format_difference, format_percent, format_points, format_sources
from loop.summary.measure import PAIRS
from loop.task_split import TaskSplit
from tests.fakes.run import JUDGE, TASKS, episode, fill, measure
from webagent.errors import StoreError
from webagent.records import Ending, Provenance, Score
from webagent.store import Store

META = RunMeta("miniwob@1", TASKS, "webagent improve --preset demo", (read_origin(),))
RATES = {("none", 0): 0.3, ("control", 1): 0.35, ("self", 1): 0.6, ("self", 2): 0.9}
RATES |= {("control", 2): 0.4, ("lookahead", 2): 0.9}


def arm(summary: Summary, name: str) -> ArmRow:
    """The one arm of this name."""
    (found,) = [arm for arm in summary["arms"] if arm["name"] == name]
    return found


def test_a_run_without_a_measurement_has_a_summary(store: Store) -> None:
    summary = summarize(store, META)
    assert (summary["arms"], summary["repeats"], summary["seeds"]) == ([], 0, [])
    assert format_headline(summary) == "Nothing has been measured yet."
    print_summary(summary, PlainConsole(file=StringIO()))


def test_a_judge_that_decided_nothing_is_said(store: Store) -> None:
    place = Provenance(arm="none", phase="evaluate")
    for index in range(2):
        whole = episode(replace(place, index=index), "click-link", index, True)
        store.add(whole)
        store.score(whole.id, Score("success", None, "no last page", JUDGE))
    said = format_headline(summarize(store, META))
    assert said == "2 episodes ended, and the judge decided none of them."


def test_success_is_counted_by_arm_round_and_task_as_the_frozen_judge_said(store: Store) -> None:
    place = Provenance(arm="none", phase="evaluate")
    for index, success in enumerate((True, True, False)):
        measure(store, replace(place, index=index), "click-link", index + 1, success)
    measure(store, replace(place, index=3), "enter-text", 0, False)
    (only,) = summarize(store, META)["arms"]
    (row,) = only["rounds"]
    assert (row["success"], row["episodes"], row["raw_positive"]) == (0.5, 4, 0.75)
    assert (row["low"], row["high"]) == wilson(2, 4)
    assert only["by_task"]["click-link"]["success"] == pytest.approx(2 / 3)
    assert only["by_task"]["enter-text"]["raw_positive"] == 1.0
    assert list(only["by_task"]) == ["click-link", "enter-text"]
    assert only["endings"] == {"task over": 4}


def test_tasks_without_demonstrations_are_told_apart_as_each_repeat_drew_them(store):
    split = TaskSplit("seed", TASKS, TASKS)
    meta = replace(META, tasks_by_use=split, withhold=1 / len(TASKS))
    untaught = [split.withhold(meta.withhold, repeat) for repeat in range(4)]
    assert all(len(names) == 1 for names in untaught) and len(set(untaught)) > 1
    for repeat, names in enumerate(untaught):
        for index, task in enumerate(TASKS):
            place = Provenance(arm="none", repeat=repeat, phase="evaluate", index=index)
            measure(store, place, task, index, task not in names or repeat == 0)
    summary = summarize(store, meta)
    rate = arm(summary, "none")["withheld"]
    assert (rate["success"], rate["episodes"]) == (0.25, 4)
    told = "none succeeds in 25.0% of 4 episodes of tasks without demonstrations"
    shown = StringIO()
    print_summary(summary, PlainConsole(file=shown, width=200))
    for form in (shown.getvalue(), format_page(summary)):
        assert told in form
        assert "without demonstrations" in form.replace(told, "")
    assert "withheld" not in arm(summarize(store, META), "none")


def test_arms_come_in_the_order_of_their_table_and_unknown_ones_last(store: Store) -> None:
    fill(store, {("oracle", 0): 1.0, ("self", 1): 0.9, ("none", 0): 0.3}, repeats=1, seeds=1)
    assert [a["name"] for a in summarize(store, META)["arms"]] == ["none", "self", "oracle"]


def test_real_steps_add_up_over_rounds_and_are_the_mean_over_repeats(store: Store) -> None:
    fill(store, RATES)
    rows = arm(summarize(store, META), "self")["rounds"]
    assert [(row["round"], row["real_steps"], row["imagined_steps"]) for row in rows] == [
        (0, 0, 0),
        (1, 8, 1),
        (2, 16, 2),
    ]
    assert [repeat["real_steps"] for repeat in rows[2]["by_repeat"]] == [16, 16]


def test_an_arm_that_only_acts_counts_the_steps_of_the_weights_it_uses(store: Store) -> None:
    fill(store, {key: rate for key, rate in RATES.items() if key[0] == "self"})
    measure(store, Provenance(arm="lookahead", round=2, phase="evaluate"), "click-link", 0, True)
    (row,) = arm(summarize(store, META), "lookahead")["rounds"]
    assert (row["round"], row["real_steps"]) == (2, 16)


def test_looking_ahead_while_measured_counts_as_imagined_steps(store: Store) -> None:
    fill(store, {("self", 1): 1.0}, repeats=1)
    for arm_name in ("lookahead", "rerank"):
        whole = episode(Provenance(arm=arm_name, round=1, phase="evaluate"), "click-link", 0, True)
        torn, clear = whole.steps
        looked = replace(torn, decision=replace(torn.decision, usage={"imagined_steps": 3}))
        store.add(replace(whole, steps=(looked, clear)))
        store.score(whole.id, Score("success", 1.0, "", JUDGE))
    summary = summarize(store, META)
    imagined = [arm(summary, name)["rounds"][-1]["imagined_steps"] for name in ("self", "rerank")]
    assert imagined == [1, 1]
    assert arm(summary, "lookahead")["rounds"][0]["imagined_steps"] == 4


def test_every_learning_arm_starts_where_none_was_measured(store: Store) -> None:
    fill(store, RATES)
    summary = summarize(store, META)
    start = arm(summary, "none")["rounds"][0]
    assert arm(summary, "self")["rounds"][0] == start
    assert arm(summary, "control")["rounds"][0] == start
    assert [row["round"] for row in arm(summary, "lookahead")["rounds"]] == [2]


def test_seconds_and_other_costs_are_what_the_run_noted(store: Store) -> None:
    fill(store, {("self", 1): 0.5})
    store.put_state("round:self:0:1", {"seconds": 100, "train_tokens": 5000, "note": "x"})
    store.put_state("round:self:1:1", {"seconds": 200, "train_tokens": 7000})
    (row,) = arm(summarize(store, META), "self")["rounds"]
    assert (row["seconds"], row["costs"]) == (150, {"train_tokens": 6000})


def test_without_a_note_the_seconds_are_those_of_the_measurement(store: Store) -> None:
    fill(store, {("none", 0): 0.5}, repeats=1)
    (row,) = arm(summarize(store, META), "none")["rounds"]
    assert 1.5 <= row["seconds"] < 60


def test_repeats_have_an_interval_of_their_own_once_there_are_two(store: Store) -> None:
    fill(store, {("self", 1): 0.5}, repeats=1)
    assert arm(summarize(store, META), "self")["rounds"][0]["repeats_low"] is None
    fill(store, {("none", 0): 0.5}, repeats=2)
    row = arm(summarize(store, META), "none")["rounds"][0]
    assert row["repeats_low"] is not None and row["repeats_high"] is not None
    assert row["repeats_low"] <= row["success"] <= row["repeats_high"]


def test_arms_are_compared_at_the_last_round_that_both_have(store: Store) -> None:
    rates = {key: rate for key, rate in RATES.items() if key != ("control", 2)}
    fill(store, rates, repeats=3, seeds=10)
    found = {(row["a"], row["b"]): row for row in summarize(store, META)["comparisons"]}
    assert found.keys() == {("self", "none"), ("self", "control"), ("lookahead", "self")}
    assert [found[pair]["round"] for pair in found] == [2, 1, 2]
    control = found["self", "control"]
    assert control["episodes"] == 3 * 4 * 10
    assert control["low"] <= control["difference"] <= control["high"]
    assert found["lookahead", "self"]["difference"] == 0


def test_failures_outside_the_agent_and_abstentions_are_counted_and_never_scored(store):
    place = Provenance(arm="none", phase="evaluate")
    lost = replace(episode(replace(place, index=1), "click-link", 1, True), id="lost-1")
    cut = replace(episode(replace(place, index=0), "click-link", 0, True), id="cut-1")
    store.add(replace(lost, ending=Ending.WORLD_FAILED, error="crashed"))
    store.add(replace(cut, ending=Ending.WORLD_FAILED, error="interrupted"))
    measure(store, replace(place, index=0), "click-link", 0, True)
    store.add(episode(replace(place, index=2), "click-link", 2, True))
    abstained = measure(store, replace(place, index=3), "click-link", 3, True)
    store.score(abstained, Score("success", None, "no evidence", JUDGE))
    summary = summarize(store, META)
    assert summary["failures"] == {
        "world failed": 1,
        "model failed": 0,
        "captcha": 0,
        "stopped": 0,
        "interrupted": 1,
        "masked": 1,
        "unscored": 2,
    }
    assert summary["arms"][0]["rounds"][0]["episodes"] == 1


def test_the_summary_names_where_it_came_from(store: Store) -> None:
    fill(store, {("none", 0): 0.5}, repeats=2)
    summary = summarize(store, META)
    assert (summary["benchmark"], summary["repeats"]) == ("miniwob@1", 2)
    assert summary["command"] == META.command
    assert summary["judge"] == [JUDGE]
    assert summary["seeds"] == [2_000_000 + seed for seed in range(5)]
    needed = {"python", "torch", "transformers", "playwright", "chromium", "webagent"}
    assert summary["commit"] == META.origins[0]["commit"]
    assert needed <= summary["versions"].keys()
    assert summary["versions"]["torch"]


def test_a_run_gone_on_with_elsewhere_names_both_sources(store: Store) -> None:
    fill(store, {("none", 0): 0.5})
    now = META.origins[0]
    earlier = Origin(commit="ab" * 20, modified=True, versions=now["versions"] | {"torch": "2.0"})
    begun, continued = format_sources(summarize(store, replace(META, origins=(earlier, now))))
    assert begun == "abababababab with changes that were not committed"
    assert continued.startswith(now["commit"][:12])
    assert continued.endswith(f"(torch {now['versions']['torch']})")


def test_a_written_summary_reads_back_and_leaves_no_draft(store: Store, tmp_path: Path) -> None:
    fill(store, RATES)
    summary = summarize(store, META)
    write_summary(summary, tmp_path)
    assert write_summary(summary, tmp_path) == tmp_path / "summary.json"
    assert time.time() - read_summary(tmp_path).pop("ended") < 60
    assert {**read_summary(tmp_path), "ended": 0} == {**summary, "ended": 0}
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["summary.json"]


def test_a_folder_without_a_summary_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no summary: `benchmark`"):
        read_summary(tmp_path)
    (tmp_path / "summary.json").write_text(json.dumps({"arms": []}))
    with pytest.raises(StoreError, match="lacks benchmark, command"):
        read_summary(tmp_path)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ((0.091, 0.052, 0.13), "a is 9.1 points above b (95 % interval 5.2 to 13.0)"),
        ((-0.091, -0.13, -0.052), "a is 9.1 points below b (95 % interval −13.0 to −5.2)"),
        (
            (0.004, -0.012, 0.02),
            "no difference between a and b is shown (+0.4, 95 % interval −1.2 to 2.0)",
        ),
        # A limit that rounds to zero shows nothing.
        (
            (0.05, 0.0004, 0.1),
            "no difference between a and b is shown (+5.0, 95 % interval 0.0 to 10.0)",
        ),
    ],
)
def test_a_difference_is_told_only_where_the_interval_leaves_zero_out(found, sentence):
    assert format_difference("a", "b", Interval(*found)) == sentence


def test_seeds_that_were_tuned_on_are_not_called_held_out(store: Store) -> None:
    fill(store, {("none", 0): 0.5}, repeats=1)
    assert "20 held-out episodes" in format_headline(summarize(store, META))
    tuned = format_headline(summarize(store, replace(META, split="development")))
    assert "20 development episodes" in tuned


def test_numbers_are_written_with_a_real_minus_and_no_minus_zero() -> None:
    assert [format_points(v) for v in (-0.0123, -0.0001, 0.5)] == ["−1.2", "0.0", "50.0"]
    assert [format_points(v, signed=True) for v in (0.01, 0.0, -0.01)] == ["+1.0", "0.0", "−1.0"]
    assert format_percent(0.8234) == "82.3 %"


def test_the_tables_show_every_arm_round_task_and_comparison(store: Store) -> None:
    fill(store, RATES, repeats=3)
    text = StringIO()
    summary = summarize(store, META)
    print_summary(summary, PlainConsole(file=text, width=120))
    shown = text.getvalue()
    assert all(name in shown for name in (*TASKS, "none", "control", "self", "lookahead"))
    assert all(
        f"{100 * row['success']:.1f}" in shown for a in summary["arms"] for row in a["rounds"]
    )
    assert all(format_comparison(row) in " ".join(shown.split()) for row in summary["comparisons"])
    assert "set aside, never scored: nothing" in shown


def test_the_table_of_a_single_arm_shows_its_intervals_and_both_rules(store: Store) -> None:
    fill(store, {("oracle", 0): 0.5}, repeats=1)
    text = StringIO()
    summary = summarize(store, META)
    print_summary(summary, PlainConsole(file=text, width=120))
    rate = summary["arms"][0]["by_task"]["click-link"]
    assert f"{100 * rate['low']:.1f}–{100 * rate['high']:.1f}" in text.getvalue()
    assert "raw > 0" in text.getvalue()


def test_only_what_could_be_learned_from_is_said(store: Store) -> None:
    fill(store, RATES)
    counts = ("collected", "played", "succeeded", "unjudged", "dreamt", "dreams_kept", "successes")
    nothing = {"judge": JUDGE, "demonstrations": 0, **dict.fromkeys(counts, 0)}
    store.put_state("learning:control:0:1", nothing)
    store.put_state("learning:self:0:1", {**nothing, "collected": 9, "succeeded": 4})
    store.put_state("learning:imagined:0:1", {**nothing, "dreamt": 2, "dreams_kept": 1})
    text = StringIO()
    print_summary(summarize(store, META), PlainConsole(file=text, width=300))
    assert "self, round 1: 9 episodes played; checks_hold passed 4; learnt" in text.getvalue()
    assert "control, round 1" not in text.getvalue()
    # A kept episode may have no step that is trained on.
    assert "2 episodes imagined, 1 kept; learnt from nothing" in text.getvalue()


def test_every_compared_arm_exists() -> None:
    assert {name for pair in PAIRS for name in pair} <= ARMS.keys()


def test_notes_stand_wherever_a_summary_is_printed(store: Store) -> None:
    fill(store, RATES)
    assert "notes" not in summarize(store, META)
    summary = summarize(store, replace(META, notes=("the first training was short",)))
    text = StringIO()
    print_summary(summary, PlainConsole(file=text, width=300))
    for printed in (text.getvalue(), format_page(summary)):
        assert "the first training was short" in printed
