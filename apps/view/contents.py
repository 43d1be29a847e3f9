"""A run's table of contents: every episode with its verdicts, kept until the run changes."""

import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from apps.view.archive import Run
from loop.folder import read_judge_id
from loop.summary.measure import task_name
from webagent.records import SET_APART, Score
from webagent.store import EpisodeSummary, Store

_HALF = 0.5


class Outcome(StrEnum):
    """What came of an episode, by the judge that has the last word."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNSCORED = "unscored"
    """It ended and nobody could say how well."""
    BROKEN = "broken"
    """Browser, model server or site failed: nothing is said about the agent."""
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Line:
    """One episode as lists show it."""

    entry: EpisodeSummary
    task: str
    """The task's name without benchmark and version."""
    outcome: Outcome
    value: float | None
    """Given by the judge that has the last word."""
    reason: str
    verdicts: tuple[Score, ...]
    """All scores named `success`."""

    @property
    def is_apart(self) -> bool:
        """Whether it says nothing of a policy: a baseline, or what one was recorded from."""
        return self.entry.phase in SET_APART

    @property
    def doubts(self) -> tuple[Score, ...]:
        """Verdicts of other judges that contradict the last word."""
        if self.value is None:
            return ()
        said = self.value >= _HALF
        others = (score for score in self.verdicts if score.value is not None)
        return tuple(score for score in others if ((score.value or 0.0) >= _HALF) is not said)


@dataclass(frozen=True)
class Contents:
    """All episodes of a run at one moment, in the order of their plans."""

    version: str
    judge: str
    """How the id of the judge begins that has the last word."""
    lines: tuple[Line, ...]

    @cached_property
    def by_id(self) -> Mapping[str, Line]:
        """The lines by their episodes' ids."""
        return {line.entry.id: line for line in self.lines}

    @cached_property
    def failed(self) -> tuple[str, ...]:
        """Ids of episodes that went wrong, the last ones first: what a cause is looked for."""
        wrong = [line for line in self.lines if line.outcome in (Outcome.FAILED, Outcome.BROKEN)]
        wrong += [line for line in self.lines if line.outcome is Outcome.UNSCORED and line.verdicts]
        return tuple(line.entry.id for line in sorted(wrong, key=lambda one: -one.entry.started))

    @cached_property
    def counts(self) -> Mapping[Outcome, int]:
        """How many episodes came to what."""
        found = Counter(line.outcome for line in self.lines)
        return {outcome: found[outcome] for outcome in Outcome}

    def values(self, name: str) -> list[str]:
        """What the episodes have in one of their entry's fields, each once and sorted."""
        found = {getattr(line.entry, name) for line in self.lines}
        return [str(value) for value in sorted(found)]


def read_contents(store: Store, version: str) -> Contents:
    """The contents as they are stored now. Raises `StoreError`."""
    entries, scores = store.entries("any"), store.scores("any")
    judge = _judge(read_judge_id(store), scores)
    lines = tuple(_line(entry, scores.get(entry.id, ()), judge) for entry in entries)
    return Contents(version, judge, lines)


_REST = 10.0
"""A run that takes long to read is read again after so many times as long, not at every step."""


@dataclass(slots=True)
class _Place:
    """A run on the shelf."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    contents: Contents | None = None
    read_at: float = 0.0
    seconds: float = 0.0
    """That reading took."""


class Shelf:
    """The contents of the runs that were asked for, read again only after a change."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}
        self._lock = threading.Lock()

    def contents(self, run: Run) -> Contents:
        """The run's contents as they are, or were a moment ago. Raises `StoreError`."""
        place = self._place(run)
        with place.lock:
            version = self._version(run, place)
            if place.contents is None or place.contents.version != version:
                began = time.monotonic()
                with run.store() as store:
                    place.contents = read_contents(store, version)
                place.read_at = time.monotonic()
                place.seconds = place.read_at - began
            return place.contents

    def has(self, run: Run) -> bool:
        """Whether the run's contents can be had at once."""
        place = self._place(run)
        kept = place.contents
        return kept is not None and kept.version == self._version(run, place)

    def version(self, run: Run) -> str:
        """Changes whenever other contents would be given. Raises `StoreError`."""
        return self._version(run, self._place(run))

    def _place(self, run: Run) -> _Place:
        with self._lock:
            return self._places.setdefault(run.name, _Place())

    def _version(self, run: Run, place: _Place) -> str:
        if place.contents and time.monotonic() - place.read_at < _REST * place.seconds:
            return place.contents.version
        return run.version()


def _judge(named: str, scores: Mapping[str, Sequence[Score]]) -> str:
    """Who has the last word: who the run says, else whoever gave most verdicts."""
    given = Counter(
        score.evaluator for said in scores.values() for score in said if score.name == "success"
    )
    if not given or any(evaluator.startswith(named) for evaluator in given):
        return named
    return min(given, key=lambda evaluator: (-given[evaluator], evaluator))


def _line(entry: EpisodeSummary, scores: Iterable[Score], judge: str) -> Line:
    verdicts = tuple(score for score in scores if score.name == "success")
    said = next((score for score in verdicts if score.evaluator.startswith(judge)), None)
    value = said.value if said else None
    return Line(
        entry=entry,
        task=task_name(entry.task),
        outcome=_outcome(entry, value),
        value=value,
        reason=said.reason if said else "",
        verdicts=verdicts,
    )


def _outcome(entry: EpisodeSummary, value: float | None) -> Outcome:
    if entry.ending is None:
        return Outcome.RUNNING
    if entry.ending.is_infrastructure:
        return Outcome.BROKEN
    if value is None:
        return Outcome.UNSCORED
    return Outcome.SUCCEEDED if value >= _HALF else Outcome.FAILED
