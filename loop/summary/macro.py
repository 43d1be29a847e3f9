"""The average over templates: each counts once, however many tasks and episodes it has."""

from collections.abc import Iterable, Mapping
from typing import TypedDict

from evaluators.statistics import cluster_interval


class MacroRow(TypedDict):
    """One arm's average over templates; rates lie in [0, 1]."""

    arm: str
    success: float
    low: float
    """95 %, for other templates like these; see `evaluators.statistics.cluster_interval`."""
    high: float
    templates: int


def macro_row(
    arm: str, outcomes: Iterable[tuple[str, float]], templates: Mapping[str, str]
) -> MacroRow:
    """From pairs of a task's name and the success of an episode."""
    groups: dict[str, list[float]] = {}
    for task, success in outcomes:
        groups.setdefault(templates.get(task, task), []).append(success)
    found = cluster_interval(list(groups.values()))
    return MacroRow(
        arm=arm, success=found.value, low=found.low, high=found.high, templates=len(groups)
    )
