"""HAR files as the same log of requests that an episode leaves."""

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin

from tasks.task import Json
from webagent.browser.sessions.network import (
    LONGEST_CONTENT,
    is_body_announced,
    is_content_kept,
    mime_of,
    text_of,
)
from webagent.errors import SetupError

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
    """The requests of a HAR file, as a `NetworkLog` gives those of an episode.

    Each has `method`, `url`, `status` (null without an answer), `kind` (`document`, `iframe`,
    `fetch`, `xhr`, `image`, ...; empty where the file does not tell), `request_headers` and
    `response_headers` (names in lower case; several cookies on lines of their own), `body` (what
    was sent, as text), `has_body` (true with a null `body` for what could not be read, such as a
    form with a file), `mime`, `content` (of JSON, and of answers to anything but
    GET, as text; null where it was not kept), `redirected_from` (the address that led here, or
    null), `seconds` since the first of them, and `failure` (null where there was an answer).
    Raises `SetupError` when it is no HAR file.
    """
    try:
        entries = json.loads(path.read_bytes())["log"]["entries"]
        return list(_linked([_har_event(_whole(entry, path.parent)) for entry in entries]))
    except OSError as error:
        raise SetupError(f"the HAR file {path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as error:
        raise SetupError(
            f"{path} is no HAR file ({type(error).__name__}: {error}); expected an object with "
            "log.entries, each with request and response"
        ) from error


def _whole(entry: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The entry with what stands in files beside the HAR file, as Playwright may write it."""
    for part in (entry["request"].get("postData"), entry["response"].get("content")):
        if part and part.get("_file") and (folder / Path(part["_file"]).name).is_file():
            beside = (folder / Path(part["_file"]).name).read_bytes()
            part |= {"text": base64.b64encode(beside).decode(), "encoding": "base64"}
    return entry


def _har_event(entry: Mapping[str, Any]) -> tuple[dict[str, Json], float]:
    """One entry, with the time at which it began."""
    request, response = entry["request"], entry["response"]
    sent, received = _headers(request["headers"]), _headers(response.get("headers", []))
    content, status = response.get("content") or {}, response["status"]
    mime = mime_of(str(content.get("mimeType") or received.get("content-type") or ""))
    failure = response.get("_failureText") or ("no answer" if status <= 0 else None)
    kept = is_content_kept(request["method"], mime)
    body = _har_body(request.get("postData"))
    event: dict[str, Json] = {
        "method": request["method"],
        "url": request["url"],
        "status": status if status > 0 else None,
        "kind": _har_kind(entry, sent),
        "request_headers": sent,
        "response_headers": received,
        "body": body,
        "has_body": body is not None or request.get("bodySize", 0) > 0 or is_body_announced(sent),
        "mime": "" if mime == "x-unknown" else mime,
        "content": (text_of(_har_content(content), LONGEST_CONTENT) if kept else None),
        "redirected_from": None,
        "seconds": 0.0,
        "failure": failure,
    }
    began = datetime.fromisoformat(entry["startedDateTime"]).timestamp()
    return event, began


def _linked(events: list[tuple[dict[str, Json], float]]) -> Iterator[Json]:
    """In the order in which they began, each that a redirect led to with where that came from."""
    events = sorted(events, key=lambda each: each[1])
    pending: dict[str, str] = {}
    for event, began in events:
        url, headers = str(event["url"]), event["response_headers"]
        event["redirected_from"] = pending.pop(url.partition("#")[0], None)
        event["seconds"] = round(began - events[0][1], 3)
        status, target = event["status"], isinstance(headers, dict) and headers.get("location")
        if isinstance(status, int) and 300 <= status < 400 and target:
            pending[urljoin(url, str(target)).partition("#")[0]] = url
        yield event


def _headers(headers: Iterable[Mapping[str, str]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for header in headers:
        name, value = header["name"].lower(), header["value"]
        if not name.startswith(":"):
            separator = "\n" if name == "set-cookie" else ", "
            found[name] = f"{found[name]}{separator}{value}" if name in found else value
    return found


def _har_kind(entry: Mapping[str, Any], headers: Mapping[str, Json]) -> str:
    destination = _KIND_BY_DESTINATION.get(str(headers.get("sec-fetch-dest", "")), "")
    if destination == "iframe":
        return destination
    return str(entry.get("_resourceType") or destination)


def _har_body(sent: Mapping[str, Any] | None) -> str | None:
    if not sent:
        return None
    if sent.get("text"):
        text = str(sent["text"])
        return text_of(base64.b64decode(text)) if sent.get("encoding") == "base64" else text
    pairs = [(each["name"], each.get("value", "")) for each in sent.get("params") or ()]
    return urlencode(pairs) if pairs else None


def _har_content(content: Mapping[str, Any]) -> bytes:
    text = str(content.get("text") or "")
    return base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()
