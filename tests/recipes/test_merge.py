"""`webagent report --into`: what a job array made is one run, or it is said why it cannot be."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from loop.flat import compose, laid_upon
from loop.folder import RunFolder
from loop.measurement.scoring import HEADLINE
from loop.settings import ImproveConfig
from loop.summary import read_summary
from loop.task_split import SPLIT_FILE, load_suite, split_tasks
from recipes import cli
from recipes.improve import done_key, name_job
from webagent.models.spending import Spent
from webagent.records import Ending, Observation, Provenance, Score, Trajectory
from webagent.rollout import episode_id
from webagent.serialize import to_json
from webagent.store import Store

CONFIG = compose(ImproveConfig, tasks=("click-test",), arms=("none",), rounds=1)
PICTURE = b"\x89PNG"


def make_run(runs: Path, repeat: int, success: float, **settings: object) -> Path:
    """A finished run of one episode, with a picture, weights and something spent."""
    config = laid_upon(CONFIG, {"seed": repeat, **settings})
    folder = RunFolder.create(runs / f"repeat-{repeat}", config, ["webagent", "improve"])
    folder.write_json(SPLIT_FILE, asdict(split_tasks(config)))
    task = load_suite(config).task("click-test", repeat, "test")
    place = Provenance(arm="none", repeat=repeat, phase="evaluate")
    page = Observation("goal", "about:blank", "", ())
    episode = Trajectory(
        episode_id(task, place), task, provenance=place, last=page, ending=Ending.TASK_OVER
    )
    with folder.store() as store:
        store.add(episode)
        store.score(episode.id, Score("success", success, "said", HEADLINE.id))
        store.images.add(PICTURE)
        store.put_state("spent", [to_json(Spent("policy", "m", 1, input_tokens=10))])
        store.put_state(done_key(name_job("none", repeat)), True)
    weights = folder.weights("none", repeat, 0, "policy")
    weights.mkdir(parents=True)
    (weights / "model.bin").write_text(f"weights {repeat}")
    return folder.path


def merge(*runs: Path, into: str = "all") -> int:
    return cli.main(["report", *map(str, runs), "--into", into])


def test_repeats_of_an_array_are_one_run_with_its_interval(tmp_path: Path) -> None:
    runs = [make_run(tmp_path, repeat, success) for repeat, success in ((0, 1), (1, 0), (3, 1))]
    before = [sorted(path.name for path in run.rglob("*")) for run in runs]
    assert merge(*runs) == 0
    summary = read_summary(tmp_path / "all")
    (row,) = summary["arms"][0]["rounds"]
    assert [each["repeat"] for each in row["by_repeat"]] == [0, 1, 3] and summary["repeats"] == 3
    assert row["success"] == pytest.approx(2 / 3) and row["episodes"] == 3
    assert row["repeats_low"] is not None and row["repeats_low"] < 2 / 3
    with Store.open(tmp_path / "all") as store:
        assert sorted(entry.repeat for entry in store.entries()) == [0, 1, 3]
        assert store.images.get(store.images.add(PICTURE)) == PICTURE
        (spent,) = json.loads(json.dumps(store.get_state("spent")))
        assert (spent["requests"], spent["input_tokens"]) == (3, 30)
    whole = RunFolder.open(tmp_path / "all")
    assert (whole.weights("none", 3, 0, "policy") / "model.bin").read_text() == "weights 3"
    config = whole.config(ImproveConfig)
    assert (config.seed, config.repeats) == (0, 4), "what is missing is played by --resume"
    assert [sorted(path.name for path in run.rglob("*")) for run in runs] == before


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"rounds": 2}, "differ in rounds: 1 and 2"),
        ({"tasks": ("click-test-2",)}, "differ in split.json"),
    ],
)
def test_runs_of_other_settings_are_refused(settings, said, tmp_path, capsys):
    first, other = make_run(tmp_path, 0, 1), tmp_path / "other"
    task = {**settings, "tasks": settings.get("tasks", CONFIG.selection.tasks)}
    if "tasks" in settings:
        folder = make_run(other, 1, 1)
        RunFolder.open(folder).write_json(SPLIT_FILE, asdict(split_tasks(laid_upon(CONFIG, task))))
    else:
        folder = make_run(other, 1, 1, **settings)
    assert merge(first, folder) == 3
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "repeat-0"]


def test_a_repeat_that_two_hold_or_that_is_not_finished_is_refused(tmp_path, capsys):
    first, same = make_run(tmp_path, 0, 1), make_run(tmp_path / "other", 0, 1)
    assert merge(first, same) == 3
    assert "both hold repeat 0" in capsys.readouterr().err
    late = make_run(tmp_path, 1, 1)
    with Store.open(late) as store:
        store.put_state(done_key(name_job("none", 1)), False)
    assert merge(first, late) == 3
    assert f"has not finished none 1; go on with: webagent improve --resume {late}" in (
        capsys.readouterr().err
    )
    assert merge(first) == 2 and merge(first, same, into="a/b") == 2
    assert merge(first, late, into="repeat-0") == 3
