"""Requests for an episode, two episodes side by side, and the labels people give."""

from functools import partial
from typing import Any
from urllib.parse import quote, unquote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from apps.view.contents import Run
from apps.view.episode.film import FilmFrame, first_difference, pair_steps
from apps.view.episode.foresight import stored_world_models
from apps.view.episode.picture import draw_page
from apps.view.episode.scene import (
    TOKEN,
    VALUES,
    OpenedEpisode,
    address_of,
    findings_of,
    keep_label,
    label_from,
    labels_of,
    neighbours,
    open_episode,
    read_all_labels,
    scene_of,
    whole_text,
    world_model_of,
)
from apps.view.episode.verdicts import Findings
from apps.view.pages import Pages, crumbs_of
from evaluators.labels import format_csv
from webagent.errors import ModelError, SetupError


def compare_routes(pages: Pages) -> list[BaseRoute]:
    """`/compare?left=RUN/ID&right=RUN/ID`."""

    def compare(request: Request) -> Response:
        sides = [_side(pages, request, name) for name in ("left", "right")]
        (left, _), (right, _) = sides
        pairs = pair_steps(left.trajectory, right.trajectory)
        return pages.show(
            request,
            "compare.html",
            (("Two episodes", ""),),
            sides=sides,
            left=left,
            right=right,
            pairs=pairs,
            parting=first_difference(pairs),
            same_start=_starts_alike(left, right),
        )

    return [Route("/compare", compare)]


def _side(pages: Pages, request: Request, name: str) -> tuple[OpenedEpisode, Findings]:
    """One of the two. Raises `SetupError` where it is not named or not there."""
    named, _, episode = request.query_params.get(name, "").partition("/")
    if not named or not episode:
        raise SetupError("name two episodes: /compare?left=RUN/ID&right=RUN/ID")
    run = pages.archive.run(named)
    with run.store() as store:
        exhibit = open_episode(run, store, episode)
        return exhibit, findings_of(exhibit, store, labels_of(exhibit))


def _starts_alike(left: OpenedEpisode, right: OpenedEpisode) -> bool:
    """Whether both were asked the same on the same first page."""
    one, other = left.trajectory, right.trajectory
    return (one.task.id, one.task.seed, one.goal) == (other.task.id, other.task.seed, other.goal)


_MONTH = 30 * 24 * 3600
_MOST_BYTES = 64_000


def label_routes(pages: Pages) -> list[BaseRoute]:
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
        return Response(
            format_csv(read_all_labels(run.path)), media_type="text/csv", headers=headers
        )

    return [
        Route("/run/{run}/episode/{episode}/label", label, methods=["POST"]),
        Route("/run/{run}/labels.csv", table),
    ]


def _kept(run: Run, episode: str, said: dict[str, str]) -> Response:
    """Keep the label and go back to the episode. Raises `SetupError`, `StoreError`."""
    with run.store() as store:
        exhibit = open_episode(run, store, episode)
    label = keep_label(run.path, label_from(said, exhibit.trajectory))
    asked = {"step": said.get("step") or "1", "kept": label.annotator}
    back = f"{address_of(run, episode)}?{urlencode(asked)}#labels"
    response = RedirectResponse(back, status_code=303)
    response.set_cookie(
        "annotator", quote(label.annotator), max_age=_MONTH, httponly=True, samesite="strict"
    )
    return response


def routes(pages: Pages) -> list[BaseRoute]:
    """`/run/NAME/episode/ID` and what belongs to it; see `apps/view/server.py`."""

    def picture(request: Request) -> Response:
        frame = _frame(_opened(pages, request), request)
        return Response(draw_page(frame.picture).encode("utf-8"), media_type="image/svg+xml")

    def text(request: Request) -> Response:
        frame = _frame(_opened(pages, request), request)
        written = whole_text(frame.page).encode("utf-8", "backslashreplace")
        return PlainTextResponse(written)

    base = "/run/{run}/episode/{episode}"
    return [
        Route(base, partial(_show_episode, pages)),
        Route(f"{base}/step/{{number:int}}", partial(_show_step, pages)),
        Route(f"{base}/step/{{number:int}}/expected", partial(_show_foresight, pages)),
        Route(f"{base}/step/{{number:int}}/picture.svg", picture),
        Route(f"{base}/step/{{number:int}}/text", text),
        *label_routes(pages),
        *compare_routes(pages),
    ]


def _show_episode(pages: Pages, request: Request) -> Response:
    """Show an episode with its labels, findings and neighbours."""
    run = pages.run(request)
    with run.store() as store:
        exhibit = open_episode(run, store, request.path_params["episode"])
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


def _show_step(pages: Pages, request: Request) -> Response:
    """Show one step, for the script that changes it in place."""
    run = pages.run(request)
    with run.store() as store:
        exhibit = open_episode(run, store, request.path_params["episode"])
        found = findings_of(exhibit, store, labels_of(exhibit))
    number = exhibit.number(str(request.path_params["number"]))
    return pages.show(
        request,
        "step.html",
        **_content(exhibit, request, number),
        found=found,
        judged=found.judged(number - 1),
    )


def _show_foresight(pages: Pages, request: Request) -> Response:
    """Show what the world model expected of a step."""
    run = pages.run(request)
    with run.store() as store:
        exhibit = open_episode(run, store, request.path_params["episode"])
        truth = findings_of(exhibit, store, labels_of(exhibit)).truth
    number = exhibit.number(str(request.path_params["number"]))
    trouble, prediction, seer = "", None, world_model_of(exhibit)
    if seer is not None:
        # Loads torch, which a viewer of runs without a world model never needs.
        from apps.view.episode.foresight import predict

        try:
            prediction = predict(exhibit.trajectory, seer)
        except ModelError as error:
            trouble = str(error)
    return pages.show(
        request,
        "foresight.html",
        crumbs_of(exhibit.run, ("Episode", f"{exhibit.address}?step={number}"), ("Expected", "")),
        **_content(exhibit, request, number),
        prediction=prediction,
        trouble=trouble,
        truth=truth,
    )


def _content(exhibit: OpenedEpisode, request: Request, number: int) -> dict[str, Any]:
    """What the templates of a step use."""
    return {
        "run": exhibit.run,
        "exhibit": exhibit,
        "trajectory": exhibit.trajectory,
        "number": number,
        "scene": scene_of(exhibit, number, request.query_params.get("quote", "")),
        "seer": world_model_of(exhibit),
        "seers": stored_world_models(exhibit.run.path),
    }


def _opened(pages: Pages, request: Request) -> OpenedEpisode:
    run = pages.run(request)
    with run.store() as store:
        return open_episode(run, store, request.path_params["episode"])


def _frame(exhibit: OpenedEpisode, request: Request) -> FilmFrame:
    number: int = request.path_params["number"]
    frames = exhibit.film.frames
    if not 1 <= number <= len(frames):
        raise SetupError(f"{exhibit.trajectory.id} has {len(frames)} pages")
    return frames[number - 1]
