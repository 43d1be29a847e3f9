"""Which tasks are learnt on and which measured on, and what is refused to be practised."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from loop.flat import compose, laid_upon
from loop.folder import RunFolder
from loop.settings import ImproveConfig
from loop.task_split import (
    SPLIT_FILE,
    TaskSplit,
    check_scored,
    find_leak,
    list_held_out,
    load_suite,
    read_split,
    split_tasks,
)
from tasks.task import Task, TaskCheck
from webagent.errors import SetupError, StoreError, UsageError
from webagent.records import Ending, Score, Trajectory
from webagent.store import Store

GOALS = {
    "milk": 'Add the note "Buy milk".',
    "bread": 'Add the note "Buy bread".',
    "rent": "Pay the rent of the flat by transfer.",
    "count": "How many notes are open?",
    "dentist": "Call the dentist and ask for an appointment.",
    "books": "Return the library books to the desk.",
}


def task(name: str, goal: str, **fields: Any) -> Task:
    """A task on a site of its own, answered with a word."""
    checks = (TaskCheck("episode.answer", "same_text", name),)
    return Task(f"notes/{name}@1", "http://notes.test/", goal, checks=checks, **fields)


def written(path: Path, tasks: Sequence[Task]) -> Path:
    """A file of proposals that were taken."""
    rows = [
        {
            "source": "pages",
            "reason": "seen",
            "task": {
                "id": each.id,
                "start_url": each.start_url,
                "goal": each.goal,
                "template": each.template,
                "checks": [
                    {"evidence": c.evidence, "rule": c.rule, "expected": c.expected}
                    for c in each.checks
                ],
            },
        }
        for each in tasks
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def fixed(path: Path, made: Sequence[Task], /, **settings: Any) -> ImproveConfig:
    """A run on these very tasks."""
    file = written(path / "tasks.jsonl", made)
    return compose(ImproveConfig, benchmark="proposed", files=file, **settings)


def six() -> list[Task]:
    return [task(name, goal) for name, goal in GOALS.items()]


def test_fixed_tasks_are_split_the_same_way_every_time(tmp_path: Path) -> None:
    config = fixed(tmp_path, six())
    split = split_tasks(config)
    assert split.by == "task" and split == split_tasks(config)
    assert len(split.measured) == 2 and set(split.learning) | set(split.measured) == set(GOALS)
    assert not set(split.learning) & set(split.measured)


def test_a_template_is_held_out_whole(tmp_path: Path) -> None:
    tasks = [replace(each, template=f"t{place // 2}") for place, each in enumerate(six())]
    split = split_tasks(fixed(tmp_path, tasks))
    assert split.by == "template"
    held = {each.template for each in tasks if each.name in split.measured}
    learnt = {each.template for each in tasks if each.name in split.learning}
    assert held and learnt and not held & learnt


def test_seeds_keep_tasks_apart_where_they_make_other_ones() -> None:
    split = split_tasks(compose(ImproveConfig, tasks=("click-test", "login-user")))
    assert split == TaskSplit("seed", ("click-test", "login-user"), ("click-test", "login-user"))
    assert split.describe() == []
    fresh = compose(
        ImproveConfig, tasks=("click-test",), evaluate=2, first_seed=10, split="development"
    )
    tasks = list_held_out(fresh, split_tasks(fresh))
    assert [each.seed for each in tasks] == [1_000_010, 1_000_011]
    with pytest.raises(UsageError, match="the first of which is 0"):
        split_tasks(laid_upon(fresh, {"first_seed": -1}))
    held = split_tasks(compose(ImproveConfig, tasks=("twenty",), held_out=0.25))
    assert (len(held.learning), len(held.measured), held.by) == (15, 5, "task")


def test_a_proposal_that_copies_a_held_out_task_is_refused(tmp_path: Path) -> None:
    config = fixed(tmp_path, six())
    held, *_ = split_tasks(config).measured
    copies = [task("copy", GOALS[held]), task("other", "Delete the account of the administrator.")]
    more = laid_upon(config, {"proposals": (written(tmp_path / "proposals.jsonl", copies),)})
    split = split_tasks(more)
    assert split.proposed == ("other",) and "other" in split.learning
    assert list(split.refused) == ["copy"] and f"notes/{held}@1" in split.refused["copy"]
    assert any("1 proposed tasks are practised, 1 refused" in said for said in split.describe())
    assert load_suite(more).task("other", 3).goal == copies[1].goal


def test_a_proposal_of_a_held_out_template_is_refused() -> None:
    held = [task("milk", GOALS["milk"], template="add")]
    assert "template 'add'" in find_leak(task("x", "Something else.", template="add"), held)
    assert find_leak(task("x", 'Add the note "Post the letter".'), held) == ""
    assert "alike in words" in find_leak(task("x", 'Please add a note, "Buy milk".'), held)


def test_a_copy_inside_the_benchmark_is_left_out(tmp_path: Path) -> None:
    tasks = [*six(), *(replace(each, id=f"notes/{each.name}-2@1") for each in six())]
    split = split_tasks(fixed(tmp_path, tasks))
    assert split.left_out
    names = {name.removesuffix("-2") for name in split.measured}
    assert not names & {name.removesuffix("-2") for name in split.learning}


@pytest.mark.parametrize(
    ("count", "settings", "complaint"),
    [
        (3, {}, "leaves 1 of 3 tasks to measure on, and a figure of one task says nothing"),
        (1, {}, "leaves 0 of 1 tasks to measure on"),
        (6, {"held_out": 1.5}, "--held-out 1.5: expected a share of the tasks between 0 and 1"),
        (6, {"tasks": ("mlik",)}, "unknown task 'mlik'; did you mean milk"),
        (6, {"proposals": (Path("nowhere.jsonl"),)}, "--proposals nowhere.jsonl"),
    ],
)
def test_what_leaves_too_little_is_named(tmp_path, count, settings, complaint):
    with pytest.raises(SetupError, match=complaint):
        split_tasks(fixed(tmp_path, six()[:count], **settings))


def test_a_benchmark_without_a_task_to_learn_on_is_named(tmp_path: Path) -> None:
    """Whatever is not held out copies what is."""
    made = [task(name, GOALS["rent"]) for name in ("one", "two", "three")]
    with pytest.raises(UsageError, match="leaves no task to learn on: of 3 tasks 2 are held out"):
        split_tasks(fixed(tmp_path, made, held_out=0.7))


def test_tasks_that_nobody_can_score_are_refused(tmp_path: Path) -> None:
    config = fixed(tmp_path, [replace(each, checks=()) for each in six()])
    split = split_tasks(config)
    with pytest.raises(UsageError, match="none of the 4 tasks of proposed@1 to learn on"):
        check_scored(config, split, load_suite(config))


def test_a_run_goes_on_with_the_split_it_began_with(tmp_path: Path) -> None:
    config = fixed(tmp_path, six())
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    split = split_tasks(config)
    folder.write_json(SPLIT_FILE, asdict(replace(split, refused={"copy": "too near"})))
    assert read_split(folder, config) == replace(split, refused={"copy": "too near"})
    other = RunFolder.create(tmp_path / "other", config, ["webagent", "improve"])
    (other.path / "split.json").write_text("[]")
    with pytest.raises(StoreError, match="does not say how tasks were split"):
        read_split(other, config)


def test_what_is_shown_is_not_held_out_and_is_learned_from_beside_a_copy(tmp_path: Path) -> None:
    with Store.open(tmp_path / "shown", create=True) as store:
        for each in (task("milk", GOALS["milk"]), task("rent", GOALS["rent"])):
            store.add(Trajectory(each.name, each, ending=Ending.ANSWERED))
            store.score(each.name, Score("success", 1.0, "seen", "person"))
    tasks = [*six(), task("milk-2", GOALS["milk"])]
    config = fixed(tmp_path, tasks, demonstrated=tmp_path / "shown", held_out=0.9, arms=("none",))
    split = split_tasks(config)
    assert set(split.measured) == {*GOALS, "milk-2"} - {"milk", "rent"}
    assert {*split.learning, *split.shown} == {"milk", "rent"} and split.shown == ("milk",)
    assert "1 of these are demonstrated, and not practised" in split.describe()
