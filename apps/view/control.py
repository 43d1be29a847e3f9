"""Starting, steering and stopping runs from the page, for people with the viewer's token."""

import secrets
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from apps.live import STEERING
from apps.view.contents import Run
from apps.view.figures import read_settings
from apps.view.launcher import SIGNALS, Launcher, StartableCommand
from apps.view.outcome import command_of, resume_of
from apps.view.pages import Pages
from webagent.errors import SetupError, StoreError, UsageError

_MOST_BYTES = 64_000
_STARTING_SECONDS = 1
"""Between two looks at a run that has no folder yet."""


class TokenFilter:
    """Knows who came by the address with the token, and remembers them by a cookie."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say in the request's state whether its sender may start and steer runs."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        # Browsers give a cookie to every port of a host.
        cookie = f"webagent-{(scope.get('server') or ('', 0))[1]}"
        given = request.query_params.get("token")
        if given is None:
            known = self._is_right(request.cookies.get(cookie, ""))
            scope.setdefault("state", {})["may_steer"] = known
            await self._app(scope, receive, send)
            return
        if not self._is_right(given):
            refusal = "this token is not that of the viewer; open the address that it printed\n"
            await Response(refusal, 403, media_type="text/plain")(scope, receive, send)
            return
        left = [(key, value) for key, value in request.query_params.multi_items() if key != "token"]
        answer = RedirectResponse(f"{request.url.path}?{urlencode(left)}".rstrip("?"), 303)
        answer.set_cookie(cookie, self._token, httponly=True, samesite="strict")
        await answer(scope, receive, send)

    def _is_right(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self._token.encode())


@dataclass(frozen=True, slots=True)
class SteeringButton:
    """Something that can be done to a run."""

    action: str
    key: str
    help: str


@dataclass(frozen=True, slots=True)
class Steering:
    """What can be done to a run now, and how it stands."""

    status: str
    buttons: tuple[SteeringButton, ...]
    token: str


_BUTTONS = {
    each.action: each
    for each in (
        SteeringButton("pause", "p", "pause the agent"),
        SteeringButton("go on", "p", "let the agent go on"),
        SteeringButton("take over", "o", "take over in the browser’s window"),
        SteeringButton("hand back", "o", "hand back to the agent"),
        SteeringButton("stop", "q", "stop the run in order"),
        SteeringButton("resume", "r", "go on with the interrupted run"),
    )
}
_STATUS = {"agent": "The agent is at work.", "nobody": "Paused.", "person": "The page is yours."}
_ACTIONS = {
    "agent": ("pause", "take over", "stop"),
    "nobody": ("go on", "take over", "stop"),
    "person": ("hand back", "stop"),
}


def steering_of(pages: Pages, request: Request, run: Run) -> Steering | None:
    """Return what the sender of the request can do to the run; None where that is nothing."""
    launcher = pages.launcher
    if launcher is None or not getattr(request.state, "may_steer", False):
        return None
    started = launcher.find(run.title)
    if started is not None and started.is_at_work:
        try:
            with run.store() as store:
                found = store.get_state(STEERING)
        except StoreError:  # just being made
            found = None
        state = found if isinstance(found, dict) else {}
        worker = str(state.get("worker", ""))
        actions = _ACTIONS.get(worker, ("stop",))
        buttons = tuple(
            _BUTTONS[each] for each in actions if each != "take over" or state.get("has_window")
        )
        return Steering(_STATUS.get(worker, "At work."), buttons, launcher.form_token)
    settings, _ = read_settings(run)
    if resume_of(run, settings) and run.is_closed() and not run.is_over():
        return Steering(
            "It was stopped before its end.", (_BUTTONS["resume"],), launcher.form_token
        )
    return None


def routes(pages: Pages, launcher: Launcher) -> list[BaseRoute]:
    """Return `/start`, `/start/COMMAND`, `/started/NAME` and `/run/NAME/steer`."""

    def choose(request: Request) -> Response:
        _demand_token(request)
        commands = tuple(launcher.commands.values())
        return pages.show(request, "start.html", (("Start", ""),), commands=commands)

    def form(request: Request) -> Response:
        _demand_token(request)
        return _show_form(pages, request, _find_command(launcher, request), {})

    async def begin(request: Request) -> Response:
        values = await _read_form(launcher, request)
        return await run_in_threadpool(_begin, pages, launcher, request, values)

    def started(request: Request) -> Response:
        _demand_token(request)
        name = request.path_params["name"]
        found = launcher.find(name)
        if found is None:
            raise SetupError(f"no run {name!r:.80} was started from here")
        run = next((each for each in pages.archive.runs() if each.title == name), None)
        if run is not None and (not found.is_at_work or run.has_begun()):
            return RedirectResponse(run.address, 303)
        crumbs = (("Start", "/start"), (name, ""))
        answer = pages.show(request, "started.html", crumbs, started=found)
        if found.is_at_work:
            answer.headers["refresh"] = str(_STARTING_SECONDS)
        return answer

    async def steer(request: Request) -> Response:
        values = await _read_form(launcher, request)
        return await run_in_threadpool(_steer, pages, launcher, request, values)

    return [
        Route("/start", choose),
        Route("/start/{command}", form),
        Route("/start/{command}", begin, methods=["POST"]),
        Route("/started/{name}", started),
        Route("/run/{run}/steer", steer, methods=["POST"]),
    ]


def _begin(pages: Pages, launcher: Launcher, request: Request, values: dict[str, str]) -> Response:
    """Start what the form describes, or show it again with what is wrong."""
    command = _find_command(launcher, request)
    try:
        started = launcher.start(
            command.name, command.words(values), values.get("run-name", "").strip()
        )
    except (UsageError, SetupError) as error:
        return _show_form(pages, request, command, values, str(error))
    return RedirectResponse(f"/started/{quote(started.name)}", 303)


def _steer(pages: Pages, launcher: Launcher, request: Request, values: dict[str, str]) -> Response:
    """Do what a button says, where it can be done at the moment."""
    run, action = pages.run(request), values.get("action", "")
    found = steering_of(pages, request, run)
    allowed = [button.action for button in found.buttons] if found else []
    if action not in allowed:
        raise SetupError(f"{action!r:.40} is not possible for {run.title} now; reload its page")
    if action == "resume":
        settings, _ = read_settings(run)
        launcher.resume(command_of(settings), run.title, run.path)
        return RedirectResponse(run.address, 303)
    started = launcher.find(run.title)
    if started is not None and started.is_at_work:
        started.process.send_signal(SIGNALS[action])
    return RedirectResponse(run.address, 303)


def _show_form(
    pages: Pages,
    request: Request,
    command: StartableCommand,
    values: dict[str, str],
    problem: str = "",
) -> Response:
    assert pages.launcher is not None
    given = {
        each.name: values.get(each.name, "") if values else each.default
        for each in command.settings
    }
    return pages.show(
        request,
        "start_form.html",
        (("Start", "/start"), (command.name, "")),
        status=400 if problem else 200,
        command=command,
        given=given,
        name=values.get("run-name", ""),
        problem=problem,
        token=pages.launcher.form_token,
    )


def _find_command(launcher: Launcher, request: Request) -> StartableCommand:
    name = request.path_params["command"]
    if name not in launcher.commands:
        raise SetupError(f"{name!r:.40} cannot be started here; {', '.join(launcher.commands)} can")
    return launcher.commands[name]


def _demand_token(request: Request) -> None:
    if not getattr(request.state, "may_steer", False):
        raise HTTPException(
            403,
            "only who comes by the address that `webagent view --control` printed, with its token,"
            " starts and steers runs",
        )


async def _read_form(launcher: Launcher, request: Request) -> dict[str, str]:
    """Return what a page of this viewer sent. Raises `HTTPException` for anybody else's."""
    _demand_token(request)
    origin, host = request.headers.get("origin", ""), request.headers.get("host", "")
    if origin != f"http://{host}":
        raise HTTPException(403, f"a page of {origin or 'nowhere'} may not start or steer runs")
    async with request.form(max_files=0, max_fields=500, max_part_size=_MOST_BYTES) as form:
        values = {name: str(value) for name, value in form.items()}
    if not secrets.compare_digest(values.get("token", "").encode(), launcher.form_token.encode()):
        raise HTTPException(403, "the viewer was restarted; open its page again")
    return values
