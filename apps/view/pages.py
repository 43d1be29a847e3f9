"""What every page is made with: the runs, the templates, the frame around them."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse

from apps.report.templating import make_environment
from apps.view.causes import CauseFinder
from apps.view.contents import Archive, ContentsCache, Run
from apps.view.figures import FigureCache
from webagent.errors import StoreError

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
    templates: Environment = field(default_factory=lambda: _environment())

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
        }
        text = self.templates.get_template(template).render({**frame, **content})
        return HTMLResponse(text, status)

    def run(self, request: Request) -> Run:
        """Return the run that the address names, of which a page is being made. Raises
        `SetupError`."""
        run = self.archive.run(request.path_params["run"])
        # Before anything of it is read, so that the page follows whatever comes in the meantime.
        request.state.version = self.state(run)["version"]
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
        seconds = max(0.0, time.time() - run.changed())
        finished = run.is_finished()
        running = seconds < _FRESH_SECONDS and not finished
        verb = "finished" if finished else "last stored"
        units = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
        size, unit = next((one for one in units if seconds >= one[0]), units[-1])
        try:
            stored = self.contents.version(run)
        except StoreError as error:
            stored = str(error)
        parts = (stored, self.figures.progress(run), self.causes.progress(run))
        return {
            "version": "/".join(map(str, parts)),
            "kind": "running" if running else "rest",
            "text": "live" if running else f"{verb} {seconds / size:.0f} {unit} ago",
        }

    def read_later(self, run: Run) -> None:
        """Read the run's contents beside the requests."""

        def read() -> None:
            try:
                self.contents.contents(run)
            except StoreError:  # told where it is asked for
                return

        threading.Thread(target=read, daemon=True).start()


def crumbs_of(run: Run, *further: Crumb) -> tuple[Crumb, ...]:
    """Return the way to a page of a run."""
    return ((run.title, run.address), *further)


def moment(seconds: float) -> str:
    """Return a time since 1970 as day and minute, where this machine is."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _environment() -> Environment:
    made = make_environment(*TEMPLATES)
    made.filters["moment"] = moment
    return made
