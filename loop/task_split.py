"""The split of a run's tasks into training and held-out tasks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from benchmarks.catalogue import Options, find_benchmark
from loop.folder import RunFolder
from loop.measurement.scoring import has_checks
from loop.measurement.selection import TaskSelection
from loop.proposers.filters import check_novelty
from loop.settings import ImproveConfig
from tasks.suite import Suite, UnknownTask, split_of
from tasks.task import Task
from webagent.errors import SetupError, StoreError, UsageError
from webagent.records import Score, Trajectory
from webagent.store import Store

SPLIT_FILE = "split.json"
HELD_OUT = 0.3
"""Share of held-out tasks, if each task is the same for every seed."""
_DRAW, _WITHHOLDING = 91, 77
"""Separate these samplings from others with the same seed."""

By: TypeAlias = Literal["seed", "task", "template"]


@dataclass(frozen=True, slots=True)
class TaskSplit:
    """The tasks of a run by purpose."""

    by: By
    """`seed`: training and evaluation use the same tasks on different seeds."""
    learning: tuple[str, ...]
    """Names of the training tasks, including proposals."""
    measured: tuple[str, ...]
    proposed: tuple[str, ...] = ()
    """Names in `learning` that come from a file of proposals."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Rejected proposals, each with the reason."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Tasks of the benchmark that are neither for training nor for evaluation, each with the
    reason."""
    shown: tuple[str, ...] = ()
    """Those of `left_out` that --demonstrated shows: their demonstrations are learned from."""

    def withhold(self, share: float, repeat: int) -> frozenset[str]:
        """Return the tasks without demonstrations in a repeat, this share of those learnt on."""
        order = _draw_order(len(self.learning), repeat, _WITHHOLDING)
        return frozenset(self.learning[i] for i in order[: round(share * len(order))])

    def describe(self) -> list[str]:
        """Return the split in sentences for the summary; empty for a split by seed without
        proposals."""
        sentences = []
        if self.by != "seed":
            own = len(self.learning) - len(self.proposed)
            sentences.append(
                f"{len(self.measured)} tasks are held out, {own} others learnt on (split by"
                f" {self.by}): {', '.join(self.measured)}"
            )
        if self.proposed or self.refused:
            sentences.append(
                f"{len(self.proposed)} proposed tasks are practised, {len(self.refused)} refused"
                f"{_first(self.refused)}"
            )
        if self.left_out:
            count = len(self.left_out)
            sentences.append(f"{count} tasks of the benchmark are left out{_first(self.left_out)}")
        if self.shown:
            sentences.append(f"{len(self.shown)} of these are demonstrated, and not practised")
        return sentences


def load_suite(config: ImproveConfig) -> Suite:
    """Return the benchmark's tasks and those of the files of proposals. Raises `SetupError`."""
    suite, proposed = _load(config)
    return join_proposals(suite, proposed)


def split_tasks(config: ImproveConfig) -> TaskSplit:
    """Return the split of the tasks. Raises `SetupError` if no task would be left to train on, or
    too few to evaluate on."""
    suite, proposed = _load(config)
    names = _selection(config).names
    share = config.evaluation.held_out
    if share is None and not suite.is_seeded:
        share = HELD_OUT
    tasks = {name: suite.task(name, 0) for name in names}
    by: By = "seed"
    measured = names
    shown = find_shown(config.demonstrating.demonstrated, names)
    if share is not None:
        by, measured = _hold_out(tasks, share, shown)
    guarded = _list_measured(config, suite, measured)
    left_out = {
        name: leak
        for name in names
        if by != "seed" and name not in measured and (leak := find_leak(tasks[name], guarded))
    }
    learning = [
        name for name in names if by == "seed" or (name not in measured and name not in left_out)
    ]
    refused = {
        name: reason
        for name, task in proposed.items()
        if (reason := "a task has its name" if name in suite.names else find_leak(task, guarded))
    }
    practised = tuple(name for name in proposed if name not in refused)
    demonstrated = tuple(name for name in left_out if name in shown)
    if not learning and not practised and not (demonstrated and set(config.arms) == {"none"}):
        raise UsageError(
            f"{suite.id} leaves no task to learn on: of {len(names)} tasks {len(measured)} are held"
            f" out{_first(left_out)}; name more with --tasks, or lower --held-out"
        )
    names_learnt = (*learning, *practised)
    return TaskSplit(by, names_learnt, measured, practised, refused, left_out, demonstrated)


def find_shown(run: Path | None, names: Collection[str]) -> frozenset[str]:
    """Return which of these tasks a run holds a success at, on a seed for training.

    Raises `StoreError` if it is no run.
    """
    if run is None:
        return frozenset()
    with Store.look(run) as store:
        scores = store.scores()
        return frozenset(
            episode.task.name
            for episode in store.trajectories()
            if episode.task.name in names and is_shown(episode, scores.get(episode.id, ()))
        )


def is_shown(episode: Trajectory, scores: Sequence[Score]) -> bool:
    """Return whether an episode of another run is a demonstration: a success on a training seed."""
    success = next((score.value or 0.0 for score in scores if score.name == "success"), 0.0)
    return success >= 0.5 and split_of(episode.task.seed) == "train"


def list_held_out(config: ImproveConfig, split: TaskSplit) -> list[Task]:
    """Return every evaluation task of the run, seed by seed."""
    return _list_measured(config, load_suite(config), split.measured)


def _list_measured(config: ImproveConfig, suite: Suite, names: Sequence[str]) -> list[Task]:
    seeds = config.seeds_measured(suite.is_seeded)
    return [suite.task(name, index, config.evaluation.split) for index in seeds for name in names]


def find_leak(task: Task, held_out: Sequence[Task]) -> str:
    """Return why training on a task would leak a held-out one; empty if it would not.

    It would if both have the same template or end state, or paraphrased goals
    (`loop.proposers.filters`).
    """
    for other in held_out:
        if task.template and (task.template, task.site) == (other.template, other.site):
            return f"of the template {task.template!r}, as {other.id}, which is held out"
    # Where pages write the goals, all tasks of a benchmark have one address and one check.
    known = [other for other in held_out if other.goal]
    refusal = check_novelty(task, known) if task.goal else None
    return f"too near to a task that is held out: {refusal.reason}" if refusal else ""


def read_split(folder: RunFolder, config: ImproveConfig) -> TaskSplit:
    """Return the split that the run started with; by seed if none is stored.

    Raises `StoreError` if the file is unreadable.
    """
    path = folder.path / SPLIT_FILE
    if path.is_file():
        return _read(path)
    names = _selection(config).names
    return TaskSplit("seed", names, names)


@cache
def _read(path: Path) -> TaskSplit:
    try:
        return TypeAdapter(TaskSplit).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise StoreError(f"{path} does not say how tasks were split: {error}") from error


@cache
def _selection(config: ImproveConfig) -> TaskSelection:
    chosen = TaskSelection.of(config.played)
    chosen.check()
    return chosen


@cache
def _load(config: ImproveConfig) -> tuple[Suite, dict[str, Task]]:
    """Return the benchmark, and the proposals by name."""
    proposed: dict[str, Task] = {}
    for file in config.proposing.proposals:
        try:
            suite = find_benchmark("proposed").load(Options(files=file))
        except (LookupError, ValueError) as error:
            raise SetupError(f"--proposals {file}: {error}") from error
        proposed |= {name: suite.task(name, 0) for name in suite.names}
    return _selection(config).suite, proposed


def join_proposals(suite: Suite, proposed: Mapping[str, Task]) -> Suite:
    """Return the benchmark with additional tasks, which are the same for every seed."""
    if not proposed:
        return suite

    def make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        if name in suite.names:
            return suite.make(name, seed, settings)
        if name not in proposed:
            raise UnknownTask(name, (*suite.names, *proposed))
        # A parent would make the curriculum take it for a variant of a task it draws.
        return replace(proposed[name], seed=seed, parent="")

    more = tuple(name for name in proposed if name not in suite.names)
    return replace(suite, names=(*suite.names, *more), make=make)


def _hold_out(
    tasks: Mapping[str, Task], share: float, shown: Collection[str]
) -> tuple[By, tuple[str, ...]]:
    """Sample whole templates, where tasks have any, until the share of the tasks is held out; none
    of those that the user shows."""
    if not 0 < share < 1:
        raise UsageError(f"--held-out {share:g}: expected a share of the tasks between 0 and 1")
    groups: dict[str, list[str]] = {}
    for name, task in tasks.items():
        if name not in shown:
            groups.setdefault(task.template or f"{name} alone", []).append(name)
    has_templates = len(groups) < len(tasks) - len(shown)
    wanted, held = max(1, round(share * len(tasks))), list[str]()
    sampled = [list(groups.values())[place] for place in _draw_order(len(groups), 0, _DRAW)]
    # A last group stays to be learnt on, however large the share, where nothing is shown.
    for group in sampled if shown else sampled[:-1]:
        if len(held) < wanted:
            held += group
    if len(held) < 2:
        raise UsageError(
            f"--held-out {share:g} leaves {len(held)} of {len(tasks)} tasks to measure on, and a"
            " figure of one task says nothing; give more tasks, or a larger share"
        )
    return "template" if has_templates else "task", tuple(n for n in tasks if n in held)


def check_scored(config: ImproveConfig, split: TaskSplit, suite: Suite) -> None:
    """Raise `UsageError` if checks are the judge and none of the training tasks, or none of the
    evaluation tasks, has any."""
    by_checks = (
        ("learn on", split.learning, "--judge", config.judging.judge),
        ("measure on", split.measured, "--measured-by", config.evaluation.measured_by),
    )
    for what, names, flag, judge in by_checks:
        if (
            names
            and judge == "checks"
            and not any(has_checks(suite.task(name, 0)) for name in names)
        ):
            raise UsageError(
                f"none of the {len(names)} tasks of {suite.id} to {what} has checks that tell"
                f" success from failure; name a judge with {flag}, as judge:evidence"
            )


def _first(reasons: Mapping[str, str]) -> str:
    return "".join(f", as {name}: {reason}" for name, reason in [*reasons.items()][:1])


def _draw_order(count: int, *seeds: int) -> list[int]:
    from numpy.random import default_rng  # not part of the core, where nothing is sampled

    return [int(place) for place in default_rng(seeds).permutation(count)]
