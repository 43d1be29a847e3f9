"""A run is judged, and its judges are held against labels, through the real entry point."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.evaluator import FunctionEvaluator, Verdict, evaluator
from loop.console.output import Status
from loop.judging import specification
from recipes import cli
from tasks.task import TaskCheck
from tests.fakes import tiny_models
from tests.fakes.run import episode
from webagent.models import Message, Model
from webagent.records import Provenance, Score, Trajectory
from webagent.store import Store

pytestmark = pytest.mark.slow  # seconds together

JUDGE = "checks_hold@2"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Twelve episodes of three tasks: the evidence says that every other one succeeded."""
    folder = tmp_path / "run"
    with Store.open(folder, create=True) as store:
        for index in range(12):
            place = Provenance(arm="agent", phase="evaluate", index=index)
            whole = episode(
                place, ("click-link", "enter-text", "read-table")[index % 3], index, True
            )
            task = replace(whole.task, checks=(TaskCheck("reward", "at_least", 1),))
            store.add(replace(whole, id=f"e{index}", task=task, evidence={"reward": index % 2}))
        dream = Provenance(arm="agent", phase="imagine", world="imagined")
        store.add(replace(episode(dream, "click-link", 99, True), id="dream"))
    return folder


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """People agree with the evidence but on episodes 0 and 1, and one is unsure of 11."""
    rows = [f"e{i},{'yes' if i in (0, 3, 5, 7, 9) else 'no'}" for i in range(11)]
    file = tmp_path / "labels.csv"
    file.write_text("\n".join(["episode,success", *rows, "e11,unsure"]) + "\n")
    return file


def scores(run: Path) -> dict[str, tuple[Score, ...]]:
    with Store.open(run) as store:
        return store.scores("finished")


def test_rules_are_scored_stored_and_held_against_labels(run, labels, capsys) -> None:
    assert cli.main(["judge", str(run), "--with", "rules", "--against", str(labels)]) == 0

    told = capsys.readouterr().out
    figures = json.loads((run / "agreement.json").read_text())["evaluators"][JUDGE]
    assert "11 labelled episodes, 5 successes; 0 disputed and 1 unsure ones left out" in told
    assert figures["counts"] == {
        "true_positives": 4,
        "false_positives": 1,
        "false_negatives": 1,
        "true_negatives": 5,
    }
    assert figures["measures"]["precision"]["value"] == pytest.approx(0.8)
    assert figures["measures"]["precision"]["low"] < 0.8 < figures["measures"]["precision"]["high"]
    assert figures["tasks"] == 3
    assert set(figures["groups"]["task"]) == {
        f"miniwob/{n}@1" for n in ("click-link", "enter-text", "read-table")
    }
    stored = scores(run)
    assert stored["e1"][0].value == 1.0 and stored["e2"][0].value == 0.0
    assert "dream" not in stored


def test_two_scores_of_the_same_rules_are_both_asked_for(run, labels, capsys) -> None:
    assert cli.main(["judge", str(run), "--with", "rules", "rules:raw_positive", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["costs"]) == [JUDGE, f"{JUDGE} (raw_positive)"]
    assert {score.name for score in scores(run)["e1"]} == {"success", "raw_positive"}

    assert cli.main(["judge", str(run), "--against", str(labels), "--score", "looping"]) == 3
    assert "holds no label of the score 'looping'" in capsys.readouterr().err


def test_what_is_scored_is_not_asked_again_and_imagined_ones_only_on_demand(run, capsys):
    asked = ["judge", str(run), "--with", "rules", "--json"]
    counts = []
    for flags in ([], [], ["--imagined"]):
        assert cli.main([*asked, *flags]) == 0
        counts.append(json.loads(capsys.readouterr().out)["costs"][JUDGE]["episodes"])

    assert counts == [12, 12, 13]


def test_a_second_run_says_what_is_known_and_that_nothing_is_left(run, capsys) -> None:
    asked = ["judge", str(run), "--with", "rules"]
    for is_second in (False, True):
        assert cli.main(asked) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "checks_hold@2: 12 of 12 episodes asked about, 50.0 % success of 12" in told
        assert ("nothing left to judge: all 12 episodes have their verdicts" in told) is is_second


def test_labels_given_in_a_run_folder_count_without_naming_an_evaluator(run, capsys) -> None:
    from evaluators.labels import Label, add_label

    cli.main(["judge", str(run), "--with", "rules"])
    for number in (0, 1, 2, 3):
        add_label(run, Label(f"e{number}", float(number == 1), annotator="ada"))

    assert cli.main(["judge", str(run), "--against", str(run), "--json"]) == 0
    found = json.loads((run / "agreement.json").read_text())["evaluators"][JUDGE]
    assert found["counts"]["true_positives"] == 1 and found["counts"]["false_positives"] == 1


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ((), "nothing to do"),
        (
            ("--with", "ruls"),
            "'ruls' is not an evaluator; expected one of rules, consulted, judge:VARIANT",
        ),
        (("--with", "vote(rules"), "a bracket is not closed"),
        (("--with", "rules)"), "')' is not expected"),
        (("--with", "cascade[3](rules,rules)"), "how many have to agree"),
        (("--with", "unsure(rules)"), "the range of values that say nothing"),
        (("--with", "vote[1,0](rules,rules)"), "a positive weight for each voter"),
        (("--with", "vote[a](rules)"), "[a] must be numbers"),
        (("--with", "reward:nowhere"), "nowhere is not a folder"),
        (("--with", "reward"), "reward names no folder"),
        (("--with", "judge"), "is no language model"),
        (("--with", "consulted"), "is no language model"),
        (("--with", "judge:psychic", "--model", "m"), "unknown judge 'psychic'"),
        (("--freeze", "--against", "x.csv"), "none are given"),
        (("--with", "rules", "--concurrency", "0"), "above zero"),
        (("--with", "rules", "--annotators", "loudest"), "unknown rule for several annotators"),
        (("--with", "judge", "--model", "m", "--max-cost", "1"), "the price of 'm' is not known"),
        (("--with", "rules", "--arms", "nobody"), "holds no episode to judge"),
        (("--verify",), "not a list of frozen judges"),
        (("--against", "x.csv"), "x.csv cannot be read"),
    ],
)
def test_what_cannot_be_done_is_named(run, flags, complaint, capsys, monkeypatch) -> None:
    monkeypatch.chdir(run.parent)
    is_missing = complaint.startswith(("holds no", "not a list", "x.csv"))
    status = Status.SETUP if is_missing else Status.USAGE
    assert cli.main(["judge", str(run), *flags]) == status
    assert complaint in " ".join(capsys.readouterr().err.split())


def test_labels_of_other_episodes_are_named_unless_they_are_to_be_ignored(run, labels, capsys):
    labels.write_text(labels.read_text() + "e99,yes\n")
    asked = ["judge", str(run), "--with", "rules", "--against", str(labels)]

    assert cli.main(asked) == 3
    assert "1 of 13 labels are of episodes not in this run: 'e99'" in capsys.readouterr().err
    assert cli.main([*asked, "--ignore-unknown"]) == 0
    assert json.loads((run / "agreement.json").read_text())["ignored_labels"] == 1


def yes_or_no(variant: str, model: Model, images: object) -> FunctionEvaluator:
    """A judge that asks its model once whether the episode was a success."""

    async def judge(trajectory: Trajectory) -> Verdict:
        completion = await model.complete([Message("user", f"was it done? {trajectory.goal}")])
        return Verdict(float(completion.replies[0].text == "yes"), "asked")

    return FunctionEvaluator(f"judge[{model.name}]@1", "success", judge)


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch, chat_server) -> Callable[..., list[str]]:
    """The flags of a cascade and a judge behind the test server."""

    def flags(*behaviours: object) -> list[str]:
        monkeypatch.setattr(specification, "build_judge", yes_or_no)
        chat_server.will(*behaviours)
        return ["--with", "cascade(rules, judge)", "judge", "--model", "m", "--concurrency", "1"]

    return flags


def test_a_judge_behind_an_endpoint_is_counted_and_capped(
    run, asks, behave, chat_server, monkeypatch, capsys
):
    monkeypatch.chdir(run.parent)
    Path("prices.toml").write_text('[models."m"]\ninput = 1000\noutput = 1000\ncurrency = "USD"\n')
    flags = asks(behave.reply("no"))

    assert cli.main(["judge", str(run), *flags, "--max-tokens-total", "50"]) == 4
    told = capsys.readouterr()
    assert "stopped before its end: " in told.err
    assert "stopped before its end: " not in told.out
    assert 0 < len(chat_server.requests) < 12

    assert cli.main(["judge", str(run), *flags]) == 0
    assert len(chat_server.requests) == 12
    told = capsys.readouterr().out
    assert "asked of cascade(checks_hold@2, judge[m]@1)@1" in told
    assert "0.0 % of 12 episodes came to judge[m]@1" in told
    assert "in money an episode" in told


def test_episodes_whose_judge_failed_are_asked_about_again(run, asks, behave, chat_server, capsys):
    flags = asks(behave.status(400, message="no"), behave.reply("no"))
    cli.main(["judge", str(run), *flags, "--json"])
    values = {e: {s.evaluator: s.value for s in found} for e, found in scores(run).items()}
    assert [e for e in values if values[e]["judge[m]@1"] is None] == ["e0"]

    before = len(chat_server.requests)
    assert cli.main(["judge", str(run), *flags, "--json"]) == 0
    assert len(chat_server.requests) == before + 1


def test_the_judge_that_looks_is_asked_and_abstains_where_its_reply_cannot_be_used(
    run, chat_server, behave, capsys
):
    chat_server.will(behave.reply("I would rather not say"))
    asked = ["judge", str(run), "--with", "judge", "--model", "m"]
    assert cli.main([*asked, "--json"]) == 0

    told = capsys.readouterr()
    [cost] = json.loads(told.out)["costs"].values()
    [stage] = cost["stages"]
    assert (stage["asked"], stage["abstained"], stage["failed"]) == (12, 12, 0)
    assert cli.main(asked) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "abstained on 12, mostly:" in told and "% success" not in told
    assert stage["spent"]["m"]["requests"] >= 24
    assert all(score.value is None and score.reason for [score] in scores(run).values())


@pytest.mark.slow
def test_a_learned_judge_is_asked_for_its_chances_and_frozen_by_its_weights(
    run, labels, tmp_path, capsys
):
    weights = tiny_models.causal(tmp_path / "reward")
    asked = ["judge", str(run), "--with", f"reward:{weights}", f"unsure[0,1](chance:{weights})"]
    assert cli.main([*asked, "--freeze", "--against", str(labels), "--json"]) == 0
    found = json.loads((run / "agreement.json").read_text())["evaluators"]
    [reward] = [each for name, each in found.items() if name.startswith("language_reward[")]
    [unsure] = [each for name, each in found.items() if name.startswith("unsure_abstains[0,1]")]
    assert reward["coverage"]["value"] == 1.0 and unsure["coverage"]["value"] == 0.0
    assert cli.main(["judge", str(run), "--verify"]) == 0

    (weights / "note.json").write_text("{}")
    assert cli.main(["judge", str(run), "--verify"]) == 3
    assert "is not the frozen one" in capsys.readouterr().err
    (weights / "note.json").unlink()
    (weights / "calibration.json").write_text("{}")
    assert cli.main(asked) == 2
    assert "are no longer calibrated" in capsys.readouterr().err
    (weights / "calibration.json").unlink()
    (tmp_path / "out").mkdir()
    weights.rename(tmp_path / "out" / "model")
    assert cli.main(["train", str(run), "--role", "reward", "--out", str(tmp_path / "out")]) == 3
    assert "never trained" in capsys.readouterr().err


def test_labels_of_a_benchmark_find_its_episodes_by_task_and_agent(run, tmp_path, capsys) -> None:
    row = "annotator_name,benchmark,task_id,model_name,trajectory_success\n"
    file = tmp_path / "annotations.csv"
    file.write_text(row + "A,webarena,webarena.7,GPT,Successful\n")
    with Store.open(run) as store:
        whole = episode(Provenance(arm="GPT", phase="imported"), "click-link", 1, True)
        task = replace(whole.task, id="webarena/7@1", checks=(TaskCheck("reward", "at_least", 1),))
        store.add(replace(whole, id="imported", task=task, evidence={"reward": 1}))
    asked = ["judge", str(run), "--with", "rules", "--against", str(file), "--annotators", "first"]
    assert cli.main(asked) == 0
    figures = json.loads((run / "agreement.json").read_text())["evaluators"][JUDGE]
    assert figures["counts"]["true_positives"] == 1
    assert list(figures["groups"]["benchmark"]) == ["webarena"]
    assert list(figures["groups"]["agent"]) == ["GPT"]


def test_a_model_that_is_not_there_ends_it_and_loses_nothing(run, asks, behave, capsys) -> None:
    assert cli.main(["judge", str(run), *asks(behave.status(400, message="no"))]) == 1
    assert "the last 12 judgements of judge" in capsys.readouterr().err
    assert len(scores(run)) == 12


def test_a_frozen_judge_is_verified_by_its_content(run, monkeypatch, capsys) -> None:
    asked = ["judge", str(run), "--with", "vote(rules, rules:raw_positive)"]
    assert cli.main([*asked, "--freeze"]) == 0
    assert cli.main(["judge", str(run), "--verify"]) == 0
    assert cli.main([*asked, "--freeze"]) == 0

    def changed(score: str, means: object) -> FunctionEvaluator:
        return evaluator("checks_hold", version="3")(lambda trajectory: Verdict(1.0, "kind"))

    monkeypatch.setattr(specification, "checks_hold", changed)
    assert cli.main(["judge", str(run), "--verify"]) == 3
    assert "is not the frozen one: expected 'vote(checks_hold@2" in capsys.readouterr().err


def test_an_interrupted_session_keeps_what_was_judged_and_the_next_goes_on(
    run, asks, behave, chat_server, capsys
):
    flags = asks(behave.reply("no"), behave.reply("yes"), behave.slow())

    def interrupt() -> None:
        while len(chat_server.requests) < 3:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    assert cli.main(["judge", str(run), *flags]) == 130
    thread.join()
    assert "what was judged is kept" in capsys.readouterr().err
    judged = {
        episode: score.value
        for episode, found in scores(run).items()
        for score in found
        if score.evaluator == "judge[m]@1"
    }
    assert judged == {"e0": 0.0, "e1": 1.0}

    chat_server.will(behave.reply("no"))
    before = len(chat_server.requests)
    assert cli.main(["judge", str(run), *flags]) == 0
    assert len(chat_server.requests) == before + 10


def test_evaluators_are_tried_on_the_lies_that_come_with_the_program(tmp_path, capsys):
    run = tmp_path / "run"
    Store.open(run, create=True).close()
    assert cli.main(["judge", str(run), "--adversarial", "--with", "rules"]) == 0
    assert "| all deceptions | 0 | 179 | 0.0% |" in capsys.readouterr().out
    (standing,) = json.loads((run / "adversarial.json").read_text())
    assert len(standing["kinds"]["honest"]["passed"]) == 179
    assert cli.main(["judge", str(run), "--adversarial", "--verify"]) == 2
    assert "none are given" in capsys.readouterr().err
