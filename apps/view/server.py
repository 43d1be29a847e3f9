"""The viewer's application and server: routes, who may ask, live updates, an end at Ctrl-C."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from apps.listening import LOOPBACK
from apps.view import compare, episode, episodes, overview, runs, tasks
from apps.view.contents import Archive
from apps.view.pages import HERE, Pages, PageTraffic
from webagent.errors import SetupError, StoreError

State = dict[str, str]

_LOOK_SECONDS = 0.5
_LEAST_SECONDS = 1.0
"""Between two messages, so that a busy run does not keep browsers rendering."""
_HEARTBEAT_SECONDS = 10.0


def live_routes(pages: Pages, ending: Callable[[], bool] = lambda: False) -> list[BaseRoute]:
    """Return `state` for who asks and `events` for who listens, of all runs and of each."""

    def finder(request: Request) -> Callable[[], State]:
        if "run" not in request.path_params:
            return pages.all_runs
        run = pages.archive.run(request.path_params["run"])
        return lambda: pages.state(run)

    def state(request: Request) -> Response:
        return JSONResponse(finder(request)())

    async def events(request: Request) -> Response:
        find = await run_in_threadpool(finder, request)
        return StreamingResponse(_follow(find, ending), media_type="text/event-stream")

    return [
        Route(f"{place}/{name}", answer)
        for place in ("", "/run/{run}")
        for name, answer in (("state", state), ("events", events))
    ]


async def _follow(find: Callable[[], State], ending: Callable[[], bool]) -> AsyncIterator[str]:
    """Yield an event for each state that differs from the one before."""
    sent: State = {}
    last = 0.0
    while not ending():
        now = time.monotonic()
        state = await run_in_threadpool(find)
        if state != sent and now - last >= _LEAST_SECONDS:
            sent, last = state, now
            yield f"event: state\ndata: {json.dumps(state)}\n\n"
        elif now - last > _HEARTBEAT_SECONDS:
            last = now
            yield ": still here\n\n"
        await asyncio.sleep(_LOOK_SECONDS)


_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'"
    "; style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"
    "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-cache",
}


def make_app(
    pages: Pages, hosts: Iterable[str] = LOOPBACK, ending: Callable[[], bool] = lambda: False
) -> ASGIApp:
    """Return the viewer of these runs, for browsers that ask for one of these hosts.

    `ending` says when the server is to end, so that pages which follow a run let go.
    """
    routes: list[BaseRoute] = [
        *runs.routes(pages),
        *overview.routes(pages),
        *tasks.routes(pages),
        *episodes.routes(pages),
        *compare.routes(pages),
        *live_routes(pages, ending),
        *episode.routes(pages),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    handlers = {
        SetupError: _error_page(pages, 404, "Not here"),
        StoreError: _error_page(pages, 422, "This cannot be read"),
        HTTPException: _error_page(pages, 404, "Not here"),
    }

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        pages.causes.close()

    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    return RequestFilter(app, frozenset(hosts), pages.traffic)


class RequestFilter:
    """Lets through what a person's own browser asks for, and puts the safe headers on it."""

    def __init__(
        self, app: ASGIApp, hosts: frozenset[str], traffic: PageTraffic | None = None
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._traffic = traffic or PageTraffic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse other hosts, and changes that another site's page asks for."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if reason := self._refusal(Request(scope)):
            await Response(reason + "\n", 403, media_type="text/plain")(scope, receive, send)
            return

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                for name, value in _HEADERS.items():
                    if name.encode() not in given:
                        message["headers"].append((name.encode(), value.encode()))
            await send(message)

        lasts = scope["path"].endswith("/events")
        self._traffic.pages += not lasts
        try:
            await self._app(scope, receive, headed)
        finally:
            self._traffic.pages -= not lasts

    def _refusal(self, request: Request) -> str:
        """Return why the request is not answered; empty where it is."""
        host = request.headers.get("host", "")
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            name = ""
        if name not in self._hosts:
            known = ", ".join(sorted(self._hosts))
            return f"this server answers for {known}, not for {host!r}; name it with --host"
        origin = request.headers.get("origin")
        if request.method not in ("GET", "HEAD") and origin and urlsplit(origin).netloc != host:
            return f"a page of {origin} may not change anything here"
        return ""


def _error_page(
    pages: Pages, status: int, title: str
) -> Callable[[Request, Exception], Response | Awaitable[Response]]:
    """Shows what went wrong as a page."""

    def handle(request: Request, error: Exception) -> Response:
        reason, code = str(error), status
        if isinstance(error, HTTPException):
            reason, code = error.detail, error.status_code
        return pages.show(request, "problem.html", status=code, title=title, reason=reason)

    return handle


FIRST_PORT = 7777
"""Where ports are looked for when none was named."""


def serve(archive: Archive, host: str, listening: socket.socket) -> None:
    """Serve the runs until Ctrl-C."""
    try:
        server_of(archive, host).run(sockets=[listening])
    except KeyboardInterrupt:  # the way to end it
        return


def server_of(
    archive: Archive, host: str = LOOPBACK[0], cache: Path | None = None
) -> uvicorn.Server:
    """Return a server for these runs; `run(sockets=[listening])` keeps it until `should_exit`.

    What it works out lies in the folder `cache`, else in the user's.
    """
    app = make_app(Pages.of(archive, cache), names_of(host), lambda: server.should_exit)
    server = uvicorn.Server(
        uvicorn.Config(
            app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=2
        )
    )
    return server


def names_of(host: str) -> set[str]:
    """Return what browsers may call this machine when it listens at this address."""
    if host in LOOPBACK:
        return set(LOOPBACK)
    own = socket.gethostname()
    names = {*LOOPBACK, host, own, own.split(".")[0]}
    try:
        names |= {str(found[4][0]) for found in socket.getaddrinfo(own, None)}
    except OSError:  # a name that nobody resolves has no further addresses
        return names
    return names
