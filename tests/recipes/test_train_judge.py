"""`webagent train-judge`: labelled episodes in, a calibrated judge with its figures out."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.frozen import FrozenJudge, add_frozen, hash_folder
from evaluators.reward.builtin import RewardModel
from evaluators.statistics import wilson
from loop.console.output import Status
from loop.training import judge
from loop.training.judge import LabelledEpisode, find_family, read_episodes, split_episodes
from recipes import cli
from tasks.task import Task
from tests.fakes.lessons import episode, lesson
from webagent.action.actions import Click
from webagent.errors import SetupError
from webagent.records import Ending, Score, Trajectory
from webagent.store import Store

TASKS = ("press-one", "press-two", "write-one", "find-it")
FEW = ("--acting-tokens", "0", "--tokens", "3000", "--rounds", "1", "--hold-out", "0.25")

ACTING = ("--acting-tokens", "2000")


def attempt(number: int, task: str) -> tuple[Trajectory, bool]:
    """A lesson done rightly or wrongly, as a task of this name and a seed of its own."""
    dice = random.Random(f"{task} {number}")
    (seen, right), is_right = lesson(dice), dice.random() < 0.5
    others = [Click(m) for m in range(1, 9) if Click(m) != right]
    turn = seen, right if is_right else dice.choice(others)
    done = episode(turn, id=f"{task}-{number}", phase="collect")
    return replace(done, task=replace(done.task, id=f"fake/{task}@1", seed=number)), is_right


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with 40 labelled episodes a task, and some that no judge may learn from."""
    folder = tmp_path / "run"
    with Store.open(folder, create=True) as store:
        for task in TASKS:
            for number in range(40):
                tried, is_right = attempt(number, task)
                store.add(tried)
                store.score(tried.id, Score("success", float(is_right), "", "truth"))
        tried, _ = attempt(99, TASKS[0])
        store.add(replace(tried, id="broken", ending=Ending.WORLD_FAILED))
        store.score("broken", Score("success", 1.0, "", "truth"))
        store.add(replace(tried, id="unscored"))
    return folder


@pytest.mark.slow
def test_it_writes_a_judge_that_loads_and_a_report_that_adds_up(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "judge"
    assert (
        cli.main(["train-judge", str(run), "--out", str(out), *FEW, "--members", "2", *ACTING]) == 0
    )
    printed = capsys.readouterr().out
    report = json.loads((out / "report.json").read_text())
    judge = RewardModel.load(out / "judge")
    assert report["judge"] == judge.evaluator().id
    assert len(judge.members) == 2 and all(member.actor for member in judge.members)
    assert judge.calibration.surprise and judge.calibration.episodes > 0
    assert sum(found["episodes"] for found in report["episodes"].values()) == 160
    assert report["episodes"]["tasks"]["episodes"] == 40
    for name, found in report["parts"].items():
        assert name in printed
        assert sum(task["episodes"] for task in found["tasks"].values()) == found["all"]["episodes"]
        value, count, low, high = found["all"]["recall"]
        assert (low, high) == pytest.approx(wilson(round(value * count), count))
    held_out = set(report["parts"]["held-out tasks"]["tasks"])
    assert held_out.isdisjoint(report["parts"]["held-out seeds"]["tasks"])


@pytest.mark.slow
def test_started_again_it_goes_on_with_the_members_that_lack_and_gives_the_same(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["train-judge", str(run), *FEW, "--members", "2", "--out"]
    assert cli.main([*line, str(tmp_path / "whole")]) == 0
    taught = []
    original = judge._train_member

    def once(settings, episodes, number, say):  # type: ignore[no-untyped-def]
        if number in taught or (number == 1 and len(taught) == 1):
            taught.append("killed")
            raise SetupError("killed")
        taught.append(number)
        return original(settings, episodes, number, say)

    monkeypatch.setattr(judge, "_train_member", once)
    assert cli.main([*line, str(tmp_path / "cut")]) == 3
    monkeypatch.setattr(judge, "_train_member", original)
    assert taught == [0, "killed"]
    assert cli.main([*line, str(tmp_path / "cut")]) == 0
    whole, cut = (hash_folder(tmp_path / name / "judge") for name in ("whole", "cut"))
    assert whole == cut


@pytest.mark.slow
def test_other_settings_do_not_go_on_in_the_same_folder(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["train-judge", str(run), "--out", str(tmp_path / "judge"), *FEW]
    assert cli.main(line) == 0
    assert cli.main([*line, "--seed", "1"]) == 3
    assert "other settings" in capsys.readouterr().err


@pytest.mark.slow
def test_a_frozen_judge_is_not_trained(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "judge"
    line = ["train-judge", str(run), "--out", str(out), *FEW]
    assert cli.main(line) == 0
    frozen = FrozenJudge("reward_model@x", hash_folder(out / "judge"))
    add_frozen(run / "frozen.json", [frozen])
    assert cli.main(line) == 3
    assert "never trained" in capsys.readouterr().err


def test_labels_of_people_take_the_place_of_scores(run: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps({"press-one-1": 1, "find-it-2": 0, "nobody": 1}))
    found = {e.trajectory.id: e.success for e in read_episodes([run], labels, "success")}
    assert found == {"press-one-1": True, "find-it-2": False}
    labels.write_text('{"press-one-1": "good"}')
    with pytest.raises(SetupError, match="each with 0 or 1"):
        read_episodes([run], labels, "success")


def test_only_finished_and_labelled_episodes_are_read(run: Path) -> None:
    ids = {e.trajectory.id for e in read_episodes([run], None, "success")}
    assert len(ids) == 160 and ids.isdisjoint({"broken", "unscored"})
    with pytest.raises(SetupError, match="score 'other'"):
        read_episodes([run], None, "other")


def test_no_seed_of_a_task_is_in_two_parts_and_families_are_held_out_whole(run: Path) -> None:
    episodes = read_episodes([run], None, "success")
    parts = split_episodes(episodes, 0.25)
    keys = [
        {(e.task, e.trajectory.task.seed) for e in found}
        for found in (parts.taught, parts.calibrated, parts.seeds, parts.tasks)
    ]
    assert sum(map(len, keys)) == len(set().union(*keys)) == 160
    assert len({e.task for e in parts.tasks}) == 1


def test_variants_are_of_one_family_by_their_names_or_by_their_template() -> None:
    tabs = [Task(f"miniwob/{name}@1", "") for name in ("click-tab-2-hard", "click-tab")]
    assert {find_family(task) for task in tabs} == {"click-tab"}
    close = Task("fossil/ticket-close@1", "", site="fossil@1", template="ticket-close")
    assert find_family(close) == find_family(replace(close, id="fossil/other@1"))
    assert find_family(close) != find_family(replace(close, template="ticket-open"))
    assert find_family(close) != find_family(replace(close, site="oscar@1"))


def test_splits_are_kept_where_the_seeds_have_them(run: Path) -> None:
    episodes = [
        LabelledEpisode(
            replace(e.trajectory, task=replace(e.trajectory.task, seed=seed)), e.success
        )
        for i, e in enumerate(read_episodes([run], None, "success"))
        for seed in [i + 1_000_000 * (i % 3)]
    ]
    parts = split_episodes(episodes, 0.0)
    for place, found in enumerate((parts.taught, parts.calibrated, parts.seeds)):
        assert found and {e.trajectory.task.seed // 1_000_000 for e in found} == {place}


def test_one_outcome_alone_teaches_nothing(run: Path) -> None:
    good = [e for e in read_episodes([run], None, "success") if e.success]
    with pytest.raises(SetupError, match="successes and failures"):
        split_episodes(good, 0.0)


@pytest.mark.parametrize(
    ("wrong", "status", "said"),
    [
        ([], Status.USAGE, "at least one run"),
        (["nowhere"], Status.SETUP, "no run folder nowhere"),
        (["RUN", "--hold-out", "1"], Status.USAGE, "shares below 1"),
        (["RUN", "--members", "0"], Status.USAGE, "at least 1"),
    ],
)
def test_settings_that_cannot_be_used_are_named(
    run: Path, wrong: list[str], status: Status, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [str(run) if word == "RUN" else word for word in wrong]
    assert cli.main(["train-judge", *line]) == status
    assert said in capsys.readouterr().err


@pytest.mark.very_slow
@pytest.mark.browser
def test_episodes_played_in_a_browser_teach_a_judge_through_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tasks = ("click-test-2", "click-button", "enter-text", "focus-text-2")
    for name, split in (("a", "train"), ("b", "development"), ("c", "test")):
        line = ["benchmark", "--policy", "oracle", "--seeds", "4", "--split", split, "--name", name]
        assert cli.main([*line, "--tasks", *tasks]) == 0
        with Store.open(Path("runs", name)) as store:
            for place, id in enumerate(store.ids()):
                if place % 3 == 0:
                    store.score(id, Score("told", 0.0, "for the test"))
                else:
                    store.score(id, Score("told", 1.0, "for the test"))
    line = ["train-judge", "runs/a", "runs/b", "runs/c", "--score", "told", "--tokens", "6000"]
    assert cli.main([*line, "--acting-tokens", "6000", "--out", "judge"]) == 0
    report = json.loads(Path("judge", "report.json").read_text())
    assert report["parts"]["held-out seeds"]["all"]["episodes"] > 0
    assert report["origin"]["versions"]["torch"]
