"""Requests from a HAR file in the form of the evidence `network`, for logs made elsewhere."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from tasks.task import Json


def network_events(har: Mapping[str, Any]) -> list[Json]:
    """The requests of a HAR file, in its order and with all that was kept of them.

    Raises `ValueError` for a file of another form, with what was missing.
    """
    entries = _field(_field(har, "log", dict, "the file"), "entries", list, "log")
    return [_event(entry, f"entry {at}") for at, entry in enumerate(entries)]


def _event(entry: Any, where: str) -> Json:
    request = _field(entry, "request", dict, where)
    response = _field(entry, "response", dict, where)
    posted = request.get("postData") or {}
    content = response.get("content") or {}
    headers = _headers(request.get("headers"), where)
    if posted.get("mimeType"):
        headers["content-type"] = posted["mimeType"]
    return {
        "method": _field(request, "method", str, where),
        "url": _field(request, "url", str, where),
        "status": _field(response, "status", int, where),
        "kind": entry.get("_resourceType") or "",
        "request_headers": headers,
        "response_headers": _headers(response.get("headers"), where),
        "response_cookies": {
            cookie["name"]: unquote(cookie.get("value", ""))
            for cookie in response.get("cookies") or []
        },
        "body": posted.get("text") or None,
        "mime": content.get("mimeType") or "",
        "content": content.get("text") or "",
    }


def _headers(listed: Any, where: str) -> dict[str, Json]:
    """Names in lower case to values; several cookies stand on lines of their own."""
    if not isinstance(listed, list):
        raise ValueError(f"{where} has no list of headers")
    headers: dict[str, Json] = {}
    for header in listed:
        name, value = header["name"].lower(), header["value"]
        repeated = name == "set-cookie" and name in headers
        headers[name] = f"{headers[name]}\n{value}" if repeated else value
    return headers


def _field(value: Any, name: str, kind: type, where: str) -> Any:
    """A field of the right type. Raises `ValueError`."""
    found = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(found, kind):
        raise ValueError(
            f"{where} has no {name!r} that is {kind.__name__}; a HAR file is an object with "
            "log.entries, each with its request and response"
        )
    return found
