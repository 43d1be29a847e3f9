"""What failures are put down to: worked out while nobody asks for a page, kept for next time."""

import hashlib
import json
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from apps.view.contents import Contents, EpisodeLine, Run
from evaluators.attribution import Attribution, attribute, has_failed
from evaluators.attribution.attribute import SOURCE
from evaluators.steps import StepJudgement, load_judgements
from loop.failures import FILE, read_attributions
from webagent.errors import StoreError

logger = logging.getLogger(__name__)

_AT_ONCE = 20
"""Episodes between two looks at whether somebody waits for a page."""
_PAUSE_SECONDS = 0.02
_FORM = TypeAdapter(Attribution)


@dataclass(frozen=True, slots=True)
class KnownCauses:
    """What is known of a run's failures at one moment."""

    found: Mapping[str, Attribution]
    failures: int
    """Episodes of the policy that have failed, as far as is known."""
    pending: int
    """Failures that will yet be looked at."""
    problem: str = ""
    """What could not be read; empty where everything could."""


class CauseFinder:
    """Finds out why the failures of runs failed, one after another, in a thread of its own.

    What it finds lies in the user's cache folder, never in the run's. Without a folder that can be
    written it is kept in memory alone.
    """

    def __init__(self, cache: Path | None = None, is_busy: Callable[[], bool] = lambda: False):
        self._cache = cache_folder() if cache is None else cache
        self._is_busy = is_busy
        self._works: dict[str, _Work] = {}
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()

    def known(self, run: Run, contents: Contents) -> KnownCauses:
        """Return what is known now; what is missing will be looked at."""
        with self._lock:
            work = self._works.get(run.name)
            if work is None:
                key = hashlib.sha256(os.fsencode(run.path.resolve())).hexdigest()[:24]
                work = self._works[run.name] = _Work(run, self._cache / f"{key}.sqlite")
        if work.want(contents):
            thread = threading.Thread(target=self._run, args=(work,), daemon=True)
            with self._lock:
                thread.start()
                self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        return work.known(contents)

    def progress(self, run: Run) -> int:
        """Return a number that changes when more is known, so that pages can follow."""
        work = self._works.get(run.name)
        return work.progress if work else 0

    def close(self) -> None:
        """Stop looking; what was found stays, and nothing is written any more."""
        self._closing.set()
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join()

    def _run(self, work: "_Work") -> None:
        while not self._closing.is_set() and (chunk := work.take()):
            while self._is_busy() and not self._closing.wait(_PAUSE_SECONDS):
                pass
            work.look_at(chunk)
            self._closing.wait(_PAUSE_SECONDS)


@dataclass(slots=True)
class _Work:
    """The failures of one run: those to look at, and what was found."""

    run: Run
    path: Path
    progress: int = 0
    _problem: str = ""
    _found: dict[str, Attribution | None] = field(default_factory=dict)
    """None for an episode that turned out to have nothing to put down to anything."""
    _marks: dict[str, str] = field(default_factory=dict)
    """Of each failure what its attribution rests upon."""
    _missing: list[str] = field(default_factory=list)
    _version: str = ""
    _trusted: str = ""
    _judged: Mapping[str, StepJudgement] | None = None
    """What was said of the episodes' steps; None before it was read."""
    _is_going: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def want(self, contents: Contents) -> bool:
        """Take note of the run's failures as they are now; return whether somebody is to start."""
        with self._lock:
            if self._version != contents.version:
                marks = {id: _mark(contents.by_id[id]) for id in contents.failed}
                for id in [id for id in self._found if marks.get(id) != self._marks.get(id)]:
                    del self._found[id]
                self._marks, self._trusted = marks, contents.judge
                self._version, self._problem = contents.version, ""
                self._missing = [id for id in contents.failed if id not in self._found]
            starts = bool(self._missing) and not self._is_going and not self._problem
            self._is_going |= starts
            return starts

    def known(self, contents: Contents) -> KnownCauses:
        """Return what is known of the failures in these contents."""
        with self._lock:
            told = {id: self._found[id] for id in contents.failed if id in self._found}
            found = {id: one for id, one in told.items() if one is not None}
            missing = len(contents.failed) - len(told)
            left = 0 if self._problem else missing
            return KnownCauses(found, len(found) + missing, left, self._problem)

    def take(self) -> list[str]:
        """Return the next failures to look at, those left out that are known from before."""
        if self._judged is None:
            told, judged = _read_kept(self.path, self._marks), dict[str, StepJudgement]()
            problem = ""
            try:
                if (self.run.path / FILE).is_file():
                    told.update(
                        {one.episode: one for one in read_attributions(self.run.path / FILE)}
                    )
                with self.run.store() as store:
                    judged = load_judgements(store)
            except StoreError as error:
                problem = str(error)
            with self._lock:
                self._problem, self._judged = problem, judged
                self._found.update({id: one for id, one in told.items() if id in self._marks})
                self.progress += 1
        with self._lock:
            wanted = [id for id in self._missing if id not in self._found]
            self._missing = wanted[_AT_ONCE:]
            self._is_going = bool(wanted)
            return wanted[:_AT_ONCE]

    def look_at(self, ids: Sequence[str]) -> None:
        """Attribute these and keep what was found."""
        new: dict[str, Attribution | None] = {}
        try:
            with self.run.store() as store:
                scores = store.scores("any", id=ids)
                for id in ids:
                    trajectory, given = store.load(id), scores.get(id, ())
                    new[id] = None
                    if trajectory is not None and has_failed(trajectory, given, self._trusted):
                        judged = (self._judged or {}).get(id)
                        new[id] = attribute(trajectory, given, judged, trusted=self._trusted)
        except StoreError as error:
            with self._lock:
                self._problem, self._missing = str(error), []
            return
        with self._lock:
            self._found.update(new)
            self.progress += 1
            marks = dict(self._marks)
        rows = [(id, marks.get(id, ""), json.dumps(asdict(one))) for id, one in new.items() if one]
        try:
            with closing(_open_database(self.path)) as database, database:
                database.executemany("INSERT OR REPLACE INTO causes VALUES (?, ?, ?)", rows)
        except (OSError, sqlite3.Error) as error:
            logger.info("%s keeps nothing: %s", self.path, error)


def cache_folder() -> Path:
    """Return where viewers keep what they have worked out."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "webagent" / "view"


def _read_kept(path: Path, marks: Mapping[str, str]) -> dict[str, Attribution]:
    """Return what a viewer found before and still holds; nothing of a file that is unreadable."""
    if not path.is_file():
        return {}
    try:
        with closing(_open_database(path)) as database:
            rows = database.execute("SELECT episode, mark, body FROM causes").fetchall()
        return {
            episode: _FORM.validate_json(body)
            for episode, mark, body in rows
            if marks.get(episode) == mark
        }
    except (OSError, sqlite3.Error, ValidationError) as error:
        logger.info("%s cannot be read and is begun again: %s", path, error)
        path.unlink(missing_ok=True)
        return {}


def _open_database(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = sqlite3.connect(path, timeout=5)
    made.execute(
        "CREATE TABLE IF NOT EXISTS causes"
        " (episode TEXT PRIMARY KEY, mark TEXT NOT NULL, body TEXT NOT NULL)"
    )
    return made


def _mark(line: EpisodeLine) -> str:
    """Return what an attribution rests upon beside the episode, which no longer changes."""
    said = sorted(f"{score.evaluator}={score.value}" for score in line.verdicts)
    return hashlib.sha256("\n".join((SOURCE, *said)).encode()).hexdigest()[:16]
