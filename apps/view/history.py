"""What the curriculum made of each task: chances, draws and their reasons, round by round."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.view.contents import Contents, Line, Outcome
from evaluators.statistics import wilson
from loop.folder import CURRICULUM, read_monitors
from loop.summary.measure import task_name
from webagent.store import Store

Place = tuple[str, int]
"""Arm and repeat."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Why an episode's task was drawn."""

    arm: str
    repeat: int
    round: int
    episode: str
    task: str
    """The task's name; of a task made from another, the name of that."""
    seed: int
    reason: str
    why: str
    value: float
    chance: float
    share: float


@dataclass(frozen=True, slots=True)
class History:
    """All draws of a run, and what was believed of every task after each round."""

    draws: tuple[Draw, ...]
    chances: Mapping[Place, Mapping[int, Mapping[str, float]]]
    """By arm and repeat, then by round, each task's chance of success as the curriculum saw it."""
    problems: tuple[str, ...]
    """Lines and files that could not be read."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Successes among scored episodes."""

    round: int
    successes: int
    episodes: int

    @property
    def success(self) -> float:
        """In [0, 1]."""
        return self.successes / self.episodes

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval."""
        return wilson(self.successes, self.episodes)


def read_history(run: Path, store: Store) -> History:
    """Whatever can be read of it; a line that was cut short is told and left out."""
    draws, problems = list[Draw](), list[str]()
    for path in sorted((run / CURRICULUM).glob("*/*.jsonl")):
        arm, _, repeat = path.parent.name.rpartition("-")
        if not (repeat.isdigit() and path.stem.isdigit()):
            continue
        read, wrong = _lines(path, arm, int(repeat), int(path.stem))
        draws += read
        problems += wrong
    chances: dict[Place, dict[int, dict[str, float]]] = {}
    for place, state in read_monitors(store):
        known = state.get("chances")
        if isinstance(known, dict):
            chances.setdefault(place, {})[int(state["round"])] = known
    draws.sort(key=lambda draw: (draw.arm, draw.repeat, draw.round))
    return History(tuple(draws), chances, tuple(problems))


def rates_of(lines: Iterable[Line], phase: str = "evaluate") -> dict[str, list[Rate]]:
    """Success by arm and round in one phase."""
    good, count = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for line in lines:
        if line.entry.phase == phase and line.outcome in (Outcome.SUCCEEDED, Outcome.FAILED):
            place = line.entry.arm, line.entry.round
            count[place] += 1
            good[place] += line.outcome is Outcome.SUCCEEDED
    found: dict[str, list[Rate]] = {}
    for (arm, number), episodes in sorted(count.items()):
        found.setdefault(arm, []).append(Rate(number, good[arm, number], episodes))
    return found


def by_task(contents: Contents) -> dict[str, list[Line]]:
    """The episodes of each task, tasks in the order of their names, baselines left out."""
    found: dict[str, list[Line]] = {}
    for line in contents.lines:
        if not line.is_apart:
            found.setdefault(line.task, []).append(line)
    return dict(sorted(found.items()))


def draws_by_task(draws: Iterable[Draw]) -> dict[str, list[Draw]]:
    """The draws of each task."""
    found: dict[str, list[Draw]] = {}
    for draw in draws:
        found.setdefault(draw.task, []).append(draw)
    return found


def mean_chances(history: History, task: str) -> list[tuple[int, float]]:
    """Round and chance, the mean over arms and repeats that keep a curriculum."""
    found: dict[int, list[float]] = {}
    for rounds in history.chances.values():
        for number, known in rounds.items():
            if task in known:
                found.setdefault(number, []).append(float(known[task]))
    return [(number, sum(values) / len(values)) for number, values in sorted(found.items())]


def _lines(path: Path, arm: str, repeat: int, number: int) -> tuple[list[Draw], list[str]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return [], [f"{path.name} of {path.parent.name} cannot be read: {error}"]
    draws = list(_draws(text.splitlines(), arm, repeat, number))
    lost = len(text.splitlines()) - len(draws)
    if not lost:
        return draws, []
    return draws, [f"{CURRICULUM}/{path.parent.name}/{path.name}: {lost} lines cannot be read"]


def _draws(lines: Sequence[str], arm: str, repeat: int, number: int) -> Iterator[Draw]:
    for line in lines:
        try:
            told: dict[str, Any] = json.loads(line)
            yield Draw(
                arm=arm,
                repeat=repeat,
                round=number,
                episode=str(told["episode"]),
                task=task_name(str(told["task"])),
                seed=int(told["seed"]),
                reason=str(told["reason"]),
                why=str(told["why"]),
                value=float(told["value"]),
                chance=float(told["chance"]),
                share=float(told["share"]),
            )
        except (ValueError, KeyError, TypeError):  # cut short, or of another version
            continue
