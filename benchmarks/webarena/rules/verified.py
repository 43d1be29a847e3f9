"""WebArena-Verified's checks, as the published package scores them: a response, and requests.

Each verdict names the version that gave it and a digest of all that it was given; the evidence
itself stays with the episode, so that it can be scored again. Where the package cannot be installed
the rules abstain.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from benchmarks.task_files import FileEntry
from benchmarks.webarena.official import VERSION, ScorerError, official_scorer
from evaluators.evaluator import Verdict
from evaluators.rules.checks import rule
from tasks.task import Json

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
    return _score_response(found, expected, is_corrected=False)


@rule
def agent_response_corrected(found: Json, expected: Json) -> Verdict:
    """`agent_response` with the answer taken at its word: no patterns, no alternatives in it.

    A published response without `retrieved_data` expects none.
    """
    return _score_response(found, expected, is_corrected=True)


@rule
def network_event(found: Json, expected: Json) -> Verdict:
    """A request that WebArena-Verified 1.2.3 wants to see (or not) in the recorded traffic.

    Expected is the published evaluator with `expected` and its options, `task_type` of the task and
    `sites`. Of requests to the expected page by the expected method the last one counts, all of
    them where `last_event_only` is false; for a navigation task's GET the last page opened. Kept
    although wrong: what is sent may hold patterns, and where the published values cannot be read
    (tasks 699, 700 and 811: a list of one) nothing passes.
    """
    return _score_event(found, expected, is_corrected=False)


@rule
def network_event_corrected(found: Json, expected: Json) -> Verdict:
    """`network_event` with what was sent taken at its word, and a list of one read as that one."""
    return _score_event(found, expected, is_corrected=True)


def _score_response(found: Json, expected: Json, *, is_corrected: bool) -> Verdict:
    spec = _read_check(expected, ("task_type", "status", "results_schema", "sites"))
    if not isinstance(found, str):
        raise TypeError("the answer is text that holds JSON")
    wanted = {name: spec[name] for name in _RESPONSE if name in spec}
    if is_corrected:
        wanted.setdefault("retrieved_data", None)
    options = {name: spec[name] for name in spec.keys() - {*_RESPONSE, "sites"}}
    check = {"evaluator": "AgentResponseEvaluator", "expected": wanted, **options}
    job = {"check": check, "answer": found, "entries": _SOMETHING, "corrected": is_corrected}
    reply = _ask(spec, job)
    if "unreadable" in reply:
        raise TypeError(f"the expected response cannot be read: {reply['unreadable']}")
    return _verdict(reply, job)


def _score_event(found: Json, expected: Json, *, is_corrected: bool) -> Verdict:
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
        "corrected": is_corrected,
    }
    reply = _ask(spec, job)
    if "unreadable" in reply and is_corrected:
        raise TypeError(f"the expected request cannot be read: {reply['unreadable']}")
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
    return [_har_entry(event, missing) for event in events], sorted(missing)


def _har_entry(event: Json, missing: set[str]) -> Json:
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
    return {"request": request, "response": response}


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
    return [_event(entry) for entry in log.inners("entries")]


def _event(entry: FileEntry) -> Json:
    request, response = entry.inner("request"), entry.inner("response")
    posted, content = request.values.get("postData") or {}, response.values.get("content") or {}
    headers = _har_headers(request)
    if posted.get("mimeType"):
        headers["content-type"] = posted["mimeType"]
    return {
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


def _har_headers(message: FileEntry) -> dict[str, Json]:
    """Return names in lower case with their values; several cookies stand on lines of their own."""
    headers: dict[str, Json] = {}
    for header in message.items("headers"):
        name, value = header["name"].lower(), header["value"]
        repeated = name == "set-cookie" and name in headers
        headers[name] = f"{headers[name]}\n{value}" if repeated else value
    return headers
