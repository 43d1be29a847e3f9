"""The first page and the pages of a run."""

import mimetypes

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from recipes.view.pages import Pages, crumbs_of


def routes(pages: Pages) -> list[BaseRoute]:
    """`/`, and what lies below `/run/NAME` beside episodes."""

    def runs(request: Request) -> Response:
        return pages.show(request, "runs.html", runs=pages.archive.runs())

    def run(request: Request) -> Response:
        chosen = pages.run(request)
        return pages.show(request, "run.html", crumbs_of(chosen), run=chosen)

    def tasks(request: Request) -> Response:
        chosen = pages.run(request)
        crumbs = crumbs_of(chosen, ("Tasks", ""))
        return pages.show(request, "tasks.html", crumbs, run=chosen)

    def episodes(request: Request) -> Response:
        chosen = pages.run(request)
        with chosen.store() as store:
            entries = store.entries("any")[:200]
        crumbs = crumbs_of(chosen, ("Episodes", ""))
        return pages.show(request, "episodes.html", crumbs, run=chosen, entries=entries)

    def image(request: Request) -> Response:
        reference = request.path_params["reference"]
        with pages.run(request).store() as store:
            content = store.images.get(reference)
        kind = mimetypes.guess_type(reference)[0] or "application/octet-stream"
        # Named by its content, so it never changes.
        headers = {"cache-control": "max-age=31536000, immutable"}
        return Response(content, media_type=kind, headers=headers)

    return [
        Route("/", runs),
        Route("/run/{run}", run),
        Route("/run/{run}/tasks", tasks),
        Route("/run/{run}/episodes", episodes),
        Route("/run/{run}/image/{reference}", image),
    ]
