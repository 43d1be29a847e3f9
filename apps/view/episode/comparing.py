"""Requests that set two episodes side by side."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from apps.view.episode.exhibit import Exhibit, findings_of, labels_of, opened
from apps.view.episode.pairing import paired, parting
from apps.view.episode.verdicts import Findings
from apps.view.pages import Pages
from webagent.errors import SetupError


def routes(pages: Pages) -> list[BaseRoute]:
    """`/compare?left=RUN/ID&right=RUN/ID`."""

    def compare(request: Request) -> Response:
        sides = [_side(pages, request, name) for name in ("left", "right")]
        (left, _), (right, _) = sides
        pairs = paired(left.trajectory, right.trajectory)
        return pages.show(
            request,
            "compare.html",
            (("Two episodes", ""),),
            sides=sides,
            left=left,
            right=right,
            pairs=pairs,
            parting=parting(pairs),
            same_start=_starts_alike(left, right),
        )

    return [Route("/compare", compare)]


def _side(pages: Pages, request: Request, name: str) -> tuple[Exhibit, Findings]:
    """One of the two. Raises `SetupError` where it is not named or not there."""
    named, _, episode = request.query_params.get(name, "").partition("/")
    if not named or not episode:
        raise SetupError("name two episodes: /compare?left=RUN/ID&right=RUN/ID")
    run = pages.archive.run(named)
    with run.store() as store:
        exhibit = opened(run, store, episode)
        return exhibit, findings_of(exhibit, store, labels_of(exhibit))


def _starts_alike(left: Exhibit, right: Exhibit) -> bool:
    """Whether both were asked the same on the same first page."""
    one, other = left.trajectory, right.trajectory
    return (one.task.id, one.task.seed, one.goal) == (other.task.id, other.task.seed, other.goal)
