"""Requests that give an episode a label, and the labels of a run as a file."""

from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from apps.view.archive import Run
from apps.view.episode.exhibit import address_of, opened
from apps.view.episode.labelling import all_given, keep, label_from
from apps.view.pages import Pages
from evaluators.labels import as_csv
from webagent.errors import SetupError

_MONTH = 30 * 24 * 3600
_MOST_BYTES = 64_000


def routes(pages: Pages) -> list[BaseRoute]:
    """`POST …/episode/ID/label`, and `/run/NAME/labels.csv`."""

    async def label(request: Request) -> Response:
        run = await run_in_threadpool(pages.run, request)
        async with request.form(max_files=0, max_fields=20, max_part_size=_MOST_BYTES) as form:
            said = {name: str(value) for name, value in form.items()}
        try:
            return await run_in_threadpool(_kept, run, request.path_params["episode"], said)
        except SetupError as error:
            title = "This label was not kept"
            return pages.show(request, "problem.html", status=400, title=title, reason=str(error))

    def table(request: Request) -> Response:
        run = pages.run(request)
        headers = {"content-disposition": 'attachment; filename="labels.csv"'}
        return Response(as_csv(all_given(run.path)), media_type="text/csv", headers=headers)

    return [
        Route("/run/{run}/episode/{episode}/label", label, methods=["POST"]),
        Route("/run/{run}/labels.csv", table),
    ]


def _kept(run: Run, episode: str, said: dict[str, str]) -> Response:
    """Keep the label and go back to the episode. Raises `SetupError`, `StoreError`."""
    with run.store() as store:
        exhibit = opened(run, store, episode)
    label = keep(run.path, label_from(said, exhibit.trajectory))
    asked = {"step": said.get("step") or "1", "kept": label.annotator}
    back = f"{address_of(run, episode)}?{urlencode(asked)}#labels"
    response = RedirectResponse(back, status_code=303)
    response.set_cookie(
        "annotator", quote(label.annotator), max_age=_MONTH, httponly=True, samesite="strict"
    )
    return response
