"""Asking a site whether it takes a request from another one, before the browser sends it.

Browsers ask by themselves (the preflight of CORS), but Playwright answers them with yes wherever
requests are intercepted.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from webagent.browser.enforcement.dial import Dial, Refused
from webagent.browser.enforcement.inspection import Inspector
from webagent.browser.enforcement.relay import Head, read_head
from webagent.guard.address import Address, read_address

ANSWER_SECONDS = 10.0
_SIMPLE_METHODS = ("GET", "HEAD", "POST")
_SIMPLE_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
_SIMPLE_FIELDS = [
    "accept",
    "accept-language",
    "content-language",
    "content-type",
    "origin",
    "referer",
    "user-agent",
    "range",
    "purpose",
    "upgrade-insecure-requests",
    "save-data",
    "dpr",
    "viewport-width",
    "width",
    "device-memory",
    "rtt",
    "downlink",
    "ect",
    "cache-control",
    "pragma",
    "cookie",
]


@dataclass(frozen=True, slots=True)
class Question:
    """What a site is asked: who wants to send it what."""

    address: Address
    origin: str
    method: str
    fields: tuple[str, ...]
    """Names of the header fields that a page may not set without asking, in order."""

    @classmethod
    def of(cls, url: str, method: str, fields: Mapping[str, str]) -> "Question | None":
        """None for what is sent without asking: to the page's own origin, or as a form could."""
        address, origin = read_address(url), fields.get("origin", "")
        if not origin or origin == address.origin or address.scheme not in ("http", "https"):
            return None
        unusual = tuple(sorted(name for name in fields if not _is_simple(name, fields[name])))
        if method in _SIMPLE_METHODS and not unusual:
            return None
        return cls(address, origin, method, unusual)

    def text(self) -> bytes:
        """The question as it is sent."""
        lines = [
            f"OPTIONS {self.address.path} HTTP/1.1",
            f"Host: {self.address.origin.partition('://')[2]}",
            f"Origin: {self.origin}",
            f"Access-Control-Request-Method: {self.method}",
            "Sec-Fetch-Mode: cors",
            "Connection: close",
        ]
        if self.fields:
            lines.append(f"Access-Control-Request-Headers: {','.join(self.fields)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def is_granted_by(self, answer: Head) -> bool:
        """Whether the answer lets the request through."""
        if answer.line.split(" ")[1:2] not in (["200"], ["204"]):
            return False
        methods = _listed(answer, "access-control-allow-methods")
        fields = {name.lower() for name in _listed(answer, "access-control-allow-headers")}
        return (
            bool({"*", self.origin} & _listed(answer, "access-control-allow-origin"))
            and (self.method in _SIMPLE_METHODS or bool({"*", self.method} & methods))
            and ("*" in fields or fields.issuperset(self.fields))
        )


async def is_granted(question: Question, dial: Dial, inspector: Inspector) -> bool:
    """Ask the site; an answer that does not come or cannot be read is a no."""
    address = question.address
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            server = await dial.dial(address.host, address.port)
            try:
                if address.scheme == "https":
                    await inspector.secure(server, address.host)
                server[1].write(question.text())
                return question.is_granted_by(await read_head(server[0]))
            finally:
                server[1].close()
    except (OSError, EOFError, ValueError, Refused, asyncio.LimitOverrunError):
        return False


def _is_simple(name: str, value: str) -> bool:
    if name == "content-type":
        return value.partition(";")[0].strip().lower() in _SIMPLE_TYPES
    return name in _SIMPLE_FIELDS or name.startswith(("sec-", "proxy-"))


def _listed(answer: Head, name: str) -> set[str]:
    values = ",".join(answer.values(name)).split(",")
    return {value.strip() for value in values}
