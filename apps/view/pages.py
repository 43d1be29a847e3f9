"""What every page is made with: the runs, the templates, the frame, why episodes failed."""

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse

from apps.report.templating import make_environment
from apps.view.contents import Archive, Contents, ContentsCache, Run
from apps.view.figures import FigureCache
from evaluators.attribution import Attribution, attribute, has_failed
from evaluators.attribution.attribute import SOURCE
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
    _is_read: bool = False
    """Whether the causes that were written earlier have been read."""
    _is_going: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def want(self, contents: Contents) -> bool:
        """Take note of the run's failures as they are now; return whether somebody is to start."""
        with self._lock:
            if self._version != contents.version:
                # What an attribution rests upon beside the episode, which no longer changes.
                lines = contents.by_id
                marks = {
                    id: SOURCE + str(sorted(f"{s.evaluator}={s.value}" for s in lines[id].verdicts))
                    for id in contents.failed
                }
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
            known = {id: self._found[id] for id in contents.failed if id in self._found}
            found = {id: one for id, one in known.items() if one is not None}
            missing = len(contents.failed) - len(known)
            left = 0 if self._problem else missing
            return KnownCauses(found, len(found) + missing, left, self._problem)

    def take(self) -> list[str]:
        """Return the next failures to look at, those left out that are known from before."""
        if not self._is_read:
            kept: dict[str, Attribution] = {}
            problem = ""
            try:
                if self.path.is_file():
                    with closing(_open_database(self.path)) as database:
                        rows = database.execute("SELECT episode, mark, body FROM causes").fetchall()
                    for episode, mark, body in rows:
                        if self._marks.get(episode) == mark:
                            kept[episode] = _FORM.validate_json(body)
            except (OSError, sqlite3.Error, ValidationError) as error:
                logger.info("%s cannot be read and is rebuilt: %s", self.path, error)
                self.path.unlink(missing_ok=True)
                kept.clear()
            try:
                if (self.run.path / FILE).is_file():
                    kept.update(
                        {one.episode: one for one in read_attributions(self.run.path / FILE)}
                    )
            except StoreError as error:
                problem = str(error)
            with self._lock:
                self._problem, self._is_read = problem, True
                self._found.update({id: one for id, one in kept.items() if id in self._marks})
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
                        new[id] = attribute(trajectory, given, trusted=self._trusted)
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
            logger.info("%s cannot be written: %s", self.path, error)


def cache_folder() -> Path:
    """Return where viewers keep what they have worked out."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "webagent" / "view"


def _open_database(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = sqlite3.connect(path, timeout=5)
    made.execute(
        "CREATE TABLE IF NOT EXISTS causes"
        " (episode TEXT PRIMARY KEY, mark TEXT NOT NULL, body TEXT NOT NULL)"
    )
    return made


HERE = Path(__file__).parent
TEMPLATES = (HERE / "templates", HERE / "episode" / "templates")
"""Folders with templates; names must differ."""
_FRESH_SECONDS = 60.0
"""A run that stored something so lately is taken to go on."""

Crumb = tuple[str, str]
"""A label with its address, empty for the page itself."""


@dataclass(slots=True)
class PageTraffic:
    """Pages that are being made at the moment; work beside them waits until there are none."""

    pages: int = 0

    def is_busy(self) -> bool:
        """Return whether somebody waits for a page."""
        return self.pages > 0


@dataclass(frozen=True, slots=True)
class Pages:
    """Renders pages and finds what they are about."""

    archive: Archive
    traffic: PageTraffic
    contents: ContentsCache
    figures: FigureCache
    causes: CauseFinder
    templates: Environment = field(default_factory=partial(make_environment, *TEMPLATES))

    @classmethod
    def of(cls, archive: Archive, cache: Path | None = None) -> "Pages":
        """Pages of these runs; what is worked out lies in `cache`, else in the user's folder."""
        traffic = PageTraffic()
        return cls(
            archive, traffic, ContentsCache(), FigureCache(), CauseFinder(cache, traffic.is_busy)
        )

    def show(
        self,
        request: Request,
        template: str,
        crumbs: tuple[Crumb, ...] = (),
        status: int = 200,
        **content: Any,
    ) -> HTMLResponse:
        """Return a page in the frame: `crumbs` lead to it, `content` is what its template uses."""
        run = content.get("run")
        frame: Mapping[str, Any] = {
            "crumbs": (("Runs", "/"), *crumbs),
            "run": run,
            "path": request.url.path,
            "query": dict(request.query_params),
            "version": getattr(request.state, "version", ""),
            "is_live": getattr(request.state, "is_live", False),
        }
        text = self.templates.get_template(template).render({**frame, **content})
        return HTMLResponse(text, status)

    def run(self, request: Request) -> Run:
        """Return the run that the address names, whose page is being made. Raises `SetupError`."""
        run = self.archive.run(request.path_params["run"])
        # Before anything of it is read, so that the page follows whatever comes in the meantime.
        state = self.state(run)
        request.state.version, request.state.is_live = state["version"], state["kind"] == "running"
        return run

    def all_runs(self) -> dict[str, str]:
        """Return the state of all runs together, as `state` has it of one."""
        states = [self.state(run) for run in self.archive.runs()]
        running = sum(state["kind"] == "running" for state in states)
        version = "|".join(f"{state['version']} {state['kind']}" for state in states)
        kind, text = ("running", f"{running} live") if running else ("rest", "none live")
        return {"version": version, "kind": kind, "text": text}

    def state(self, run: Run) -> dict[str, str]:
        """`version`, which changes whenever its pages would, and in words whether it goes on."""
        over = run.is_over()
        seconds = max(0.0, time.time() - run.last_time())
        is_fresh = seconds < _FRESH_SECONDS and not run.is_closed()
        running = not over and (bool(run.is_played()) or is_fresh)
        verb = "finished" if over else "stopped" if run.is_closed() else "last stored"
        units = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
        size, unit = next((one for one in units if seconds >= one[0]), units[-1])
        try:
            stored = self.contents.version(run)
        except StoreError as error:
            stored = str(error)
        parts = (stored, self.figures.progress(run), self.causes.progress(run), running)
        at_work = run.changed() if running else 0.0  # what jobs are at is not in the store
        return {
            "version": "/".join(map(str, (*parts, at_work))),
            "kind": "running" if running else "rest",
            "text": "live" if running else f"{verb} {seconds / size:.0f} {unit} ago",
        }

    def read_later(self, run: Run) -> None:
        """Read the run's contents beside the requests."""

        def read() -> None:
            try:
                self.contents.contents(run)
            except StoreError:  # reported where it is requested
                return

        threading.Thread(target=read, daemon=True).start()


def crumbs_of(run: Run, *further: Crumb) -> tuple[Crumb, ...]:
    """Return the way to a page of a run."""
    return ((run.title, run.address), *further)
