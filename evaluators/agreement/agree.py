"""One evaluator against people's labels: every measure with its interval, abstentions apart."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluators.agreement.calibration import Calibration, calibration
from evaluators.agreement.intervals import rate_interval, resampled
from evaluators.agreement.measures import MEASURES, PASSES, RATES, Array, Counts, tables, turned
from evaluators.agreement.pairs import Pair
from evaluators.statistics import Interval

Measured = Mapping[str, Interval | None]
"""By the names of `MEASURES`; None where a measure is not defined, as precision without a pass."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How an evaluator stands to the labels of the episodes it was asked about."""

    episodes: int
    tasks: int
    """Resampled as wholes; as many as episodes where each has its own."""
    successes: int
    """Episodes that people call successes."""
    coverage: Interval | None
    """Share of episodes on which it did not abstain."""
    counts: Counts
    """Where it did not abstain, as all that follows but the bounds."""
    abstained: tuple[int, int]
    """On successes, on failures."""
    measures: Measured
    as_failure: Measured
    """Every measure were abstentions failures."""
    as_success: Measured
    """Every measure were abstentions successes."""
    calibration: Calibration | None


def agreement(pairs: Sequence[Pair], threshold: float = PASSES) -> Agreement:
    """The figures over these episodes. Rates have Wilson's interval, the others a bootstrap's."""
    table = tables(pairs, threshold)
    silent = [pair for pair in pairs if pair.value is None]
    true = sum(pair.truth for pair in silent)
    counted = Counts(*(int(count) for count in table.sum(0)))
    return Agreement(
        episodes=len(pairs),
        tasks=len(table),
        successes=sum(pair.truth for pair in pairs),
        coverage=_coverage(pairs),
        counts=counted,
        abstained=(true, len(silent) - true),
        measures=measured(table),
        as_failure=measured(tables(_filled(pairs, 0.0), threshold)),
        as_success=measured(tables(_filled(pairs, 1.0), threshold)),
        calibration=calibration(pairs),
    )


def by_group(pairs: Sequence[Pair], name: str) -> dict[str, Agreement]:
    """The figures of each group, as `benchmark`, `agent` or `task`; episodes without it are left
    out."""
    grouped: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if name in pair.groups:
            grouped[pair.groups[name]].append(pair)
    return {group: agreement(theirs) for group, theirs in sorted(grouped.items())}


def measured(table: Array) -> dict[str, Interval | None]:
    """Every measure of (clusters, 4) counts with its interval."""
    found: dict[str, Interval | None] = {}
    for name, measure in MEASURES.items():
        if name in RATES:
            part, whole = (table[:, list(columns)].sum(1) for columns in RATES[name])
            found[name] = rate_interval(part, whole)
        else:
            bottom = -1.0 if name == "kappa" else 0.0
            used = table[table.sum(1) > 0]
            found[name] = resampled(used, measure, (bottom, 1.0), [turned])
    return found


def _coverage(pairs: Sequence[Pair]) -> Interval | None:
    whole: defaultdict[str, int] = defaultdict(int)
    part: defaultdict[str, int] = defaultdict(int)
    for pair in pairs:
        whole[pair.cluster] += 1
        part[pair.cluster] += pair.value is not None
    parts = np.array([part[cluster] for cluster in whole], dtype=np.float64)
    return rate_interval(parts, np.array([*whole.values()], dtype=np.float64))


def _filled(pairs: Sequence[Pair], value: float) -> list[Pair]:
    return [pair if pair.value is not None else replace(pair, value=value) for pair in pairs]
