"""A run in numbers: as its summary says, else worked out beside the requests and kept."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.view.contents import Contents, Run
from loop.folder import Origin, RunFolder
from loop.summary import RunMeta, Summary, read_summary, summarize
from loop.summary.schema import FILE
from webagent.errors import StoreError

_WAIT_SECONDS = 0.4
"""How long a page waits for figures before it is shown without them."""
_REST = 10.0
_CARRIED = ("setup", "notes", "macro", "baselines")
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
class _Work:
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

    def __init__(self, is_busy: Callable[[], bool] = lambda: False) -> None:
        self._works: dict[str, _Work] = {}
        self._lock = threading.Lock()
        self._is_busy = is_busy

    def figures(self, run: Run, contents: Contents) -> RunFigures:
        """The run's figures, waited for a moment; those of a moment ago while new ones are made."""
        with self._lock:
            work = self._works.setdefault(run.name, _Work())
        with work.lock:
            if work.version == contents.version:
                return work.figures
            rests = time.monotonic() - work.done_at < _REST * work.seconds
            if not work.is_going and not rests:
                work.is_going = True
                work.ready.clear()
                threading.Thread(
                    target=self._work_out, args=(run, contents, work), daemon=True
                ).start()
        work.ready.wait(_WAIT_SECONDS)
        with work.lock:
            known = work.figures
            return RunFigures(known.summary, work.version == contents.version, known.problem)

    def progress(self, run: Run) -> float:
        """Changes when figures were worked out, so that pages can follow."""
        work = self._works.get(run.name)
        return round(work.done_at, 3) if work else 0.0

    def _work_out(self, run: Run, contents: Contents, work: _Work) -> None:
        began = time.monotonic()
        try:
            summary, problem = _summed_up(run, contents)
            figures = RunFigures(summary, True, problem)
        except StoreError as error:
            figures = RunFigures(work.figures.summary, True, str(error))
        with work.lock:
            work.figures, work.version = figures, contents.version
            work.done_at = time.monotonic()
            work.seconds = work.done_at - began
            work.is_going = False
        work.ready.set()


def settings_of(run: Run) -> tuple[dict[str, Any], str]:
    """What `run.json` holds, and why it could not be read where it could not."""
    folder = RunFolder(run.path)
    if not (run.path / "run.json").is_file():
        return {}, "run.json is missing: what the run was made with is not known"
    try:
        return folder.settings(), ""
    except StoreError as error:
        return {}, str(error)


def _summed_up(run: Run, contents: Contents) -> tuple[Summary, str]:
    """The summary the run wrote when it was finished, else one made of what it has stored."""
    written, problem = _written(run)
    if written is not None and run.is_finished():
        return written, problem
    with run.store() as store:
        summary = summarize(store, _meta(run, contents, written))
    if written is not None:
        for name in _CARRIED:
            if name in written:
                summary[name] = written[name]  # type: ignore[literal-required]
    return summary, problem


def _written(run: Run) -> tuple[Summary | None, str]:
    if not (run.path / FILE).is_file():
        return None, ""
    try:
        return read_summary(run.path), ""
    except StoreError as error:
        return None, str(error)


def _meta(run: Run, contents: Contents, written: Summary | None) -> RunMeta:
    """What the store does not know of the run, from whatever file knows it."""
    settings, _ = settings_of(run)
    tasks = tuple(dict.fromkeys(line.task for line in contents.of_policy))
    command = settings.get("command")
    config = settings.get("config")
    split = str(config.get("split", "")) if isinstance(config, Mapping) else ""
    return RunMeta(
        benchmark=written["benchmark"] if written else benchmark_of(contents),
        tasks=tuple(written["tasks"]) if written else tasks,
        command=" ".join(map(str, command)) if isinstance(command, list) else "",
        origins=_origins(settings),
        judge=contents.judge,
        split=written["split"] if written else split or "test",
    )


def benchmark_of(contents: Contents) -> str:
    """Name and version of the suite most tasks are of, by their ids."""
    for line in contents.lines:
        head, _, rest = line.entry.task.partition("/")
        version = rest.rpartition("@")[2]
        return f"{head}@{version}" if rest else head
    return "nothing played yet"


def _origins(settings: Mapping[str, Any]) -> tuple[Origin, ...]:
    found = settings.get("origins")
    if isinstance(found, list) and found and all(isinstance(one, dict) for one in found):
        return tuple(
            Origin(
                commit=str(one.get("commit", "")),
                modified=bool(one.get("modified")),
                versions=dict(one.get("versions") or {}),
            )
            for one in found
        )
    return (Origin(commit="", modified=False, versions={}),)
