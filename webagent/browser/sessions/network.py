"""The requests of an episode with their responses, noted as they go or read from a HAR file."""

import asyncio
import base64
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from playwright.async_api import BrowserContext, Request, Response
from playwright.async_api import Error as PlaywrightError

from tasks.task import Json
from webagent.browser.page.connection import world_failures
from webagent.browser.sessions.traffic import decode_har, read_har
from webagent.timing import Background

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
        context.on("request", log._note_request)
        context.on("response", log._note_response)

        def note_end(request: Request) -> None:
            event = log._by_request.pop(request, None)
            if event is not None and event["kind"] not in _ASSETS:
                log._reading.start(log._read(request, event))

        def note_failure(request: Request) -> None:
            event = log._by_request.pop(request, None)
            if event is not None:
                event["failure"] = request.failure or "failed"

        context.on("requestfinished", note_end)
        context.on("requestfailed", note_failure)
        return log

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out what begins meanwhile: it is no part of the episode."""
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False

    async def events(self, context: BrowserContext) -> list[Json]:
        """Return the log so far, in the order in which the requests began; see `har_events` for
        what each holds. What is still under way has no status. Raises `WorldError`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_READ_SECONDS):
                await self._reading.finish()
        async with world_failures(), asyncio.timeout(_READ_SECONDS):
            cookies = await context.cookies()
        hidden = {cookie["name"] for cookie in cookies if cookie.get("httpOnly")}
        shown: list[Json] = []
        for event in self._events:
            sent, received = event["request_headers"], event["response_headers"]
            assert isinstance(sent, dict) and isinstance(received, dict)
            kept = {k: _WITHHELD if k in _CREDENTIALS else value for k, value in sent.items()}
            if "cookie" in kept:
                pairs = str(kept["cookie"]).split("; ")
                kept["cookie"] = "; ".join(_withheld(pair, hidden) for pair in pairs)
            if "set-cookie" in received:
                lines = []
                for line in str(received["set-cookie"]).split("\n"):
                    own = {line.partition("=")[0].strip()} if "httponly" in line.lower() else set()
                    lines.append(_withheld(line, hidden | own))
                received = {**received, "set-cookie": "\n".join(lines)}
            shown.append({**event, "request_headers": kept, "response_headers": received})
        return shown

    def _note_request(self, request: Request) -> None:
        if self.missed or self._is_paused or urlsplit(request.url).scheme not in _NOTED:
            return
        now, kind = time.monotonic(), request.resource_type
        self._began = self._began or now
        before, body = request.redirected_from, text_of(request.post_data_buffer)
        if kind == "document":
            with suppress(PlaywrightError):  # where its page is only just being opened
                kind = "iframe" if request.frame.parent_frame else "document"
        event: dict[str, Json] = {
            "method": request.method,
            "url": request.url,
            "status": None,
            "kind": kind,
            "request_headers": dict(request.headers),
            "response_headers": {},
            "body": body,
            "has_body": body is not None,
            "mime": "",
            "content": None,
            "redirected_from": before.url if before else None,
            "seconds": round(now - self._began, 3),
            "failure": None,
        }
        self._characters += len(json.dumps(event))
        self._events.append(event)
        self._by_request[request] = event
        self._bound()

    def _note_response(self, response: Response) -> None:
        event = self._by_request.get(response.request)
        if event is not None:
            headers: Json = {**response.headers}
            event["status"], event["response_headers"] = response.status, headers
            event["mime"] = mime_of(response.headers.get("content-type", ""))
            self._characters += len(json.dumps(headers))
            self._bound()

    async def _read(self, request: Request, event: dict[str, Json]) -> None:
        """Read what takes a question to the browser: cookies among the headers, and the content."""
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
    """Return whether the answer itself is noted: JSON, and what comes of sending something."""
    return method not in ("GET", "HEAD", "OPTIONS") or str(mime).endswith("json")


def is_body_announced(headers: Mapping[str, Json]) -> bool:
    """Return whether something was sent after these headers."""
    return str(headers.get("content-length", "0")) != "0" or "transfer-encoding" in headers


def text_of(body: bytes | None, longest: int | None = None) -> str | None:
    """Return the body as text, bytes that are no UTF-8 replaced; None if empty or too long."""
    if not body or (longest is not None and len(body) > longest):
        return None
    return body.decode("utf-8", errors="replace")


def mime_of(content_type: str) -> str:
    """Return the media type without parameters such as the character set."""
    return content_type.partition(";")[0].strip().lower()


def _withheld(pair: str, hidden: set[str]) -> str:
    """`name=value; more` without the value, where that is not for everyone."""
    first, separator, more = pair.partition(";")
    name, _, _ = first.partition("=")
    return f"{name}={_WITHHELD}{separator}{more}" if name.strip() in hidden else pair


_KIND_BY_DESTINATION = {
    name: name for name in ("document", "iframe", "script", "image", "font")
} | {
    "audio": "media",
    "empty": "fetch",
    "frame": "iframe",
    "manifest": "manifest",
    "style": "stylesheet",
    "track": "texttrack",
    "video": "media",
}


def har_events(path: Path) -> list[Json]:
    """Return the requests of a HAR file, as a `NetworkLog` gives those of an episode.

    Each has `method`, `url`, `status` (null without an answer), `kind` (`document`, `iframe`,
    `fetch`, `xhr`, `image`, ...; empty where the file does not tell), `request_headers` and
    `response_headers` (names in lower case; several cookies on lines of their own), `body` (what
    was sent, as text), `has_body` (true with a null `body` for what could not be read, such as a
    form with a file), `mime`, `content` (of JSON, and of answers to anything but
    GET, as text; null where it was not kept), `redirected_from` (the address that led here, or
    null), `seconds` since the first of them, and `failure` (null where there was an answer).
    Raises `SetupError` when it is no HAR file.
    """

    def convert(entries: list[dict[str, Any]]) -> list[Json]:
        dated = [_har_event(entry, path.parent) for entry in entries]
        dated.sort(key=lambda each: each[1])
        pending: dict[str, str] = {}
        events: list[Json] = []
        for event, began in dated:
            url, headers = str(event["url"]), event["response_headers"]
            event["redirected_from"] = pending.pop(url.partition("#")[0], None)
            event["seconds"] = round(began - dated[0][1], 3)
            status, target = event["status"], isinstance(headers, dict) and headers.get("location")
            if isinstance(status, int) and 300 <= status < 400 and target:
                pending[urljoin(url, str(target)).partition("#")[0]] = url
            events.append(event)
        return events

    return read_har(path, convert)


def _har_event(entry: dict[str, Any], folder: Path) -> tuple[dict[str, Json], float]:
    """Return one entry with the time at which it began, in seconds since 1970."""
    request, response = entry["request"], entry["response"]
    for part in (request.get("postData"), response.get("content")):
        # Playwright may write bodies into files beside the HAR file.
        if part and part.get("_file") and (folder / Path(part["_file"]).name).is_file():
            beside = (folder / Path(part["_file"]).name).read_bytes()
            part |= {"text": base64.b64encode(beside).decode(), "encoding": "base64"}
    sent, received = _headers(request["headers"]), _headers(response.get("headers", []))
    content, status = response.get("content") or {}, response["status"]
    mime = mime_of(str(content.get("mimeType") or received.get("content-type") or ""))
    failure = response.get("_failureText") or ("no answer" if status <= 0 else None)
    is_kept = is_content_kept(request["method"], mime)
    posted = request.get("postData") or {}
    pairs = [(each["name"], each.get("value", "")) for each in posted.get("params") or ()]
    body = text_of(decode_har(posted)) if posted.get("text") else urlencode(pairs) or None
    kind = _KIND_BY_DESTINATION.get(str(sent.get("sec-fetch-dest", "")), "")
    if kind != "iframe":
        kind = str(entry.get("_resourceType") or kind)
    event: dict[str, Json] = {
        "method": request["method"],
        "url": request["url"],
        "status": status if status > 0 else None,
        "kind": kind,
        "request_headers": sent,
        "response_headers": received,
        "body": body,
        "has_body": body is not None or request.get("bodySize", 0) > 0 or is_body_announced(sent),
        "mime": "" if mime == "x-unknown" else mime,
        "content": text_of(decode_har(content), LONGEST_CONTENT) if is_kept else None,
        "redirected_from": None,
        "seconds": 0.0,
        "failure": failure,
    }
    began = datetime.fromisoformat(entry["startedDateTime"]).timestamp()
    return event, began


def _headers(headers: Iterable[Mapping[str, str]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for header in headers:
        name, value = header["name"].lower(), header["value"]
        if not name.startswith(":"):
            separator = "\n" if name == "set-cookie" else ", "
            found[name] = f"{found[name]}{separator}{value}" if name in found else value
    return found
