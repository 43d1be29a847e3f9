"""What every page is made with: the runs, the templates, the frame around them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from recipes.report.markup import Markup, joined
from recipes.view.archive import Archive, Run

HERE = Path(__file__).parent
TEMPLATES = (HERE / "templates", HERE / "episode" / "templates")
"""Folders with templates; names must differ."""

Crumb = tuple[str, str]
"""A label with its address, empty for the page itself."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Renders pages and finds what they are about."""

    archive: Archive
    templates: Environment = field(default_factory=lambda: _environment())

    def show(
        self,
        request: Request,
        template: str,
        crumbs: tuple[Crumb, ...] = (),
        status: int = 200,
        **content: Any,
    ) -> HTMLResponse:
        """A page in the frame: `crumbs` are the way to it, `content` what its template uses."""
        run = content.get("run")
        frame: Mapping[str, Any] = {
            "crumbs": (("Runs", "/"), *crumbs),
            "run": run,
            "path": request.url.path,
            "query": dict(request.query_params),
        }
        text = self.templates.get_template(template).render({**frame, **content})
        # Pages hold whatever sites have said, lone surrogates included.
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)

    def run(self, request: Request) -> Run:
        """The run that the address names. Raises `SetupError`."""
        return self.archive.run(request.path_params["run"])


def crumbs_of(run: Run, *further: Crumb) -> tuple[Crumb, ...]:
    """The way to a page of a run."""
    return ((run.title, run.address), *further)


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(["html"], default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["visible"] = _visible
    made.filters["count"] = lambda number: f"{number:,}"
    return made


def _visible(text: object) -> Markup:
    """Text escaped, and without the control characters that HTML forbids."""
    return joined(str(text))
