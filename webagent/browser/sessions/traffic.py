"""Recorded network traffic (HAR) as answers, from a proxy that never asks the network."""

import asyncio
import base64
import hashlib
import json
import re
import ssl
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urldefrag

from webagent.browser.http import make_server_context, parse_head
from webagent.errors import SetupError

_LOST_ON_THE_WAY = {
    *("connection", "content-encoding", "content-length", "keep-alive", "proxy-authenticate"),
    *("proxy-connection", "strict-transport-security", "trailer", "transfer-encoding", "upgrade"),
}
"""Headers of one connection, or of a body that HAR files hold decoded."""
_BOUNDARY = re.compile(rb'boundary="?([^";\s]+)')


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """One recorded answer."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """What a request is recognised by."""

    method: str
    url: str
    """Without a fragment."""
    body: str
    """Digest of what was sent, empty for nothing; of forms the random boundary is left out."""

    @classmethod
    def of(cls, method: str, url: str, body: bytes, content_type: str) -> "RecordedRequest":
        """Return the same for requests that mean the same."""
        boundary = _BOUNDARY.search(content_type.encode())
        if boundary:
            body = body.replace(boundary[1], b"boundary")
        digest = hashlib.sha256(body).hexdigest() if body else ""
        return cls(method.upper(), urldefrag(url).url, digest)


RecordedResponses: TypeAlias = Mapping[RecordedRequest, Sequence[RecordedResponse | None]]
"""What was answered to a request, time after time; None where it was not answered."""
Entries = TypeVar("Entries")


def read_har(path: Path, convert: Callable[[list[dict[str, Any]]], Entries]) -> Entries:
    """Return what `convert` makes of a HAR file's entries. Raises `SetupError` if it is none."""
    try:
        return convert(json.loads(path.read_bytes())["log"]["entries"])
    except OSError as error:
        raise SetupError(f"the HAR file {path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SetupError(
            f"{path} is not a usable HAR file ({type(error).__name__}: {error}); expected "
            "an object with log.entries, each with request and response, as the profile's "
            "har_record writes it"
        ) from error


def decode_har(part: Mapping[str, Any]) -> bytes:
    """Return the body in an entry's `postData` or `content`. Raises `ValueError`."""
    text = str(part.get("text") or "")
    is_coded = part.get("encoding") == "base64"
    return base64.b64decode(text) if is_coded else text.encode(errors="replace")


@lru_cache(maxsize=8)
def _read_answers(path: Path, _changed: int) -> RecordedResponses:
    def convert(entries: list[dict[str, Any]]) -> RecordedResponses:
        answers: defaultdict[RecordedRequest, list[RecordedResponse | None]] = defaultdict(list)
        for entry in entries:
            request = entry["request"]
            sent, headers = request.get("postData") or {}, request["headers"]
            named = (each["value"] for each in headers if each["name"].lower() == "content-type")
            form, body = sent.get("mimeType", "") or next(named, ""), decode_har(sent)
            key = RecordedRequest.of(request["method"], request["url"], body, form)
            response = entry["response"]
            if response["status"] <= 0:  # never answered
                answers[key].append(None)
                continue
            kept = tuple(
                (header["name"], value)
                for header in response["headers"]
                if not header["name"].startswith(":")
                and header["name"].lower() not in _LOST_ON_THE_WAY
                for value in header["value"].split("\n")
            )
            reason, content = response.get("statusText") or "Recorded", response.get("content", {})
            answers[key].append(
                RecordedResponse(response["status"], reason, kept, decode_har(content))
            )
        return dict(answers)

    return read_har(path, convert)


def read_replay(path: Path) -> "TrafficReplay":
    """Return the answers of a HAR file with embedded bodies, from the first on; a file that has not
    changed is read once. Raises `SetupError` when it is not one."""
    return TrafficReplay(_read_answers(path, path.stat().st_mtime_ns if path.is_file() else 0))


class TrafficReplay:
    """One run through a recording: a request that comes again gets the next answer recorded for
    it, and the last one from then on."""

    def __init__(self, answers: RecordedResponses) -> None:
        self._answers = answers
        self._times: dict[RecordedRequest, int] = defaultdict(int)
        self._unknown: list[RecordedRequest] = []

    def answer(self, request: RecordedRequest) -> RecordedResponse | None:
        """Return what was answered; None where the request failed, or was never made."""
        answers = self._answers.get(request)
        if answers is None:
            self._unknown.append(request)
            return None
        time = self._times[request]
        self._times[request] += 1
        return answers[min(time, len(answers) - 1)]

    def take_notes(self) -> list[str]:
        """Return what was asked for since the last time that the recording does not hold."""

        def explain(request: RecordedRequest) -> str:
            methods = {each.method for each in self._answers if each.url == request.url}
            if request.method in methods:
                return " with this content"
            return f" (only {', '.join(sorted(methods))})" if methods else ""

        unknown, self._unknown = self._unknown, []
        named = [f"{each.method} {each.url}{explain(each)}" for each in dict.fromkeys(unknown)]
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        return [f"not in the recording, so it failed: {', '.join(named[:3])}{more}"] * bool(named)


_LONGEST_HEAD = 1 << 18
_LONGEST_BODY = 1 << 28
_BODILESS = (204, 304)


class FrozenSite:
    """Answers one browser context; `address` is the proxy to give it.

    HTTPS is answered too, with a certificate made on the spot, so the context must not insist on
    good ones. A request that the recording does not hold fails: its connection is closed.
    """

    def __init__(self, replay: TrafficReplay) -> None:
        self.address = ""
        self._replay = replay
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @classmethod
    async def open(cls, replay: TrafficReplay) -> "FrozenSite":
        """Listen on a port of its own, on this machine only."""
        site = cls(replay)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            site._writers.add(writer)
            try:
                await site._talk(reader, writer)
            except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                pass  # the browser hung up or speaks something else; there is nobody to tell
            finally:
                site._writers.discard(writer)
                writer.close()

        site._server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=_LONGEST_HEAD)
        site.address = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
        return site

    async def close(self) -> None:
        """Answer no more. Never raises."""
        if self._server is not None:
            self._server.close()
        for writer in self._writers:
            writer.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests one after another, until one has no answer."""
        origin = ""
        while True:
            head = parse_head(await reader.readuntil(b"\r\n\r\n"))
            method, target, _ = head.line.split(" ", 2)
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                await writer.drain()
                host, _, port = target.rpartition(":")
                origin = f"https://{host if port == '443' else target}"
                if port == "80":
                    origin = f"http://{host}"
                else:
                    await writer.start_tls(_server_context())
                continue
            length, body = int("".join(head.values("content-length")[:1]) or 0), b""
            if "chunked" in map(str.lower, head.values("transfer-encoding")):
                while size := int((await reader.readline()).split(b";")[0], 16):
                    body += await reader.readexactly(size)
                    await reader.readline()
                await reader.readline()
            elif length > _LONGEST_BODY:
                raise ValueError("the request is too long")
            else:
                body = await reader.readexactly(length)
            url = origin + target if target.startswith("/") else target
            content_type = "".join(head.values("content-type")[:1])
            answer = self._replay.answer(RecordedRequest.of(method, url, body, content_type))
            if answer is None:
                return
            body = b"" if method == "HEAD" or answer.status in _BODILESS else answer.body
            headers = [*answer.headers, ("Content-Length", str(len(body)))]
            lines = [f"HTTP/1.1 {answer.status} {answer.reason}"]
            lines += [f"{name}: {value}" for name, value in headers]
            writer.write("\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body)
            await writer.drain()


@cache
def _server_context() -> ssl.SSLContext:
    """Return the TLS of any site, with a certificate that nobody trusts."""
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    return make_server_context(key, "frozen.invalid", "frozen.invalid")
