"""A run in numbers: as its summary says, else worked out beside the requests and kept."""

import shlex
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.view.contents import Contents, Run
from loop.folder import RunFolder
from loop.origin import Origin
from loop.summary import RunMeta, Summary, read_summary, summarize
from loop.summary.schema import FILE
from webagent.errors import StoreError

_WAIT_SECONDS = 0.4
"""How long a page waits for figures before it is shown without them."""
_REST = 10.0
_CARRIED = ("setup", "notes", "macro", "baselines", "tasks_by_use")
"""What only the run itself knew when it summed itself up."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What a page shows of a run in numbers."""

    summary: Summary | None
    """None until it has been worked out."""
    is_current: bool
    """Whether it is of the run as it is now."""
    problem: str = ""
    """Why there is none, or none from the run itself."""


@dataclass(slots=True)
class _FiguresWork:
    """The figures of one run."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    ready: threading.Event = field(default_factory=threading.Event)
    figures: RunFigures = RunFigures(None, False)
    version: str = ""
    done_at: float = 0.0
    seconds: float = 0.0
    is_going: bool = False


class FigureCache:
    """Works out the figures of runs, and keeps them until the runs change."""

    def __init__(self) -> None:
        self._works: dict[str, _FiguresWork] = {}
        self._lock = threading.Lock()

    def figures(self, run: Run, contents: Contents) -> RunFigures:
        """Return the run's figures after a moment; the last ones while new ones are made."""
        with self._lock:
            work = self._works.setdefault(run.name, _FiguresWork())

        def work_out() -> None:
            began = time.monotonic()
            try:
                summary, problem = _read_or_summarize(run, contents)
                figures = RunFigures(summary, True, problem)
            except StoreError as error:
                figures = RunFigures(work.figures.summary, True, str(error))
            with work.lock:
                work.figures, work.version = figures, contents.version
                work.done_at = time.monotonic()
                work.seconds = work.done_at - began
                work.is_going = False
            work.ready.set()

        with work.lock:
            if work.version == contents.version:
                return work.figures
            rests = time.monotonic() - work.done_at < _REST * work.seconds
            if not work.is_going and not rests:
                work.is_going = True
                work.ready.clear()
                threading.Thread(target=work_out, daemon=True).start()
        work.ready.wait(_WAIT_SECONDS)
        with work.lock:
            known = work.figures
            return RunFigures(known.summary, work.version == contents.version, known.problem)

    def progress(self, run: Run) -> float:
        """Changes when figures were worked out, so that pages can follow."""
        work = self._works.get(run.name)
        return round(work.done_at, 3) if work else 0.0


def read_settings(run: Run) -> tuple[dict[str, Any], str]:
    """Return what `run.json` holds, and why it could not be read where it could not."""
    if not (run.path / "run.json").is_file():
        return {}, "run.json is missing: what the run was made with is not known"
    try:
        return RunFolder(run.path).settings(), ""
    except StoreError as error:
        return {}, str(error)


def _read_or_summarize(run: Run, contents: Contents) -> tuple[Summary, str]:
    """Return the summary that the run wrote when it was finished, else one of what it has stored,
    and why the written one could not be read where it could not."""
    written, problem = None, ""
    try:
        written = read_summary(run.path) if (run.path / FILE).is_file() else None
    except StoreError as error:
        problem = str(error)
    if written is not None and run.is_finished():
        return written, problem
    settings, _ = read_settings(run)
    command, config = settings.get("command"), settings.get("config")
    split = str(config.get("split", "")) if isinstance(config, Mapping) else ""
    tasks = dict.fromkeys(line.task for line in contents.of_policy)
    found = settings.get("origins")
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        found = []
    meta = RunMeta(
        benchmark=written["benchmark"] if written else benchmark_of(contents),
        tasks=tuple(written["tasks"] if written else tasks),
        command=shlex.join(map(str, command)) if isinstance(command, list) else "",
        origins=tuple(
            Origin(
                commit=str(one.get("commit", "")),
                modified=bool(one.get("modified")),
                versions=dict(one.get("versions") or {}),
            )
            for one in found or [{}]
        ),
        judge=contents.judge,
        split=written["split"] if written else split or "test",
    )
    with run.store() as store:
        summary = summarize(store, meta)
    for name in _CARRIED:
        if written is not None and name in written:
            # All of `_CARRIED` are keys of a summary; a variable cannot say so to the type checker.
            summary[name] = written[name]  # type: ignore[literal-required]
    return summary, problem


def benchmark_of(contents: Contents) -> str:
    """Return name and version of the suite that was played, by the first task's id."""
    if not contents.lines:
        return "nothing played yet"
    name, _, rest = contents.lines[0].entry.task.partition("/")
    return f"{name}@{rest.rpartition('@')[2]}" if rest else name
