"""Requests for episodes, their steps, their pictures and what was expected of them."""

from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from apps.view.episode import comparing, labels
from apps.view.episode.drawing import drawn
from apps.view.episode.exhibit import (
    Exhibit,
    findings_of,
    labels_of,
    neighbours,
    opened,
    scene_of,
    seer_of,
)
from apps.view.episode.film import Frame
from apps.view.episode.labelling import TOKEN, VALUES
from apps.view.episode.reading import whole_text
from apps.view.episode.seers import seers
from apps.view.pages import Pages, crumbs_of
from webagent.errors import ModelError, SetupError


def routes(pages: Pages) -> list[BaseRoute]:
    """`/run/NAME/episode/ID` and what belongs to it; see `apps/view/app.py`."""

    def episode(request: Request) -> Response:
        run = pages.run(request)
        with run.store() as store:
            exhibit = opened(run, store, request.path_params["episode"])
            labels = labels_of(exhibit)
            found = findings_of(exhibit, store, labels)
            near = neighbours(exhibit, store)
        number = exhibit.number(request.query_params.get("step"))
        name = f"{exhibit.trajectory.task.name}, seed {exhibit.trajectory.task.seed}"
        crumbs = crumbs_of(run, ("Episodes", f"{run.address}/episodes"), (name, ""))
        annotator = unquote(request.cookies.get("annotator", ""))
        return pages.show(
            request,
            "episode.html",
            crumbs,
            **_content(exhibit, request, number),
            found=found,
            given=labels,
            near=near,
            name=name,
            judged=found.judged(number - 1),
            annotator=annotator,
            mine=labels.by(annotator),
            values=VALUES,
            token=TOKEN,
            kept=request.query_params.get("kept", ""),
        )

    def step(request: Request) -> Response:
        run = pages.run(request)
        with run.store() as store:
            exhibit = opened(run, store, request.path_params["episode"])
            found = findings_of(exhibit, store, labels_of(exhibit))
        number = exhibit.number(str(request.path_params["number"]))
        return pages.show(
            request,
            "step.html",
            **_content(exhibit, request, number),
            found=found,
            judged=found.judged(number - 1),
        )

    def foresight(request: Request) -> Response:
        run = pages.run(request)
        with run.store() as store:
            exhibit = opened(run, store, request.path_params["episode"])
            truth = findings_of(exhibit, store, labels_of(exhibit)).truth
        number = exhibit.number(str(request.path_params["number"]))
        trouble, prediction, seer = "", None, seer_of(exhibit)
        if seer is not None:
            # Loads torch, which a viewer of runs without a world model never needs.
            from apps.view.episode.prediction import predict

            try:
                prediction = predict(exhibit.trajectory, seer)
            except ModelError as error:
                trouble = str(error)
        return pages.show(
            request,
            "foresight.html",
            crumbs_of(
                exhibit.run, ("Episode", f"{exhibit.address}?step={number}"), ("Expected", "")
            ),
            **_content(exhibit, request, number),
            prediction=prediction,
            trouble=trouble,
            truth=truth,
        )

    def picture(request: Request) -> Response:
        frame = _frame(_opened(pages, request), request)
        return Response(drawn(frame.picture).encode("utf-8"), media_type="image/svg+xml")

    def text(request: Request) -> Response:
        frame = _frame(_opened(pages, request), request)
        written = whole_text(frame.page).encode("utf-8", "backslashreplace")
        return PlainTextResponse(written)

    base = "/run/{run}/episode/{episode}"
    return [
        Route(base, episode),
        Route(f"{base}/step/{{number:int}}", step),
        Route(f"{base}/step/{{number:int}}/expected", foresight),
        Route(f"{base}/step/{{number:int}}/picture.svg", picture),
        Route(f"{base}/step/{{number:int}}/text", text),
        *labels.routes(pages),
        *comparing.routes(pages),
    ]


def _content(exhibit: Exhibit, request: Request, number: int) -> dict[str, Any]:
    """What the templates of a step use."""
    return {
        "run": exhibit.run,
        "exhibit": exhibit,
        "trajectory": exhibit.trajectory,
        "number": number,
        "scene": scene_of(exhibit, number, request.query_params.get("quote", "")),
        "seer": seer_of(exhibit),
        "seers": seers(exhibit.run.path),
    }


def _opened(pages: Pages, request: Request) -> Exhibit:
    run = pages.run(request)
    with run.store() as store:
        return opened(run, store, request.path_params["episode"])


def _frame(exhibit: Exhibit, request: Request) -> Frame:
    number: int = request.path_params["number"]
    frames = exhibit.film.frames
    if not 1 <= number <= len(frames):
        raise SetupError(f"{exhibit.trajectory.id} has {len(frames)} pages")
    return frames[number - 1]
