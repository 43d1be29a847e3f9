"""The report: how good the judge is, by task, on seeds and on tasks that it never saw."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TypedDict

from evaluators.reward.builtin import RewardModel
from evaluators.reward.calibration import Quality, Rate, quality
from loop.folder import Origin
from loop.judge_training.episodes import Labelled, Parts
from webagent.records import Ending

PARTS = ("calibration", "held-out seeds", "held-out tasks")


class Report(TypedDict):
    """What `report.json` holds."""

    command: list[str]
    settings: dict[str, Any]
    origin: Origin
    """The commit and versions it was made with."""
    judge: str
    """Id of the reward model; its weights lie in the folder `judge` of OUT."""
    episodes: dict[str, dict[str, int]]
    """Of each part: how many episodes, successes and tasks."""
    cost: dict[str, float]
    """Tokens, seconds and processor seconds."""
    calibration: dict[str, Any]
    parts: dict[str, Any]
    """How good it is on each part that was not taught: over all, and by task."""


def measured(judge: RewardModel, parts: Parts) -> dict[str, Any]:
    """For each part that was not taught: quality over all, over episodes that the page itself
    ended, which are hard to tell apart, and by task."""
    chosen = dict(zip(PARTS, (parts.calibrated, parts.seeds, parts.tasks), strict=True))
    return {name: _part(judge, episodes) for name, episodes in chosen.items() if episodes}


def _part(judge: RewardModel, episodes: Sequence[Labelled]) -> dict[str, Any]:
    chances = judge.probabilities([e.trajectory for e in episodes])
    told = list(zip(episodes, chances, strict=True))
    by_task: defaultdict[str, list[tuple[Labelled, float]]] = defaultdict(list)
    for episode, chance in told:
        by_task[episode.task].append((episode, chance))
    ended = [each for each in told if each[0].trajectory.ending is Ending.TASK_OVER]
    line = judge.calibration.threshold
    return {
        "all": asdict(_quality(told, line)),
        "ended by the page": asdict(_quality(ended, line)),
        "tasks": {name: asdict(_quality(by_task[name], line)) for name in sorted(by_task)},
    }


def _quality(told: Sequence[tuple[Labelled, float]], line: float) -> Quality:
    return quality([chance for _, chance in told], [e.success for e, _ in told], line)


def table(report: Report) -> str:
    """The report as text: a line for each part, then one for each task."""
    head = f"{'':<32}{'episodes':>9}  {'precision':<20}{'recall':<20}{'false positives':<20}"
    lines = [f"{head}{'Brier':>6}{'ECE':>7}"]
    for name, found in report["parts"].items():
        lines.append(_line(name, found["all"]))
        lines.append(_line(f"{name}, page ended it", found["ended by the page"]))
    for name, found in report["parts"].items():
        if name != PARTS[0]:
            lines.extend(["", f"{name}, by task"])
            lines.extend(_line(f"  {task}", row) for task, row in found["tasks"].items())
    return "\n".join(lines)


def _line(name: str, row: dict[str, Any]) -> str:
    rates = "".join(
        f"{_rate(Rate(*row[key])):<20}" for key in ("precision", "recall", "false_positives")
    )
    return f"{name:<32}{row['episodes']:>9}  {rates}{row['brier']:>6.3f}{row['ece']:>7.3f}"


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return "-"
    return f"{rate.value:6.1%} ({rate.low:.0%}-{rate.high:.0%})"
