"""The runs under a folder, and each run's table of contents: episodes with their verdicts."""

import os
import shlex
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from loop.folder import choose_judge, read_judge_id
from loop.summary.measure import task_name
from webagent.errors import SetupError, StoreError, unknown_name
from webagent.records import Score
from webagent.store import EpisodeSummary, Store

_FILES = ("run.sqlite", "run.json")
"""A folder that holds one of these is a run, whole or not."""
_DEPTH = 3
"""Levels of folders that are searched."""
_CLOSING_SECONDS = 5.0
"""Within which a store is closed after the summary was written."""
_SEPARATOR = "~"
"""Stands in an address for what separates folders."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run folder."""

    name: str
    """As it stands in addresses: the path below the folder that is shown, `/` written as `~`."""
    path: Path

    @property
    def title(self) -> str:
        """The name for people."""
        return self.name.replace(_SEPARATOR, "/")

    @property
    def address(self) -> str:
        """Where its pages begin."""
        return f"/run/{self.name}"

    @property
    def argument(self) -> str:
        """Its folder as a command in this viewer's folder takes it."""
        here = Path.cwd()
        path = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        return shlex.quote(str(path))

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Its store for reading alone, for as long as one request. Raises `StoreError`."""
        with Store.look(self.path) as opened:
            yield opened

    def changed(self) -> float:
        """When something was stored last, in seconds since 1970; 0 where nothing ever was."""
        times = [0.0]
        for name in (*_FILES, "run.sqlite-wal"):
            try:
                times.append((self.path / name).stat().st_mtime)
            except OSError:  # not there, or just being replaced
                continue
        return max(times)

    def is_finished(self) -> bool:
        """Whether it has summed itself up, and stored nothing since."""
        try:
            return (self.path / "summary.json").stat().st_mtime + _CLOSING_SECONDS > self.changed()
        except OSError:  # no summary
            return False

    def version(self) -> str:
        """Changes whenever something was stored; empty where there is no store."""
        try:
            stats = [_stat(self.path / f"run.sqlite{end}") for end in ("", "-wal")]
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error}") from error
        return "-".join(filter(None, stats))


@dataclass(frozen=True, slots=True)
class Archive:
    """What `webagent view` was pointed at: one run, or a folder of runs."""

    folder: Path

    def runs(self) -> list[Run]:
        """All runs there are now, the one that was changed last first."""
        found = sorted(self._found(), key=lambda run: (-run.changed(), run.name))
        return found

    def run(self, name: str) -> Run:
        """The run of this name. Raises `SetupError` where there is none."""
        for run in self._found():
            if run.name == name:
                return run
        raise unknown_name("run", name, [run.name for run in self._found()])

    def check(self) -> None:
        """Raises `SetupError` where there is nothing to show."""
        if not self.folder.is_dir():
            raise SetupError(f"{self.folder} is no folder; name a run folder or one that has some")
        if not self.runs():
            raise SetupError(
                f"{self.folder} holds no run, {_DEPTH} levels down; a run folder has a run.sqlite:"
                " make one with `webagent benchmark` or `webagent improve`"
            )

    def _found(self) -> Iterator[Run]:
        root = self.folder.resolve()
        if _is_run(root):
            yield Run(root.name or "run", root)
            return
        for path in _folders(root, _DEPTH):
            if _is_run(path):
                yield Run(_SEPARATOR.join(path.relative_to(root).parts), path)


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    """Folders below, those of runs not entered."""
    try:
        inside = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    except OSError:  # a folder that may not be read has nothing to show
        return
    for name in inside:
        path = Path(name)
        if path.name.startswith("."):
            continue
        yield path
        if depth > 1 and not _is_run(path):
            yield from _folders(path, depth - 1)


def _is_run(path: Path) -> bool:
    return any((path / name).is_file() for name in _FILES)


def _stat(path: Path) -> str:
    try:
        found = path.stat()
    except FileNotFoundError:
        return ""
    return f"{found.st_mtime_ns:x}.{found.st_size:x}"


_HALF = 0.5


class EpisodeOutcome(StrEnum):
    """What came of an episode, by the judge that has the last word."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNSCORED = "unscored"
    """It ended and nobody could say how well."""
    BROKEN = "broken"
    """Browser, model server or site failed: nothing is said about the agent."""
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """One episode as lists show it."""

    entry: EpisodeSummary
    task: str
    """The task's name without benchmark and version."""
    outcome: EpisodeOutcome
    value: float | None
    """Given by the judge that has the last word."""
    reason: str
    verdicts: tuple[Score, ...]
    """All scores named `success`."""

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
    lines: tuple[EpisodeLine, ...]

    @cached_property
    def by_id(self) -> Mapping[str, EpisodeLine]:
        """The lines by their episodes' ids."""
        return {line.entry.id: line for line in self.lines}

    @cached_property
    def of_policy(self) -> tuple[EpisodeLine, ...]:
        """The lines that count in the policy's figures."""
        return tuple(line for line in self.lines if line.entry.is_of_policy)

    @cached_property
    def failed(self) -> tuple[str, ...]:
        """Ids of the policy's episodes that went wrong, the last ones first: what a cause is looked
        for."""
        wrong = [
            line
            for line in self.of_policy
            if line.outcome in (EpisodeOutcome.FAILED, EpisodeOutcome.BROKEN)
        ]
        wrong += [
            line
            for line in self.of_policy
            if line.outcome is EpisodeOutcome.UNSCORED and line.verdicts
        ]
        return tuple(line.entry.id for line in sorted(wrong, key=lambda one: -one.entry.started))

    @cached_property
    def counts(self) -> Mapping[EpisodeOutcome, int]:
        """How many episodes of the policy came to what."""
        found = Counter(line.outcome for line in self.of_policy)
        return {outcome: found[outcome] for outcome in EpisodeOutcome}

    def values(self, name: str) -> list[str]:
        """What the episodes have in one of their entry's fields, each once and sorted."""
        found = {getattr(line.entry, name) for line in self.lines}
        return [str(value) for value in sorted(found)]


def read_contents(store: Store, version: str) -> Contents:
    """The contents as they are stored now. Raises `StoreError`."""
    entries, scores = store.entries("any"), store.scores("any")
    judge = choose_judge(read_judge_id(store), scores)
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


class ContentsCache:
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


def _line(entry: EpisodeSummary, scores: Iterable[Score], judge: str) -> EpisodeLine:
    verdicts = tuple(score for score in scores if score.name == "success")
    said = next((score for score in verdicts if score.evaluator.startswith(judge)), None)
    value = said.value if said else None
    return EpisodeLine(
        entry=entry,
        task=task_name(entry.task),
        outcome=_outcome(entry, value),
        value=value,
        reason=said.reason if said else "",
        verdicts=verdicts,
    )


def _outcome(entry: EpisodeSummary, value: float | None) -> EpisodeOutcome:
    if entry.ending is None:
        return EpisodeOutcome.RUNNING
    if entry.ending.is_infrastructure:
        return EpisodeOutcome.BROKEN
    if value is None:
        return EpisodeOutcome.UNSCORED
    return EpisodeOutcome.SUCCEEDED if value >= _HALF else EpisodeOutcome.FAILED
