"""Requests for an episode, two episodes side by side, and the labels people give."""

from functools import partial
from typing import Any
from urllib.parse import quote, unquote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from apps.view.episode.film import FilmFrame, first_difference, pair_steps
from apps.view.episode.picture import draw_page
from apps.view.episode.scene import (
    TOKEN,
    VALUES,
    OpenedEpisode,
    findings_of,
    label_from,
    labels_of,
    neighbours,
    open_episode,
    read_all_labels,
    read_row,
    scene_of,
    whole_text,
)
from apps.view.pages import Pages, crumbs_of
from evaluators.labels import add_label, format_csv
from webagent.errors import SetupError
from webagent.exchange import format_exchange

_MONTH = 30 * 24 * 3600
_MOST_BYTES = 64_000


def routes(pages: Pages) -> list[BaseRoute]:
    """Return `/run/NAME/episode/ID` with what belongs to it, the labels, and two episodes side by
    side at `/compare?left=RUN/ID&right=RUN/ID`."""
    base = "/run/{run}/episode/{episode}"
    step = f"{base}/step/{{number:int}}"

    def picture(request: Request) -> Response:
        drawing = draw_page(_find_frame(pages, request).picture)
        return Response(drawing.encode("utf-8"), media_type="image/svg+xml")

    def text(request: Request) -> Response:
        written = whole_text(_find_frame(pages, request).page)
        return PlainTextResponse(written.encode("utf-8", "backslashreplace"))

    def labels(request: Request) -> Response:
        table = format_csv(read_all_labels(pages.run(request).path))
        headers = {"content-disposition": 'attachment; filename="labels.csv"'}
        return Response(table, media_type="text/csv", headers=headers)

    def model(request: Request) -> Response:
        run, position = pages.run(request), int(request.path_params["number"]) - 1
        with run.store() as store:
            opened = open_episode(run, store, request.path_params["episode"])
            exchanges = store.exchanges(opened.trajectory.id)
        written = "\n\n".join(
            format_exchange(each, raw=True) for each in exchanges.get(position, ())
        )
        shown = written or "No model request was made on this page, or this run kept nothing of it."
        return PlainTextResponse(shown.encode("utf-8", "backslashreplace"))

    return [
        Route(base, partial(_show_episode, pages)),
        Route(f"{step}/model", model),
        Route(step, partial(_show_step, pages)),
        Route(f"{step}/picture.svg", picture),
        Route(f"{step}/text", text),
        Route(f"{base}/label", partial(_receive_label, pages), methods=["POST"]),
        Route("/run/{run}/labels.csv", labels),
        Route("/compare", partial(_compare_episodes, pages)),
    ]


def _compare_episodes(pages: Pages, request: Request) -> Response:
    sides = []
    for name in ("left", "right"):
        named, _, episode = request.query_params.get(name, "").partition("/")
        if not named or not episode:
            raise SetupError("name two episodes: /compare?left=RUN/ID&right=RUN/ID")
        run = pages.archive.run(named)
        with run.store() as store:
            opened = open_episode(run, store, episode)
            sides.append((opened, findings_of(opened, store, labels_of(opened))))
    left, right = (opened for opened, _ in sides)
    one, other = left.trajectory, right.trajectory
    pairs = pair_steps(one, other)
    return pages.show(
        request,
        "compare.html",
        (("Two episodes", ""),),
        sides=sides,
        left=left,
        right=right,
        pairs=pairs,
        parting=first_difference(pairs),
        same_start=(one.task.id, one.task.seed, one.goal)
        == (other.task.id, other.task.seed, other.goal),
    )


async def _receive_label(pages: Pages, request: Request) -> Response:
    run = await run_in_threadpool(pages.run, request)
    async with request.form(max_files=0, max_fields=20, max_part_size=_MOST_BYTES) as form:
        given = {name: str(value) for name, value in form.items()}

    def keep() -> Response:
        with run.store() as store:
            opened = open_episode(run, store, request.path_params["episode"])
        label = add_label(run.path, label_from(given, opened.trajectory))
        query = {"step": given.get("step") or "1", "kept": label.annotator}
        back = f"{opened.address}?{urlencode(query)}#labels"
        response = RedirectResponse(back, status_code=303)
        response.set_cookie(
            "annotator", quote(label.annotator), max_age=_MONTH, httponly=True, samesite="strict"
        )
        return response

    try:
        return await run_in_threadpool(keep)
    except SetupError as error:
        title = "This label was not kept"
        return pages.show(request, "problem.html", status=400, title=title, reason=str(error))


def _find_frame(pages: Pages, request: Request) -> FilmFrame:
    """Return the frame that the address names. Raises `SetupError` where there is none."""
    run, number = pages.run(request), int(request.path_params["number"])
    with run.store() as store:
        opened = open_episode(run, store, request.path_params["episode"])
    frames = opened.film.frames
    if not 1 <= number <= len(frames):
        raise SetupError(f"{opened.trajectory.id} has {len(frames)} pages")
    return frames[number - 1]


def _show_episode(pages: Pages, request: Request) -> Response:
    """Show an episode with its labels, findings and neighbours."""
    run = pages.run(request)
    with run.store() as store:
        opened = open_episode(run, store, request.path_params["episode"])
        labels = labels_of(opened)
        found = findings_of(opened, store, labels)
        near = neighbours(opened, store)
    blamed = found.cause.step if found.cause else None
    first = str(blamed + 1) if blamed is not None else None
    number = opened.number(request.query_params.get("step", first))
    name = f"{opened.trajectory.task.name}, seed {opened.trajectory.task.seed}"
    crumbs = crumbs_of(run, ("Episodes", f"{run.address}/episodes"), (name, ""))
    annotator = unquote(request.cookies.get("annotator", ""))
    return pages.show(
        request,
        "episode.html",
        crumbs,
        **_step_content(opened, request, number),
        found=found,
        given=labels,
        near=near,
        row=read_row(run.path, opened.trajectory.id),
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
        opened = open_episode(run, store, request.path_params["episode"])
        found = findings_of(opened, store, labels_of(opened))
    number = opened.number(str(request.path_params["number"]))
    content = _step_content(opened, request, number)
    return pages.show(request, "step.html", **content, found=found, judged=found.judged(number - 1))


def _step_content(opened: OpenedEpisode, request: Request, number: int) -> dict[str, Any]:
    """Return what the templates of a step use."""
    return {
        "run": opened.run,
        "opened": opened,
        "trajectory": opened.trajectory,
        "number": number,
        "scene": scene_of(opened, number, request.query_params.get("quote", "")),
    }
