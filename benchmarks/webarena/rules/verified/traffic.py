"""A noted request as network checks look at it: what was sent, what came back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlparse

from benchmarks.webarena.rules.verified.text import data_in
from tasks.task import Json

_STATIC = tuple(
    ".css .js .png .jpg .jpeg .gif .svg .woff .woff2 .ttf .ico .webp".split()  # noqa: SIM905
)
_BOUNDARY = re.compile(r"boundary=([^;\s]+)")
_FIELD_NAME = re.compile(r'name="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Request:
    """One request and its response."""

    method: str
    url: str
    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    noted: Mapping[str, Json]
    """As in the evidence."""

    @property
    def is_static(self) -> bool:
        """A style, script, picture or font, which no check is about."""
        return urlparse(self.url).path.endswith(_STATIC)

    @property
    def is_navigation(self) -> bool:
        """A page that a person (or an agent acting as one) opened."""
        accept = self.headers.get("accept", "").lower()
        if self.method != "GET" or "sec-fetch-user" not in self.headers:
            return self.method == "GET" and accept.startswith("text/html")
        return (
            self.headers.get("sec-fetch-dest", "").lower() == "document"
            and self.headers.get("sec-fetch-mode", "").lower() == "navigate"
            and self.headers.get("sec-fetch-user") == "?1"
            and "text/html" in accept
        )

    @property
    def content(self) -> dict[str, Json] | None:
        """Fields of what came back. Raises `TypeError` where that was not noted."""
        mime, content = str(self.noted.get("mime") or ""), self.noted.get("content")
        if isinstance(content, str):
            return fields_of(content, mime)
        if "content" not in self.noted or (self.status > 0 and "json" in mime):
            raise TypeError(f"what {self.url} answered was not noted")
        return None

    @property
    def sent(self) -> dict[str, Json] | None:
        """Fields of the body. Raises `TypeError` where there is one that could not be noted."""
        body = self.noted.get("body")
        if body is None and self.noted.get("has_body"):
            raise TypeError(f"what was sent to {self.url} was not noted")
        mime = self.headers.get("content-type", "")
        return fields_of(body, mime) if isinstance(body, str) else None

    @property
    def cookies(self) -> dict[str, str]:
        """Cookies that were set, unquoted. Raises `TypeError` where they were not noted."""
        noted = self.noted.get("response_cookies")
        if isinstance(noted, dict):
            return {name: unquote(str(value)) for name, value in noted.items()}
        if "response_headers" not in self.noted:
            raise TypeError(f"cookies that {self.url} set were not noted: no response_headers")
        lines = headers_of(self.noted["response_headers"]).get("set-cookie", "").split("\n")
        pairs = (line.split(";", 1)[0].partition("=") for line in lines)
        return {name.strip(): unquote(value) for name, equals, value in pairs if equals}


def request_of(noted: Json) -> Request:
    """A request from the evidence. Raises `TypeError` where it is not as noted by a world."""
    if not isinstance(noted, dict):
        raise TypeError(f"a request is an object, found {noted!r}")
    method, url, status = noted.get("method"), noted.get("url"), noted.get("status")
    if not isinstance(method, str) or not isinstance(url, str):
        raise TypeError(f"a request has method and url as text, found {method!r} and {url!r}")
    if "request_headers" not in noted:
        raise TypeError(f"the request to {url} was noted without request_headers")
    headers = headers_of(noted["request_headers"])
    answered = status if isinstance(status, int) else -1
    return Request(method, url, answered, headers, noted)


def headers_of(noted: Json) -> dict[str, str]:
    """Headers by name in lower case, from an object or a list of names and values."""
    if isinstance(noted, dict):
        return {name.lower(): str(value) for name, value in noted.items()}
    if isinstance(noted, list):
        pairs = [(one.get("name"), one.get("value")) for one in noted if isinstance(one, dict)]
        return {str(name).lower(): str(value) for name, value in pairs}
    raise TypeError(f"headers are an object or a list of names and values, found {noted!r}")


def fields_of(body: str, mime: str) -> dict[str, Json] | None:
    """Fields of a form or of a JSON object; null for anything else. First values count."""
    if not body:
        return None
    if "application/x-www-form-urlencoded" in mime:
        return {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}
    if "application/json" in mime:
        try:
            found = data_in(body)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None
    boundary = _BOUNDARY.search(mime) if "multipart/form-data" in mime else None
    return _parts(body, boundary.group(1)) if boundary else None


def _parts(body: str, boundary: str) -> dict[str, Json]:
    """Fields of a multipart body by their names."""
    fields: dict[str, Json] = {}
    for part in (one.strip() for one in body.split(f"--{boundary}")):
        gap = "\r\n\r\n" if "\r\n\r\n" in part else "\n\n"
        head, found, value = part.partition(gap)
        if not found:
            continue
        for line in head.split("\r\n"):
            if line.lower().startswith("content-disposition:"):
                name = _FIELD_NAME.search(line)
                if name:
                    fields[name.group(1)] = value.rstrip("\r\n")
                break
    return fields
