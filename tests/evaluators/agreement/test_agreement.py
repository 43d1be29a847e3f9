"""Figures of agreement are what they are by hand, and their intervals hold what they promise."""

import csv
import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.agreement import (
    LabelledScore,
    compare,
    compute_agreement,
    decide_truths,
    measure_by_group,
    measure_calibration,
    measure_ceiling,
    pair_scores,
)
from evaluators.agreement.measures import cohen_kappa, rate_interval
from evaluators.labels import Label, read_labels, select_score
from evaluators.statistics import wilson
from webagent.errors import SetupError


def pairs_of(tp: int, fp: int, fn: int, tn: int, task: str = "") -> list[LabelledScore]:
    """So many episodes of each kind."""
    kinds = [(True, 1.0)] * tp + [(False, 1.0)] * fp + [(True, 0.0)] * fn + [(False, 0.0)] * tn
    return [
        LabelledScore(f"{task}{i}", truth, value, task) for i, (truth, value) in enumerate(kinds)
    ]


def test_the_measures_are_those_of_the_textbook():
    """Cohen's kappa of [[20, 5], [10, 15]] is 0.4, as in many textbooks."""
    found = compute_agreement(pairs_of(20, 5, 10, 15))

    value = {name: interval.value for name, interval in found.measures.items()}
    assert value == pytest.approx(
        {
            "precision": 20 / 25,
            "recall": 20 / 30,
            "f1": 40 / 55,
            "false_positive_rate": 5 / 20,
            "accuracy": 35 / 50,
            "kappa": 0.4,
        }
    )
    assert found.measures["precision"][1:] == pytest.approx(wilson(20, 25))
    assert found.successes == 30
    assert found.coverage.value == 1.0


def test_abstentions_are_counted_apart_and_bounded_both_ways():
    pairs = [*pairs_of(6, 2, 1, 8), LabelledScore("x", True, None), LabelledScore("y", False, None)]
    found = compute_agreement(pairs)

    assert found.coverage.value == pytest.approx(17 / 19)
    assert found.abstained == (1, 1)
    assert found.measures["recall"].value == pytest.approx(6 / 7)
    assert found.as_failure["recall"].value == pytest.approx(6 / 8)
    assert found.as_success["recall"].value == pytest.approx(7 / 8)
    assert found.as_failure["precision"].value == pytest.approx(6 / 8)
    assert found.as_success["precision"].value == pytest.approx(7 / 10)


def test_a_measure_that_is_not_defined_is_none_and_not_zero():
    never = compute_agreement(pairs_of(0, 0, 3, 4))
    assert never.measures["precision"] is None
    assert never.measures["recall"].value == 0.0
    assert compute_agreement(pairs_of(0, 0, 0, 4)).measures["kappa"] is None
    assert compute_agreement(pairs_of(0, 0, 0, 4)).measures["f1"] is None

    mute = compute_agreement([LabelledScore("e", True, None)])
    assert mute.measures["accuracy"] is None
    assert mute.calibration is None
    assert mute.coverage.value == 0.0
    assert compute_agreement([]).coverage is None


def test_episodes_of_one_task_count_for_less_when_they_go_together():
    alone = compute_agreement(pairs_of(40, 10, 0, 50)).measures
    whole = [
        pair
        for task in range(10)
        for pair in pairs_of(*((0, 10, 0, 0) if task == 0 else (5, 0, 0, 5)), task=f"t{task}")
    ]
    mixed = [
        LabelledScore(f"{task}-{i}", i < 5, 0.0 if i >= 5 and (task + i) % 5 else 1.0, f"t{task}")
        for task in range(10)
        for i in range(10)
    ]

    def width(name, found):
        return found[name].high - found[name].low

    clustered = compute_agreement(whole).measures
    for name in ("accuracy", "false_positive_rate", "f1", "kappa"):
        assert width(name, clustered) > 1.5 * width(name, alone)
    assert width("accuracy", compute_agreement(mixed).measures) < width("accuracy", clustered)


def test_an_evaluator_without_an_error_is_not_certain_to_make_none():
    found = compute_agreement(pairs_of(50, 0, 0, 50))
    for name in ("f1", "kappa", "accuracy"):
        assert found.measures[name].value == found.measures[name].high == 1.0
        assert 0.9 < found.measures[name].low < 0.97
    assert found.measures["accuracy"].low == pytest.approx(100 / (100 + 1.96**2), abs=1e-3)
    assert found.calibration.brier.low == 0.0
    assert found.calibration.brier.high == pytest.approx(1.96**2 / (100 + 1.96**2), abs=1e-3)
    assert found.calibration.ece.high > 0.03

    pairs = pairs_of(50, 0, 0, 50)
    difference = compare(pairs, pairs).differences["accuracy"]
    assert -0.05 < difference.low < difference.value == 0.0 < difference.high < 0.05
    labels = [Label(f"e{i}", i % 2, annotator=a) for i in range(50) for a in "ab"]
    assert 0.8 < measure_ceiling(labels).kappa.low < measure_ceiling(labels).kappa.value == 1.0


def test_one_task_alone_says_nothing_of_others():
    found = compute_agreement(pairs_of(5, 5, 5, 5, task="only")).measures
    assert found["f1"][1:] == (0.0, 1.0)
    assert found["kappa"][1:] == (-1.0, 1.0)
    low, high = found["accuracy"][1:]
    assert low < 0.1 and high > 0.9


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12))
@settings(max_examples=80, deadline=None)
def test_an_interval_holds_its_value_and_stays_within_its_range(rows):
    parts = np.array([min(row) for row in rows], float)
    wholes = np.array([max(row) for row in rows], float)
    found = rate_interval(parts, wholes)
    assert (found is None) == (wholes.sum() == 0)
    if found is not None:
        assert 0 <= found.low <= found.value + 1e-12
        assert found.value - 1e-12 <= found.high <= 1


def test_clustered_intervals_hold_the_truth_about_as_often_as_they_promise():
    """Rates that differ from task to task, as they do; naive intervals hold it far less often."""
    rng, held, naive = np.random.default_rng(0), 0, 0
    for _ in range(400):
        parts = rng.binomial(10, rng.beta(2, 2, size=20)).astype(float)
        low, high = rate_interval(parts, np.full(20, 10.0))[1:]
        held += low <= 0.5 <= high
        low, high = wilson(parts.sum(), 200)
        naive += low <= 0.5 <= high
    assert 0.92 <= held / 400 <= 0.98
    assert naive / 400 < 0.85


def test_a_calibrated_evaluator_has_little_calibration_error_and_a_boaster_much():
    rng = np.random.default_rng(1)
    chances = rng.random(2000)
    is_true = rng.random(2000) < chances
    honest = [
        LabelledScore(str(i), bool(t), float(c))
        for i, (c, t) in enumerate(zip(chances, is_true, strict=True))
    ]
    boast = [LabelledScore(p.episode, p.truth, 0.5 + p.value / 2) for p in honest]

    good, bad = measure_calibration(honest), measure_calibration(boast)
    assert good.ece.value < 0.04 < 0.2 < bad.ece.low
    assert good.brier.value == pytest.approx(1 / 6, abs=0.015)
    assert good.ece.low < 0.01
    assert len(good.bins) == 10 and len(bad.bins) == 5
    assert sum(each.count for each in good.bins) == 2000
    assert all(each.true.low <= each.mean <= each.true.high for each in good.bins[1:9:3])


def test_ece_and_brier_by_hand():
    pairs = [
        LabelledScore("a", True, 1.0),
        LabelledScore("b", False, 0.95),
        LabelledScore("c", False, 0.2),
    ]
    found = measure_calibration(pairs)
    assert found.ece.value == pytest.approx((2 * abs(0.975 - 0.5) + 0.2) / 3)
    assert found.brier.value == pytest.approx((0 + 0.95**2 + 0.04) / 3)


def test_two_evaluators_are_compared_on_what_both_decide():
    truth = [i % 2 == 0 for i in range(40)]
    good = [LabelledScore(str(i), t, float(t)) for i, t in enumerate(truth)]
    bad = [LabelledScore(str(i), t, 1.0 if i < 36 else None) for i, t in enumerate(truth)]
    found = compare(good, bad)

    assert found.episodes == 36
    assert (found.only_first_right, found.only_second_right) == (18, 0)
    assert found.differences["precision"].value == pytest.approx(0.5)
    assert found.differences["precision"].low > 0.3
    recall = found.differences["recall"]
    assert recall.value == 0.0 and recall.low < 0 <= recall.high < 0.2
    turned = compare(bad, good).differences["accuracy"]
    assert turned.value == pytest.approx(-0.5) and turned.high < 0


def test_a_paired_comparison_sees_what_two_intervals_would_not():
    """Both fail on the same hard tasks; the one is right on every fifth episode more."""
    first = [LabelledScore(str(i), True, float(i % 2 == 0 or i % 5 == 0)) for i in range(100)]
    second = [LabelledScore(str(i), True, float(i % 2 == 0)) for i in range(100)]
    one, other = (compute_agreement(pairs).measures["accuracy"] for pairs in (first, second))
    assert one.low < other.high
    assert compare(first, second).differences["accuracy"].low > 0


def test_groups_have_figures_of_their_own():
    pairs = [
        LabelledScore("a", True, 1.0, groups={"agent": "x"}),
        LabelledScore("b", True, 0.0, groups={"agent": "y"}),
        LabelledScore("c", True, 0.0),
    ]
    found = measure_by_group(pairs, "agent")
    assert {name: each.measures["recall"].value for name, each in found.items()} == {
        "x": 1.0,
        "y": 0.0,
    }


SEVERAL = [
    Label("e1", 1.0, annotator="a", task="t1"),
    Label("e1", 1.0, annotator="b", task="t1"),
    Label("e1", 0.0, annotator="c", task="t1"),
    Label("e2", 1.0, annotator="a"),
    Label("e2", 0.0, annotator="b"),
    Label("e3", None, annotator="a"),
    Label("e3", 0.0, annotator="b"),
    Label("e4", 0.5, annotator="a"),
]


@pytest.mark.parametrize(
    ("rule", "values", "disputed", "unsure"),
    [
        ("majority", {"e1": True, "e3": False}, ("e2",), ("e4",)),
        ("first", {"e1": True, "e2": True}, (), ("e3", "e4")),
        ("unanimous", {"e3": False}, ("e1", "e2"), ("e4",)),
    ],
)
def test_several_annotators_come_to_one_truth_or_to_none(rule, values, disputed, unsure):
    found = decide_truths(SEVERAL, rule)
    assert (found.values, found.disputed, found.unsure) == (values, disputed, unsure)


def test_labels_of_several_scores_are_not_mixed():
    with pytest.raises(SetupError, match="labels of several scores"):
        decide_truths([Label("e", 1.0), Label("e", 1.0, "looping")])
    with pytest.raises(SetupError, match="unknown rule"):
        decide_truths(SEVERAL, "loudest")


def test_only_what_is_judged_and_labelled_is_paired():
    found = pair_scores({"e1": 0.2, "e3": None, "e9": 1.0}, decide_truths(SEVERAL))
    assert [(pair.episode, pair.truth, pair.value) for pair in found] == [
        ("e1", True, 0.2),
        ("e3", False, None),
    ]
    assert found[0].task == "t1" and found[0].groups == {"task": "t1"}


def test_people_are_held_against_each_other():
    found = measure_ceiling(SEVERAL)
    assert (found.episodes, found.pairs, found.unsure) == (2, 4, 1)
    assert found.agreement.value == pytest.approx(1 / 4)
    nobody = measure_ceiling([Label("e", 1.0)])
    assert nobody.pairs == 0 and nobody.agreement is None and nobody.kappa is None


@pytest.fixture(scope="module")
def label_folder() -> Path:
    """The folder of AgentRewardBench's label files, which are not part of this repository."""
    named = os.environ.get("WEBAGENT_AGENT_REWARD_BENCH")
    package = importlib.util.find_spec("agent_reward_bench")
    if named is None and (package is None or package.origin is None):
        pytest.skip(
            "no labels of AgentRewardBench here; set WEBAGENT_AGENT_REWARD_BENCH to its"
            " folder `data` or install agent-reward-bench"
        )
    return Path(named) if named else Path(package.origin).parent / "data"


@pytest.fixture(scope="module")
def annotations(label_folder) -> tuple[Label, ...]:
    return read_labels(label_folder / "annotations.csv")


def test_the_published_labels_are_counted_as_published(annotations):
    """1,408 rows over 1,302 trajectories, 106 of them labelled twice, 27.3 % of them successes
    by the first annotator, and 93 of 106 pairs that say the same (87.7 %; one pair is unsure)."""
    labels = select_score(annotations)
    truth = decide_truths(labels, "first")
    people = measure_ceiling(labels)

    assert len(labels) == 1408
    assert len({label.episode for label in labels}) == 1302
    assert people.pairs + people.unsure == 106
    assert round(people.agreement.value * people.pairs) == 93
    assert round(100 * sum(truth.values.values()) / len(truth.values), 1) == 27.3
    assert len({label.benchmark for label in labels}) == 4
    assert 0.6 < people.kappa.low < people.kappa.value < 0.8


PUBLISHED = {
    "rules": (83.8, 55.9, 67.1),
    "GPT-4o, tree": (69.8, 83.1, 75.9),
    "GPT-4o, screenshot": (68.1, 80.3, 73.7),
    "Claude 3.7, tree": (68.8, 81.6, 74.7),
    "Claude 3.7, screenshot": (69.4, 76.3, 72.7),
    "Qwen2.5-VL, tree": (64.3, 89.8, 75.0),
    "Qwen2.5-VL, screenshot": (64.5, 86.1, 73.7),
}


@pytest.mark.parametrize("judge", PUBLISHED)
def test_published_figures_follow_from_counts_over_the_published_labels(
    judge, annotations, label_folder
):
    """The judges' replies are not among the files, so counts are taken from precision and recall
    over the 295 successes of the 1,106 test episodes; the three figures then have to agree."""
    with (label_folder / "splits.csv").open(encoding="utf-8") as file:
        split = {row["task_id"]: row["split"] for row in csv.DictReader(file)}
    labels = [
        label
        for label in select_score(annotations)
        if split[label.task.replace(".resized", "").replace(".improved", "")] == "test"
    ]
    truth = decide_truths(labels, "first")
    total, successes = len(truth.values), sum(truth.values.values())
    assert (total, successes) == (1106, 295)

    precision, recall, f1 = PUBLISHED[judge]
    tp = round(recall / 100 * successes)
    fp = round(tp / (precision / 100)) - tp
    found = compute_agreement(pairs_of(tp, fp, successes - tp, total - successes - fp)).measures
    for name, value in (("precision", precision), ("recall", recall), ("f1", f1)):
        assert 100 * found[name].value == pytest.approx(value, abs=0.1)
        assert 100 * (found[name].high - found[name].low) > 6


@pytest.mark.slow
def test_kappa_of_many_tables_is_scikit_learns_of_each():
    from sklearn.metrics import cohen_kappa_score

    said = np.random.default_rng(5).integers(3, size=(20, 2, 60))
    tables = np.zeros((20, 9))
    for table, (first, second) in zip(tables, said, strict=True):
        np.add.at(table, first * 3 + second, 1)
    expected = [cohen_kappa_score(first, second) for first, second in said]
    assert cohen_kappa(tables, 3) == pytest.approx(expected)
