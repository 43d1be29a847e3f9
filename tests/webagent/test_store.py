"""What is put into a run folder comes out again; what cannot be read is said, never overwritten."""

import errno
import shutil
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.task import Task
from webagent.action.actions import Click
from webagent.errors import StoreError
from webagent.records import (
    SET_APART,
    Decision,
    Ending,
    Node,
    Observation,
    Provenance,
    Score,
    Step,
    Trajectory,
)
from webagent.store import Store

PNG = b"\x89PNG not really"


def page(number: int = 0, lines: int = 3) -> Observation:
    nodes = tuple(Node(i, "button", f"button {i} of {number}") for i in range(1, lines + 1))
    return Observation("Press one", "http://localhost/", "Buttons", nodes)


def episode(index: int = 0, steps: int = 2, **changes: object) -> Trajectory:
    """A finished one, unlike any other index."""
    provenance = Provenance(run="r", arm="self", phase="collect", index=index)
    whole = Trajectory(
        id=f"episode-{index}",
        task=Task("fake/press@1", "about:blank", seed=index),
        goal="Press one",
        steps=tuple(
            Step(page(n), Decision(Click(n), prompt_ids=(1, n)), 0.25) for n in range(steps)
        ),
        last=page(steps),
        ending=Ending.TASK_OVER,
        evidence={"reward": 1.0, "trail": ["a", {"b": None}]},
        provenance=provenance,
        seconds=1.5,
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def begun(whole: Trajectory) -> Trajectory:
    return replace(whole, steps=(), last=None, ending=None, evidence={}, seconds=0.0)


def test_where_nothing_was_played_nothing_began_and_no_episode_is_known(store: Store) -> None:
    assert store.last_began() == 0.0
    assert store.load("nobody") is None


def test_an_episode_written_step_by_step_comes_back_equal(store: Store) -> None:
    whole = episode(steps=3)
    store.begin(begun(whole))
    for position, step in enumerate(whole.steps):
        store.add_step(whole.id, position, step)
    store.finish(whole)
    assert store.load(whole.id) == whole


def test_an_episode_is_readable_by_another_process_while_under_way(store: Store) -> None:
    whole = episode()
    store.begin(begun(whole))
    store.add_step(whole.id, 0, whole.steps[0])
    with Store.open(store.folder) as other:
        assert other.load(whole.id) == replace(begun(whole), steps=whole.steps[:1])
        assert other.ids("any") == [whole.id]
        assert other.ids("finished") == []


def test_text_of_a_page_that_is_no_valid_unicode_is_kept(store: Store) -> None:
    whole = episode(
        goal="half a pair: \ud83d", error="\udc00", last=replace(page(), title="\ud800")
    )
    store.add(whole)
    assert store.load(whole.id) == whole


def test_trajectories_come_in_the_order_of_the_plan(store: Store) -> None:
    for index in (2, 0, 1):
        store.add(episode(index))
    assert [one.provenance.index for one in store.trajectories()] == [0, 1, 2]


def test_infrastructure_failures_are_left_out_unless_asked_for(store: Store) -> None:
    failed = episode(1, ending=Ending.WORLD_FAILED, last=None, error="crashed")
    store.add(episode(0))
    store.add(failed)
    assert store.ids() == ["episode-0"]
    assert list(store.trajectories("finished")) == [episode(0), failed]


@pytest.mark.parametrize("phase", SET_APART)
def test_what_says_nothing_of_a_policy_is_among_episodes_for_who_names_it(store, phase):
    store.add(episode(0))
    store.add(episode(1, provenance=Provenance(phase=phase)))
    assert store.ids() == store.ids("finished") == ["episode-0"]
    assert store.ids(phase=phase) == store.ids(id="episode-1") == ["episode-1"]
    assert len(store.ids("any")) == 2


def test_entries_list_episodes_without_their_steps(store: Store) -> None:
    store.add(episode(1, ending=Ending.WORLD_FAILED, error="crashed"))
    store.begin(begun(episode(0, provenance=Provenance(repeat=2, round=3, phase="evaluate"))))
    under_way, failed = store.entries("any")
    assert (under_way.id, under_way.ending, under_way.steps) == ("episode-0", None, 0)
    assert (under_way.repeat, under_way.round, under_way.phase) == (2, 3, "evaluate")
    assert (failed.task, failed.seed, failed.steps) == ("fake/press@1", 1, 2)
    assert (failed.ending, failed.error, failed.seconds) == (Ending.WORLD_FAILED, "crashed", 1.5)
    assert store.last_began() == max(under_way.started, failed.started) > 0
    assert store.entries(arm="self") == []


def test_conditions_choose_by_value_and_by_collection(store: Store) -> None:
    for index in range(6):
        store.add(episode(index))
    assert store.ids(index=4) == ["episode-4"]
    assert store.ids(index=range(2), arm="self") == ["episode-0", "episode-1"]
    assert store.ids(index=(), arm="self") == []
    assert store.ids(ending=Ending.GAVE_UP) == []


def test_an_unknown_condition_is_refused_with_the_known_ones(store: Store) -> None:
    with pytest.raises(StoreError, match="no 'colour' to choose by; known: id, task"):
        store.ids(colour="red")  # type: ignore[call-arg]


def test_real_steps_are_counted_without_imagined_ones(store: Store) -> None:
    dream = Provenance(world="imagined", arm="self", seeded_from="episode-0:1")
    store.add(episode(0, steps=3))
    store.add(episode(1, steps=2, ending=Ending.WORLD_FAILED))
    store.add(episode(2, steps=4, provenance=dream))
    store.begin(begun(episode(3)))
    store.add_step("episode-3", 0, episode().steps[0])
    assert store.count_real_steps(arm="self") == 3 + 2 + 1
    assert store.count_real_steps(arm="none") == 0


def test_an_observation_seen_often_is_stored_once(store: Store) -> None:
    for index in range(20):
        store.add(episode(index))
    with sqlite3.connect(store.folder / "run.sqlite") as database:
        stored = database.execute("SELECT count(*) FROM observations").fetchone()
    database.close()
    assert stored == (3,)  # two steps and the last page


def test_scores_lie_beside_their_episode_and_are_replaced_by_name_and_evaluator(store):
    right = Score("success", 1.0, "reward is 1", "rules@1")
    unsure = Score("success", None, "abstained", "judge@1")
    store.add(episode(0))
    store.add(episode(1))
    store.score("episode-0", Score("success", 0.0, "premature", "rules@1"), unsure)
    store.score("episode-0", right)
    assert store.scores() == {"episode-0": (unsure, right)}


def test_a_score_for_no_episode_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        store.score("nobody", Score("success", 1.0, ""))


def test_state_survives_reopening(store: Store) -> None:
    store.put_state("self/0", {"round": 1, "weights": "weights/1"})
    store.put_state("self/0", {"round": 2, "weights": "weights/2"})
    store.close()
    with Store.open(store.folder) as again:
        assert again.get_state("self/0") == {"round": 2, "weights": "weights/2"}
        assert again.get_state("self/1", "none") == "none"


def test_a_finished_episode_cannot_be_written_over(store: Store) -> None:
    whole = episode()
    store.add(whole)
    with pytest.raises(StoreError, match="already in"):
        store.begin(begun(whole))
    with pytest.raises(StoreError, match="not in progress"):
        store.add_step(whole.id, 2, whole.steps[0])
    with pytest.raises(StoreError, match="not in progress"):
        store.finish(replace(whole, error="changed my mind"))
    assert store.load(whole.id) == whole


def test_an_episode_added_whole_is_stored_whole_or_not_at_all(store: Store) -> None:
    with pytest.raises(StoreError, match="without an ending"):
        store.add(episode(ending=None))
    assert store.load("episode-0") is None


def test_a_use_after_closing_is_a_store_error(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError):
        store.ids()


# --- folders that are not a sound run -------------------------------------------------------


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def closed_run(folder: Path, episodes: int = 30) -> Path:
    with Store.open(folder, create=True) as store:
        for index in range(episodes):
            store.add(episode(index, steps=3, last=page(1000 + index, lines=40)))
    return folder


def test_a_folder_without_a_run_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"holds no run\.sqlite"):
        Store.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_not_created_over_another(tmp_path: Path) -> None:
    closed_run(tmp_path / "run")
    before = bytes_of(tmp_path / "run")
    with pytest.raises(StoreError, match="already holds a run; resume it"):
        Store.open(tmp_path / "run", create=True)
    assert bytes_of(tmp_path / "run") == before


def test_a_run_of_another_version_is_left_as_it_is(tmp_path: Path) -> None:
    folder = closed_run(tmp_path / "run")
    with sqlite3.connect(folder / "run.sqlite") as database:
        database.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    database.close()
    before = bytes_of(folder)
    with pytest.raises(StoreError, match="has format 99, this version reads format 1"):
        Store.open(folder)
    assert before.items() <= bytes_of(folder).items()


@pytest.mark.parametrize("kept", [0.0, 0.001, 0.1, 0.5, 0.9, 0.99])
def test_a_database_cut_short_is_left_as_it_is(tmp_path: Path, kept: float) -> None:
    folder = closed_run(tmp_path / "run")
    file = folder / "run.sqlite"
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * kept)])
    before = bytes_of(folder)
    with pytest.raises(StoreError, match="cut short"):
        Store.open(folder)
    assert before.items() <= bytes_of(folder).items()


def test_a_database_cut_short_under_a_live_log_is_noticed(tmp_path: Path) -> None:
    """As after a kill and a partial copy: the log is whole, the file under it is not."""
    folder = tmp_path / "copy"
    folder.mkdir()
    with Store.open(closed_run(tmp_path / "run")) as store:
        store.add(episode(1000))
        for file in store.folder.glob("run.sqlite*"):
            shutil.copy(file, folder)
    whole = (folder / "run.sqlite").read_bytes()
    (folder / "run.sqlite").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match="cut short"):
        Store.open(folder)
    assert (folder / "run.sqlite").read_bytes() == whole[: len(whole) // 2]


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "run.sqlite").write_text("dear diary, " * 400)
    with pytest.raises(StoreError, match="damaged or cut short"):
        Store.open(tmp_path)
    assert (tmp_path / "run.sqlite").read_text() == "dear diary, " * 400


def test_a_full_disk_is_said_and_costs_no_finished_step(store: Store) -> None:
    """SQLite's own page limit stands in for the disk; it fails in the same way."""
    whole = episode()
    store.begin(begun(whole))
    store.add_step(whole.id, 0, whole.steps[0])
    store._database.execute("PRAGMA max_page_count = 1")  # clamped to the present size
    with pytest.raises(StoreError, match=r"disk .* is full; finished steps are safe"):
        for position in range(1, 1000):
            store.add_step(whole.id, position, Step(page(position, 200), Decision(Click(1))))
    kept = store.load(whole.id)
    assert kept is not None
    assert kept.steps[0] == whole.steps[0]
    store._database.execute("PRAGMA max_page_count = 1000000")
    store.finish(replace(whole, steps=kept.steps))
    assert store.load(whole.id) == replace(whole, steps=kept.steps)


# --- images ----------------------------------------------------------------------------------


def test_an_image_comes_back_by_its_reference_and_is_kept_once(store: Store) -> None:
    reference = store.images.add(PNG)
    assert store.images.add(PNG) == reference
    assert store.images.get(reference) == PNG
    assert store.images.path(reference).relative_to(store.folder).parts[:2] == (
        "images",
        reference[:2],
    )
    assert len(list(store.folder.glob("images/*/*"))) == 1


def test_an_image_that_is_missing_or_damaged_is_said(store: Store) -> None:
    reference = store.images.add(PNG)
    store.images.path(reference).write_bytes(PNG[:4])
    with pytest.raises(StoreError, match="damaged"):
        store.images.get(reference)
    store.images.path(reference).unlink()
    with pytest.raises(StoreError, match="missing"):
        store.images.get(reference)


def test_a_reference_cannot_lead_out_of_the_folder(store: Store) -> None:
    with pytest.raises(StoreError, match="not an image reference"):
        store.images.get("../../etc/passwd")


def test_a_disk_that_fills_up_under_an_image_leaves_no_half_of_it(store, monkeypatch):
    def fill_up(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill_up)
    with pytest.raises(StoreError, match="is full"):
        store.images.add(PNG)
    assert list(store.folder.glob("images/*/*")) == []


# --- speed -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_five_thousand_steps_are_written_and_read_in_seconds(store: Store) -> None:
    started = time.process_time()
    for index in range(500):
        whole = episode(index, steps=0)
        store.begin(begun(whole))
        for position in range(10):
            step = Step(page(index * 10 + position, lines=25), Decision(Click(position)))
            store.add_step(whole.id, position, step)
        store.finish(whole)
    written = time.process_time()
    steps = sum(len(one.steps) for one in store.trajectories())
    read = time.process_time()
    assert steps == 5000
    assert written - started < 5.0
    assert read - written < 5.0
