"""What the baselines of a measurement came to, beside the policy on the same tasks and seeds."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from evaluators.statistics import wilson
from webagent.records import SET_APART
from webagent.store import EpisodeSummary

NOTHING, GIVE_UP, REPLAY = "do nothing", "give up at once", "blind replay"
BASELINES = (NOTHING, GIVE_UP, REPLAY)
PHASE, RECORDING = SET_APART
"""Phases of the episodes that are baselines, and of those that were played to be replayed."""


class BaselineRow(TypedDict):
    """One baseline; rates lie in [0, 1]."""

    name: str
    success: float
    low: float
    """Wilson's 95 % interval over the episodes."""
    high: float
    episodes: int
    tasks: int
    policy: float | None
    """The policy's success on the same tasks and seeds; None where it has not played them."""


def baseline_rows(
    entries: Sequence[EpisodeSummary], values: Mapping[str, float]
) -> list[BaselineRow]:
    """A row for each baseline that was scored; `values` has episodes' scores of the judge."""
    measured: dict[tuple[str, int], list[float]] = {}
    for entry in entries:
        if entry.phase == "evaluate" and entry.id in values:
            measured.setdefault((entry.task, entry.seed), []).append(values[entry.id])
    rows = []
    for name in BASELINES:
        own = [e for e in entries if (e.phase, e.arm) == (PHASE, name) and e.id in values]
        if own:
            rows.append(_row(name, own, values, measured))
    return rows


def _row(
    name: str,
    own: Sequence[EpisodeSummary],
    values: Mapping[str, float],
    measured: Mapping[tuple[str, int], list[float]],
) -> BaselineRow:
    successes = sum(values[entry.id] for entry in own)
    low, high = wilson(successes, len(own))
    places = {(entry.task, entry.seed) for entry in own}
    beside = [value for place in places for value in measured.get(place, ())]
    return BaselineRow(
        name=name,
        success=successes / len(own),
        low=low,
        high=high,
        episodes=len(own),
        tasks=len({entry.task for entry in own}),
        policy=sum(beside) / len(beside) if beside else None,
    )
