"""The runs under a folder, and each run's table of contents: episodes with their verdicts."""

import fcntl
import json
import os
import shlex
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path

from loop.folder import LOCK, PROGRESS
from loop.notes import choose_judge, read_judge_id
from loop.summary.measure import task_name
from webagent.errors import SetupError, StoreError, unknown_name
from webagent.records import Score
from webagent.rollout import INTERRUPTED
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

    def store(self) -> Store:
        """Open its store for reading alone, for as long as one request. Raises `StoreError`."""
        return Store.look(self.path)

    def changed(self) -> float:
        """When something was stored last, in seconds since 1970; 0 where nothing ever was."""
        return max(_changed(self.path / name) for name in (*_FILES, "run.sqlite-wal", PROGRESS))

    def at_work(self) -> dict[str, tuple[str, str]]:
        """Return by job what it is at, and the last that it achieved; empty where none is."""
        try:
            found = json.loads((self.path / PROGRESS).read_text(encoding="utf-8"))
            return {job: (str(now), str(news)) for job, (now, news) in found.items()}
        except (OSError, ValueError, AttributeError):
            return {}

    def is_finished(self) -> bool:
        """Return whether it has summed itself up, and stored nothing since."""
        return self._ended() + _CLOSING_SECONDS > self.changed()

    def is_over(self) -> bool:
        """Return whether it has come to its end: judging it later changes nothing of that."""
        ended = self._ended()
        if ended + _CLOSING_SECONDS > self.changed():
            return True
        return bool(ended) and 0 < _last_begun(self.path, self.version()) < ended

    def has_begun(self) -> bool:
        """Return whether any episode was begun."""
        return _last_begun(self.path, self.version()) > 0

    def is_played(self) -> bool | None:
        """Return whether a process plays it; None where none is recorded."""
        try:
            with (self.path / LOCK).open() as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return None
        return False

    def is_closed(self) -> bool:
        """Return whether the store is closed, so that nothing is running.

        A run that was just begun has stored nothing yet.
        """
        if (played := self.is_played()) is not None:
            return not played
        if (self.path / "run.sqlite-wal").exists():
            return False
        return _changed(self.path / "run.sqlite") > _changed(self.path / "run.json")

    def _ended(self) -> float:
        """Return when it wrote what came of it, in seconds since 1970; 0 where it did not."""
        return max(_changed(self.path / name) for name in ("summary.json", "result.json"))

    def last_time(self) -> float:
        """Return when it ended, as it wrote itself; else when something was stored last."""
        if self.is_over():
            for name in ("summary.json", "result.json"):
                if found := _read_end(self.path / name, _changed(self.path / name)):
                    return found
        return self.changed()

    def version(self) -> str:
        """Changes whenever something was stored; empty where there is no store."""
        stamps = []
        for name in ("run.sqlite", "run.sqlite-wal"):
            try:
                found = (self.path / name).stat()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreError(f"{self.path} cannot be read: {error}") from error
            stamps.append(f"{found.st_mtime_ns:x}.{found.st_size:x}")
        return "-".join(stamps)


def _changed(file: Path) -> float:
    """Return when a file was written last; 0 where it is not there, or just being replaced."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


@lru_cache(maxsize=256)
def _read_end(file: Path, changed: float) -> float:
    """Return the end that a file written at this time names; 0 where there is none."""
    try:
        return float(json.loads(file.read_text(encoding="utf-8"))["ended"]) if changed else 0.0
    except (OSError, ValueError, TypeError, KeyError):
        return 0.0


@lru_cache(maxsize=256)
def _last_begun(path: Path, version: str) -> float:
    """Return when the last episode began in a store of this version; 0 where it is not known."""
    try:
        with Store.look(path) as store:
            return store.last_began()
    except StoreError:  # reported where the store is read
        return 0.0


@dataclass(frozen=True, slots=True)
class Archive:
    """What `webagent view` was pointed at: one run, or a folder of runs."""

    folder: Path

    def runs(self) -> list[Run]:
        """Return all runs there are now, the one that was changed last first."""
        return sorted(self._find_runs(), key=lambda run: (-run.changed(), run.name))

    def run(self, name: str) -> Run:
        """Return the run of this name. Raises `SetupError` where there is none."""
        found = {run.name: run for run in self._find_runs()}
        if name not in found:
            raise unknown_name("run", name, list(found))
        return found[name]

    def check(self) -> None:
        """Raise `SetupError` where there is nothing to show."""
        if not self.folder.is_dir():
            raise SetupError(
                f"{self.folder} is not a folder; name a run folder or one that has some"
            )
        if not any(self._find_runs()):
            raise SetupError(
                f"{self.folder} holds no run, {_DEPTH} levels down; a run folder has a run.sqlite:"
                " make one with `webagent benchmark` or `webagent improve`"
            )

    def _find_runs(self) -> Iterator[Run]:
        root = self.folder.resolve()
        if _is_run(root):
            yield Run(root.name or "run", root)
            return
        for path in _list_folders(root, _DEPTH):
            if _is_run(path):
                yield Run(_SEPARATOR.join(path.relative_to(root).parts), path)


def _list_folders(folder: Path, depth: int) -> Iterator[Path]:
    """Return the folders below, those of runs not entered."""
    try:
        inside = sorted(Path(entry) for entry in os.scandir(folder) if entry.is_dir())
    except OSError:  # a folder that may not be read has nothing to show
        return
    for path in inside:
        if not path.name.startswith("."):
            yield path
            if depth > 1 and not _is_run(path):
                yield from _list_folders(path, depth - 1)


def _is_run(path: Path) -> bool:
    return any((path / name).is_file() for name in _FILES)


_PASSES = 0.5


class EpisodeOutcome(StrEnum):
    """What came of an episode, by the judge that has the last word."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNSCORED = "unscored"
    """It ended and nobody could say how well."""
    BROKEN = "broken"
    """Browser, model server or site failed, which says nothing about the agent."""
    INTERRUPTED = "interrupted"
    """A person or a kill cut it short, and it is played again."""
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
    def is_scored(self) -> bool:
        """Whether the judge has scored it."""
        return self.outcome in (EpisodeOutcome.SUCCEEDED, EpisodeOutcome.FAILED)

    @property
    def is_measured(self) -> bool:
        """Whether it counts in the success of its arm and round."""
        return self.entry.phase == "evaluate" and self.is_scored

    @property
    def doubts(self) -> tuple[Score, ...]:
        """Verdicts of other judges that contradict the last word."""
        if self.value is None:
            return ()
        is_good = self.value >= _PASSES
        return tuple(
            score
            for score in self.verdicts
            if score.value is not None and (score.value >= _PASSES) is not is_good
        )


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
        """Ids of the policy's episodes that went wrong, last ones first: a cause is looked for."""
        wrong = [
            line
            for line in self.of_policy
            if line.outcome in (EpisodeOutcome.FAILED, EpisodeOutcome.BROKEN)
            or (line.outcome is EpisodeOutcome.UNSCORED and line.verdicts)
        ]
        # Those without a word of the run's judge come last: they may turn out not to have failed.
        wrong.sort(key=lambda one: (one.outcome is EpisodeOutcome.UNSCORED, -one.entry.started))
        return tuple(line.entry.id for line in wrong)

    @cached_property
    def counts(self) -> Mapping[EpisodeOutcome, int]:
        """How many episodes of the policy came to what."""
        found = Counter(line.outcome for line in self.of_policy)
        return {outcome: found[outcome] for outcome in EpisodeOutcome}

    def values(self, name: str) -> list[str]:
        """Return what the episodes have in one of their entry's fields, each once and sorted."""
        found = {getattr(line.entry, name) for line in self.lines}
        return [str(value) for value in sorted(found)]


def read_contents(store: Store, version: str) -> Contents:
    """Return the contents as they are stored now. Raises `StoreError`."""
    scores = store.scores("any")
    judge = choose_judge(read_judge_id(store), scores)
    lines = []
    for entry in store.entries("any"):
        verdicts = tuple(score for score in scores.get(entry.id, ()) if score.name == "success")
        verdict = next((score for score in verdicts if score.evaluator.startswith(judge)), None)
        value = verdict.value if verdict else None
        if entry.ending is None:
            outcome = EpisodeOutcome.RUNNING
        elif entry.error == INTERRUPTED:
            outcome = EpisodeOutcome.INTERRUPTED
        elif entry.ending.is_infrastructure:
            outcome = EpisodeOutcome.BROKEN
        elif value is None:
            outcome = EpisodeOutcome.UNSCORED
        else:
            outcome = EpisodeOutcome.SUCCEEDED if value >= _PASSES else EpisodeOutcome.FAILED
        reason = verdict.reason if verdict else ""
        name = task_name(entry.task)
        lines.append(EpisodeLine(entry, name, outcome, value, reason, verdicts))
    return Contents(version, judge, tuple(lines))


_REST = 10.0
"""A run that takes long to read is read again after so many times as long, not at every step."""


@dataclass(slots=True)
class _CachedRun:
    """A run's contents as they were read last."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    contents: Contents | None = None
    read_at: float = 0.0
    seconds: float = 0.0
    """That reading took."""

    def version(self, run: Run) -> str:
        if self.contents and time.monotonic() - self.read_at < _REST * self.seconds:
            return self.contents.version
        return run.version()


class ContentsCache:
    """The contents of the requested runs, read again only after a change."""

    def __init__(self) -> None:
        self._cached: dict[str, _CachedRun] = {}
        self._lock = threading.Lock()

    def contents(self, run: Run) -> Contents:
        """Return the run's contents as they are, or were a moment ago. Raises `StoreError`."""
        cached = self._find(run)
        with cached.lock:
            version = cached.version(run)
            if cached.contents is None or cached.contents.version != version:
                began = time.monotonic()
                with run.store() as store:
                    cached.contents = read_contents(store, version)
                cached.read_at = time.monotonic()
                cached.seconds = cached.read_at - began
            return cached.contents

    def has(self, run: Run) -> bool:
        """Return whether the run's contents can be had at once."""
        cached = self._find(run)
        return cached.contents is not None and cached.contents.version == cached.version(run)

    def version(self, run: Run) -> str:
        """Return what changes whenever other contents would be given. Raises `StoreError`."""
        return self._find(run).version(run)

    def _find(self, run: Run) -> _CachedRun:
        with self._lock:
            return self._cached.setdefault(run.name, _CachedRun())
