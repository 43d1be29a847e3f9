"""The requests of an episode with their responses, noted as they go."""

import asyncio
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, Request, Response
from playwright.async_api import Error as PlaywrightError

from tasks.task import Json
from webagent.browser.background import Background
from webagent.browser.page.line import world_failures

MOST_REQUESTS = 5000
MOST_CHARACTERS = 8_000_000
"""A log that would be longer is none: what is missing from it could be what a check looks for."""
LONGEST_CONTENT = 200_000
_READ_SECONDS = 3.0
"""How long the browser may take, at the end, over headers and contents not read yet."""
_NOTED = ("http", "https", "file")
_ASSETS = ("stylesheet", "image", "media", "font", "script", "texttrack", "manifest")
"""Of these the headers that the page set are enough, and no content is kept."""
_WITHHELD = "(withheld)"
_CREDENTIALS = ("authorization", "proxy-authorization")


class NetworkLog:
    """Everything the tabs of one context ask for, from its opening on; web sockets apart.

    Values of `Authorization` and of cookies that pages themselves cannot read are withheld.
    """

    def __init__(self) -> None:
        self.missed = ""
        """Why the log is incomplete; empty while it is not."""
        self._events: list[dict[str, Json]] = []
        self._by_request: dict[Request, dict[str, Json]] = {}
        self._characters = 0
        self._began = 0.0
        self._is_paused = False
        self._reading = Background()

    @classmethod
    def of(cls, context: BrowserContext) -> "NetworkLog":
        """Note the context's requests from now on."""
        log = cls()
        context.on("request", log._asked)
        context.on("response", log._answered)
        context.on("requestfinished", log._finished)
        context.on("requestfailed", log._failed)
        return log

    @contextmanager
    def paused(self) -> Iterator[None]:
        """What begins meanwhile is no part of the episode."""
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False

    async def events(self, context: BrowserContext) -> list[Json]:
        """The log so far, in the order in which the requests began; see `har_events` for what each
        holds. What is still under way has no status. Raises `WorldError`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_READ_SECONDS):
                await self._reading.finish()
        async with world_failures(), asyncio.timeout(_READ_SECONDS):
            cookies = await context.cookies()
        hidden = {cookie["name"] for cookie in cookies if cookie.get("httpOnly")}
        return [_without_credentials(event, hidden) for event in self._events]

    def _asked(self, request: Request) -> None:
        if self.missed or self._is_paused or urlsplit(request.url).scheme not in _NOTED:
            return
        now = time.monotonic()
        self._began = self._began or now
        event = _event(request, now - self._began)
        self._characters += len(json.dumps(event))
        self._events.append(event)
        self._by_request[request] = event
        self._bound()

    def _answered(self, response: Response) -> None:
        event = self._by_request.get(response.request)
        if event is not None:
            headers: Json = {**response.headers}
            event["status"], event["response_headers"] = response.status, headers
            event["mime"] = mime_of(response.headers.get("content-type", ""))
            self._characters += len(json.dumps(headers))
            self._bound()

    def _finished(self, request: Request) -> None:
        event = self._by_request.pop(request, None)
        if event is not None and event["kind"] not in _ASSETS:
            self._reading.start(self._read(request, event))

    def _failed(self, request: Request) -> None:
        event = self._by_request.pop(request, None)
        if event is not None:
            event["failure"] = request.failure or "failed"

    async def _read(self, request: Request, event: dict[str, Json]) -> None:
        """What takes a question to the browser: cookies among the headers, and the content."""
        before = len(json.dumps(event))
        with suppress(PlaywrightError):
            headers = await request.all_headers()
            event["request_headers"] = {**headers}
            event["has_body"] = event["has_body"] or is_body_announced(headers)
            response = await request.response()
            if response is None:
                return
            event["response_headers"] = {**await response.all_headers()}
            if is_content_kept(event["method"], event["mime"]):
                event["content"] = text_of(await response.body(), LONGEST_CONTENT)
        self._characters += len(json.dumps(event)) - before
        self._bound()

    def _bound(self) -> None:
        if len(self._events) > MOST_REQUESTS:
            self.missed = f"the episode made more than {MOST_REQUESTS} requests"
        elif self._characters > MOST_CHARACTERS:
            self.missed = f"the requests take more than {MOST_CHARACTERS} characters"
        if self.missed:
            self._events.clear()
            self._by_request.clear()


def is_content_kept(method: Json, mime: Json) -> bool:
    """Whether the answer itself is noted: JSON, and what comes of sending something."""
    return method not in ("GET", "HEAD", "OPTIONS") or str(mime).endswith("json")


def is_body_announced(headers: Mapping[str, Json]) -> bool:
    """Whether something was sent after these headers."""
    return str(headers.get("content-length", "0")) != "0" or "transfer-encoding" in headers


def _event(request: Request, seconds: float) -> dict[str, Json]:
    before, body = request.redirected_from, text_of(request.post_data_buffer)
    return {
        "method": request.method,
        "url": request.url,
        "status": None,
        "kind": _kind(request),
        "request_headers": dict(request.headers),
        "response_headers": {},
        "body": body,
        "has_body": body is not None,
        "mime": "",
        "content": None,
        "redirected_from": before.url if before else None,
        "seconds": round(seconds, 3),
        "failure": None,
    }


def _kind(request: Request) -> str:
    if request.resource_type != "document":
        return request.resource_type
    try:
        return "iframe" if request.frame.parent_frame else "document"
    except PlaywrightError:
        return "document"  # its page is only just being opened


def text_of(body: bytes | None, longest: int | None = None) -> str | None:
    """What is no UTF-8 in it, such as a file in a form, is replaced; the rest can still be read."""
    if not body or (longest is not None and len(body) > longest):
        return None
    return body.decode("utf-8", errors="replace")


def mime_of(content_type: str) -> str:
    """Without parameters such as the character set."""
    return content_type.partition(";")[0].strip().lower()


def _without_credentials(event: dict[str, Json], hidden: set[str]) -> dict[str, Json]:
    sent, received = event["request_headers"], event["response_headers"]
    assert isinstance(sent, dict) and isinstance(received, dict)
    kept = {name: _WITHHELD if name in _CREDENTIALS else value for name, value in sent.items()}
    if "cookie" in kept:
        pairs = str(kept["cookie"]).split("; ")
        kept["cookie"] = "; ".join(_withheld(pair, hidden) for pair in pairs)
    if "set-cookie" not in received:
        return {**event, "request_headers": kept}
    lines = str(received["set-cookie"]).split("\n")
    shown = [_withheld(x, hidden | _names([x] if "httponly" in x.lower() else [])) for x in lines]
    answered = {**received, "set-cookie": "\n".join(shown)}
    return {**event, "request_headers": kept, "response_headers": answered}


def _withheld(pair: str, hidden: set[str]) -> str:
    """`name=value; more` without the value, where that is not for everyone."""
    first, separator, more = pair.partition(";")
    name, _, _ = first.partition("=")
    return f"{name}={_WITHHELD}{separator}{more}" if name.strip() in hidden else pair


def _names(cookies: Iterable[str]) -> set[str]:
    return {cookie.partition("=")[0].strip() for cookie in cookies}
