"""WebArena-Verified's checks, as the published package scores them: a response, and requests.

Each verdict names the version that gave it and a digest of all that it was given; the evidence
itself stays with the episode, so that it can be scored again. Where the package cannot be installed
the rules abstain.
"""

import atexit
import fcntl
import hashlib
import json
import logging
import os
import selectors
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks.task_files import FileEntry
from evaluators.evaluator import Verdict
from evaluators.rules.checks import rule
from tasks.task import Json

logger = logging.getLogger(__name__)

VERSION = "1.2.3"
REQUIREMENT = f"webarena-verified=={VERSION}"
FOLDER_VARIABLE = "WEBAGENT_SCORERS"
INTERPRETER_VARIABLE = "WEBAGENT_VERIFIED_PYTHON"
INSTALL_SECONDS = 600.0
ANSWER_SECONDS = 120.0
"""Of one check: the first includes the start of the process, of two seconds; others take
milliseconds."""


class ScorerError(Exception):
    """The published scorer cannot be installed or does not answer; the message says what to do."""


def interpreter() -> Path:
    """Return the Python that has the package: that of `WEBAGENT_VERIFIED_PYTHON`, else of an
    environment in the cache, made now where there is none. Raises `ScorerError`."""
    if named := os.environ.get(INTERPRETER_VARIABLE):
        return Path(named)
    root = os.environ.get(FOLDER_VARIABLE)
    parent = Path(root) if root else Path.home() / ".cache" / "webagent" / "scorers"
    folder = parent / f"webarena-verified-{VERSION}"
    python, complete = folder / "bin" / "python", folder / "complete"
    if complete.exists():
        return python
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with (parent / f"{folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not complete.exists():
                logger.warning("installing %s, once, in %s", REQUIREMENT, folder)
                _run([sys.executable, "-m", "venv", "--clear", str(folder)])
                _run([str(python), "-m", "pip", "install", "-q", "--retries", "1", REQUIREMENT])
                complete.touch()
    except OSError as error:
        raise ScorerError(
            f"{REQUIREMENT}, which scores these tasks, cannot be installed in {folder} ({error}); "
            f"install it where there is a network and name that Python in {INTERPRETER_VARIABLE}, "
            "then score the episodes again: their evidence is kept"
        ) from error
    return python


def _run(command: list[str]) -> None:
    """Raises `OSError` with the last line that the command wrote."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"it took more than {INSTALL_SECONDS:g} s") from error
    if done.returncode:
        raise OSError((done.stderr.strip().splitlines() or ["no reason was given"])[-1])


class OfficialScorer:
    """A child process that scores one check at a time; started when it is first asked."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._last_words = ""
        """The last line that a child wrote before it died."""
        self._failure = ""
        """Why no child could be started, so that it is tried once and not for every check."""

    def score(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return what the child says of a job. Raises `ScorerError`.

        A child that has died is started again once.
        """
        line = json.dumps(job) + "\n"
        with self._turn:
            for _ in range(2):
                if self._failure:
                    raise ScorerError(self._failure)
                if reply := self._ask(line):
                    found: dict[str, Any] = json.loads(reply)
                    return found
        why = self._last_words or "it wrote nothing"
        self._failure = f"the process of {REQUIREMENT} ended twice without an answer: {why}"
        raise ScorerError(self._failure)

    def close(self) -> None:
        """End the child. Safe to call twice."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _, written = process.communicate()
            self._last_words = (written.strip().splitlines() or [""])[-1]

    def _ask(self, line: str) -> str:
        """Return the child's line; empty where it has died or takes too long."""
        if self._process is None or self._process.poll() is not None:
            try:
                self._process = subprocess.Popen(
                    # -I: neither PYTHONPATH nor the script's folder may hide the package
                    [interpreter(), "-I", Path(__file__).parents[1] / "official_child.py"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,  # a traceback at most: the child logs nothing
                    text=True,
                    encoding="utf-8",
                )
            except (OSError, ScorerError) as error:
                self._failure = str(error)
                raise ScorerError(self._failure) from error
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                if selector.select(ANSWER_SECONDS) and (reply := process.stdout.readline()):
                    return reply
        except BrokenPipeError:
            pass
        self.close()
        return ""


_SCORER = OfficialScorer()
atexit.register(_SCORER.close)


def official_scorer() -> OfficialScorer:
    """Return the one of this process; its child ends with it."""
    return _SCORER


_RESPONSE = ("task_type", "status", "retrieved_data", "error_details")
"""Fields of the expected response; the others of a check are options of its evaluator."""
_SOMETHING: Json = [
    {
        "request": {"method": "GET", "url": "http://nothing.invalid/", "headers": []},
        "response": {"status": 200, "headers": [], "cookies": [], "content": {}},
    }
]
"""Traffic for a response's check, which looks at none, while the package reads no empty list."""


@rule
def agent_response(found: Json, expected: Json) -> Verdict:
    """A response as WebArena-Verified 1.2.3 scores it, from an answer that is JSON text.

    Expected is the published `expected` with the evaluator's `results_schema` and `ordered`, and
    `sites`. Kept although wrong: an answer may hold patterns and lists of alternatives, and where
    the published response has no `retrieved_data` (task 319) nothing passes.
    """
    spec = _read_check(expected, ("task_type", "status", "results_schema", "sites"))
    if not isinstance(found, str):
        raise TypeError("the answer is a string that contains JSON")
    wanted = {name: spec[name] for name in _RESPONSE if name in spec}
    options = {name: spec[name] for name in spec.keys() - {*_RESPONSE, "sites"}}
    check = {"evaluator": "AgentResponseEvaluator", "expected": wanted, **options}
    job = {"check": check, "answer": found, "entries": _SOMETHING}
    reply = _ask(spec, job)
    if "unreadable" in reply:
        raise TypeError(f"the expected response cannot be read: {reply['unreadable']}")
    return _verdict(reply, job)


@rule
def network_event(found: Json, expected: Json) -> Verdict:
    """A request that WebArena-Verified 1.2.3 wants to see (or not) in the recorded traffic.

    Expected is the published evaluator with `expected` and its options, `task_type` of the task and
    `sites`. Of requests to the expected page by the expected method the last one counts, all of
    them where `last_event_only` is false; for a navigation task's GET the last page opened. Kept
    although wrong: what is sent may hold patterns, and where the published values cannot be read
    (tasks 699, 700 and 811: a list of one) nothing passes.
    """
    spec = _read_check(expected, ("expected", "task_type", "sites"))
    if not isinstance(spec["expected"], dict) or "url" not in spec["expected"]:
        raise TypeError(f"network_event needs 'expected' with its url, found {spec['expected']!r}")
    if not isinstance(found, list):
        raise TypeError("network traffic is a list of requests")
    options = {name: spec[name] for name in spec.keys() - {"task_type", "sites"}}
    entries, missing = har_entries(found)
    job = {
        "check": {"evaluator": "NetworkEventEvaluator", **options},
        "answer": None,
        "entries": entries or _SOMETHING,
        "missing": missing,
    }
    reply = _ask(spec, job)
    if "unreadable" in reply:
        why = f"nothing passes, the published check cannot be read: {reply['unreadable']}"
        reply = {"score": 0.0, "reason": why}
    if "missing" in reply:
        raise TypeError(f"{', '.join(reply['missing'])} of a request that counts was not recorded")
    return _verdict(reply, job)


def _ask(spec: Mapping[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    try:
        return official_scorer().score(
            {**job, "task_type": spec["task_type"], "sites": spec["sites"]}
        )
    except ScorerError as error:
        return {"score": None, "reason": str(error)}


def _verdict(reply: Mapping[str, Any], job: Mapping[str, Any]) -> Verdict:
    if reply["score"] is None:
        return Verdict(None, reply["reason"])
    given = hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:12]
    return Verdict(reply["score"], f"{reply['reason']} (webarena-verified {VERSION}, {given})")


def _read_check(expected: Json, needed: tuple[str, ...]) -> dict[str, Any]:
    """Return the check as published, with its sites. Raises `TypeError`."""
    check = FileEntry.of(expected, "a check of WebArena-Verified", TypeError)
    for name in needed:
        if name not in check.values:
            raise check.wrong(name, "what was published")
    sites = check.inner("sites")
    if not sites.values or not all(sites.texts(site) for site in sites.values):
        raise check.wrong("sites", "site names with lists of addresses")
    return dict(check.values)


def har_entries(events: list[Json]) -> tuple[list[Json], list[str]]:
    """Return recorded requests as entries of a HAR file, and which of `body`, `content` and
    `cookies` was not recorded of some. Raises `TypeError` for what is no recorded request."""
    missing: set[str] = set()
    entries: list[Json] = []
    for event in events:
        if not isinstance(event, dict):
            raise TypeError(f"a request is an object, found {event!r}")
        method, url, status = event.get("method"), event.get("url"), event.get("status")
        if not isinstance(method, str) or not isinstance(url, str):
            raise TypeError(f"a request has method and url as text, found {method!r} and {url!r}")
        if "request_headers" not in event:
            raise TypeError(f"the request to {url} was recorded without request_headers")
        headers = _headers_of(event["request_headers"])
        body, mime, content = event.get("body"), str(event.get("mime") or ""), event.get("content")
        answered = status if isinstance(status, int) else -1
        if body is None and event.get("has_body"):
            missing.add("body")
        if not isinstance(content, str) and (
            "content" not in event or (answered > 0 and "json" in mime)
        ):
            missing.add("content")
        request: dict[str, Json] = {
            "method": method,
            "url": url,
            "headers": [{"name": name, "value": value} for name, value in headers.items()],
        }
        if isinstance(body, str):
            request["postData"] = {"mimeType": headers.get("content-type", ""), "text": body}
        response: Json = {
            "status": answered,
            "headers": [],
            "cookies": _cookies_of(event, missing),
            "content": {"mimeType": mime, "text": content} if isinstance(content, str) else {},
            "redirectURL": "",
        }
        entries.append({"request": request, "response": response})
    return entries, sorted(missing)


def _cookies_of(event: dict[str, Json], missing: set[str]) -> list[Json]:
    recorded = event.get("response_cookies")
    if isinstance(recorded, dict):
        return [{"name": name, "value": str(value)} for name, value in recorded.items()]
    if "response_headers" not in event:
        missing.add("cookies")
        return []
    lines = _headers_of(event["response_headers"]).get("set-cookie", "").split("\n")
    pairs = (line.split(";", 1)[0].partition("=") for line in lines)
    return [{"name": name.strip(), "value": value} for name, equals, value in pairs if equals]


def _headers_of(recorded: Json) -> dict[str, str]:
    """Return headers by name in lower case, from an object or a list of names and values."""
    if isinstance(recorded, dict):
        return {name.lower(): str(value) for name, value in recorded.items()}
    if isinstance(recorded, list):
        pairs = [(one.get("name"), one.get("value")) for one in recorded if isinstance(one, dict)]
        return {str(name).lower(): str(value) for name, value in pairs}
    raise TypeError(f"headers are an object or a list of names and values, found {recorded!r}")


def network_events(har: Mapping[str, Any]) -> list[Json]:
    """Return the requests of a HAR file in the form of the evidence `network`, in its order.

    Raises `ValueError` for a file of another form, with what was missing.
    """
    log = FileEntry.of(har, "the HAR file", ValueError).inner("log")
    log.items("entries")  # they have to be there
    found: list[Json] = []
    for entry in log.inners("entries"):
        request, response = entry.inner("request"), entry.inner("response")
        posted, content = request.values.get("postData") or {}, response.values.get("content") or {}
        headers = _har_headers(request)
        if posted.get("mimeType"):
            headers["content-type"] = posted["mimeType"]
        event: dict[str, Json] = {
            "method": request.text("method"),
            "url": request.text("url"),
            "status": response.integer("status"),
            "kind": entry.values.get("_resourceType") or "",
            "request_headers": headers,
            "response_headers": _har_headers(response),
            "response_cookies": {
                cookie["name"]: unquote(cookie.get("value", ""))
                for cookie in response.values.get("cookies") or []
            },
            "body": posted.get("text") or None,
            "mime": content.get("mimeType") or "",
            "content": content.get("text") or "",
        }
        found.append(event)
    return found


def _har_headers(message: FileEntry) -> dict[str, Json]:
    """Return names in lower case with their values; several cookies stand on lines of their own."""
    headers: dict[str, Json] = {}
    for header in message.items("headers"):
        name, value = header["name"].lower(), header["value"]
        repeated = name == "set-cookie" and name in headers
        headers[name] = f"{headers[name]}\n{value}" if repeated else value
    return headers
