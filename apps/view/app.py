"""The application: routes, who may ask, and how failures are told."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from apps.view import LOCAL, compare, episode, episodes, live, overview, tasks
from apps.view.pages import HERE, Pages, Traffic
from webagent.errors import SetupError, StoreError

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'"
    "; style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"
    "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-cache",
}


def make_app(
    pages: Pages, hosts: Iterable[str] = LOCAL, ending: Callable[[], bool] = lambda: False
) -> ASGIApp:
    """The viewer of these runs, for browsers that ask for one of these hosts.

    `ending` says when the server is to end, so that pages which follow a run let go.
    """
    routes: list[BaseRoute] = [
        *overview.routes(pages),
        *tasks.routes(pages),
        *episodes.routes(pages),
        *compare.routes(pages),
        *live.routes(pages, ending),
        *episode.routes(pages),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    handlers = {
        SetupError: _told(pages, 404, "Not here"),
        StoreError: _told(pages, 422, "This cannot be read"),
        HTTPException: _told(pages, 404, "Not here"),
    }

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        pages.archivist.close()

    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    return Gate(app, frozenset(hosts), pages.traffic)


class Gate:
    """Lets through what a person's own browser asks for, and puts the safe headers on it."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], traffic: Traffic) -> None:
        self._app = app
        self._hosts = hosts
        self._traffic = traffic

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
        """Why the request is not answered; empty where it is."""
        host = request.headers.get("host", "")
        if _name(host) not in self._hosts:
            known = ", ".join(sorted(self._hosts))
            return f"this viewer answers for {known}, not for {host!r}; name it with --host"
        origin = request.headers.get("origin")
        if request.method not in ("GET", "HEAD") and origin and urlsplit(origin).netloc != host:
            return f"a page of {origin} may not change anything here"
        return ""


def _name(host: str) -> str:
    """A host without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _told(
    pages: Pages, status: int, title: str
) -> Callable[[Request, Exception], Response | Awaitable[Response]]:
    """Shows what went wrong as a page."""

    def handle(request: Request, error: Exception) -> Response:
        reason, code = str(error), status
        if isinstance(error, HTTPException):
            reason, code = error.detail, error.status_code
        return pages.show(request, "problem.html", status=code, title=title, reason=reason)

    return handle
