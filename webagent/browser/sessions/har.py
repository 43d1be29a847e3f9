"""Recorded network traffic (HAR) as answers: the next one for each request, in recorded order."""

import base64
import binascii
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

from webagent.errors import SetupError

_LOST_ON_THE_WAY = {
    *("connection", "content-encoding", "content-length", "keep-alive", "proxy-authenticate"),
    *("proxy-connection", "strict-transport-security", "trailer", "transfer-encoding", "upgrade"),
}
"""Headers of one connection, or of a body that HAR files hold decoded."""
_BOUNDARY = re.compile(rb'boundary="?([^";\s]+)')


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded answer."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request is recognised by."""

    method: str
    url: str
    """Without a fragment."""
    body: str
    """Digest of what was sent, empty for nothing; of forms the random boundary is left out."""

    @classmethod
    def of(cls, method: str, url: str, body: bytes, content_type: str) -> "Asked":
        """The same for requests that mean the same."""
        boundary = _BOUNDARY.search(content_type.encode())
        if boundary:
            body = body.replace(boundary[1], b"boundary")
        digest = hashlib.sha256(body).hexdigest() if body else ""
        return cls(method.upper(), urldefrag(url).url, digest)


class Traffic:
    """The answers of one recording. Each `replay` begins again from the first."""

    def __init__(self, answers: Mapping[Asked, tuple[Recorded | None, ...]]) -> None:
        self._answers = answers

    @classmethod
    def read(cls, path: Path) -> "Traffic":
        """Read a HAR file whose bodies are embedded. Raises `SetupError` when it is not one."""
        try:
            entries = json.loads(path.read_bytes())["log"]["entries"]
            answers: dict[Asked, list[Recorded | None]] = defaultdict(list)
            for entry in entries:
                answers[_asked(entry["request"])].append(_answer(entry["response"]))
        except OSError as error:
            raise SetupError(f"the HAR file {path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            raise SetupError(
                f"{path} is no HAR file that can be replayed ({type(error).__name__}: {error}); "
                "record one with the profile's har_record"
            ) from error
        return cls({asked: tuple(each) for asked, each in answers.items()})

    def replay(self) -> "Replay":
        """The traffic from its beginning."""
        return Replay(self._answers)


def read_traffic(path: Path) -> Traffic:
    """As `Traffic.read`, but a file that has not changed is read once."""
    return _read_once(path, path.stat().st_mtime_ns) if path.is_file() else Traffic.read(path)


@lru_cache(maxsize=8)
def _read_once(path: Path, _changed: int) -> Traffic:
    return Traffic.read(path)


class Replay:
    """One run through a recording: a request that comes again gets the next answer recorded for
    it, and the last one from then on."""

    def __init__(self, answers: Mapping[Asked, tuple[Recorded | None, ...]]) -> None:
        self._answers = answers
        self._times: dict[Asked, int] = defaultdict(int)
        self._unknown: list[Asked] = []

    def answer(self, asked: Asked) -> Recorded | None:
        """What was answered; None where the request failed, or was never made."""
        answers = self._answers.get(asked)
        if answers is None:
            self._unknown.append(asked)
            return None
        time = self._times[asked]
        self._times[asked] += 1
        return answers[min(time, len(answers) - 1)]

    def take_notes(self) -> list[str]:
        """What was asked for since the last time that the recording does not hold."""
        unknown, self._unknown = self._unknown, []
        named = [f"{each.method} {each.url}{self._why(each)}" for each in dict.fromkeys(unknown)]
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        return [f"not in the recording, so it failed: {', '.join(named[:3])}{more}"] * bool(named)

    def _why(self, asked: Asked) -> str:
        same = [each for each in self._answers if each.url == asked.url]
        if any(each.method == asked.method for each in same):
            return " with this content"
        return f" (only {', '.join(sorted({each.method for each in same}))})" if same else ""


def _asked(request: dict[str, Any]) -> Asked:
    sent = request.get("postData") or {}
    body = sent.get("text", "")
    raw = base64.b64decode(body) if sent.get("encoding") == "base64" else body.encode()
    content_type = sent.get("mimeType", "") or _header(request["headers"], "content-type")
    return Asked.of(request["method"], request["url"], raw, content_type)


def _answer(response: dict[str, Any]) -> Recorded | None:
    """None for a request that was never answered."""
    if response["status"] <= 0:
        return None
    content = response.get("content", {})
    text = content.get("text", "")
    body = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()
    return Recorded(
        response["status"],
        response.get("statusText") or "Recorded",
        tuple(_kept_headers(response["headers"])),
        body,
    )


def _kept_headers(headers: Iterable[dict[str, str]]) -> Iterable[tuple[str, str]]:
    for header in headers:
        name = header["name"]
        if not name.startswith(":") and name.lower() not in _LOST_ON_THE_WAY:
            for value in header["value"].split("\n"):
                yield name, value


def _header(headers: Iterable[dict[str, str]], wanted: str) -> str:
    return next((each["value"] for each in headers if each["name"].lower() == wanted), "")
