"""The requests that WebArena-Verified's tasks expect, as entries of a HAR file."""

import copy
import json
import random
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

SITES = {
    "shopping": ["http://localhost:7770"],
    "shopping_admin": ["http://localhost:7780/admin"],
    "reddit": ["http://localhost:9999"],
    "gitlab": ["http://localhost:8023"],
    "wikipedia": ["http://localhost:8888/wikipedia_en_all_maxi_2022-05/A/User:Kiwix/Landing"],
    "map": ["http://localhost:3000"],
    "homepage": ["http://localhost:4399"],
}
OPENED = {
    "sec-fetch-dest": "document",
    "sec-fetch-mode": "navigate",
    "sec-fetch-user": "?1",
    "accept": "text/html,application/xhtml+xml",
}

Task = Mapping[str, Any]
Job = dict[str, Any]


def request(method: str, url: str, headers: Mapping[str, str], status: int = 200) -> Job:
    """A HAR entry."""
    return {
        "request": {
            "method": method,
            "url": url,
            "headers": [{"name": name, "value": value} for name, value in headers.items()],
        },
        "response": {"status": status, "headers": [], "cookies": [], "content": {}},
    }


SOMETHING = [request("GET", "http://localhost:7780/admin", {})]


def traffic(tasks: list[Task], seed: int) -> Iterator[Job]:
    """For each task with network checks the expected requests, and others."""
    dice = random.Random(seed)
    for task in tasks:
        checks = [one for one in task["eval"] if one["evaluator"] == "NetworkEventEvaluator"]
        if checks:
            answer = json.dumps({**_response(task)["expected"], "retrieved_data": None})
            expected = [_expected_entry(task, check, dice) for check in checks]
            for entries in (expected, SOMETHING):
                yield {"task": task["task_id"], "answer": answer, "entries": entries}


def _response(task: Task) -> Any:
    return next(one for one in task["eval"] if one["evaluator"] == "AgentResponseEvaluator")


def _concrete(pattern: str) -> str:
    """Some text that the pattern, if it is one, should fit."""
    if not (pattern.startswith("^") and pattern.endswith("$")):
        return pattern
    text = re.sub(r"\(\?![^)]*\([^)]*\)[^)]*\)|\(\?![^)]*\)", "", pattern[1:-1])
    text = re.sub(r"\(\?=\.\*([^)]*)\)", r" \1 ", text)
    text = re.sub(r"\((?:\?:)?([^)|]*)(\|[^)]*)?\)\??", r"\1", text)
    text = re.sub(r"\\d[+*]?|\[0-9\]\+", "57", text).replace(".*", "z").replace(".+", "z")
    text = re.sub(r"\[\^[^\]]*\][+*]?", "q", text.replace("\\w+", "w"))
    return re.sub(r"\\(.)", r"\1", re.sub(r"\[[^\]]*\][+*]?", "a", text))


def _expected_entry(task: Task, check: Task, dice: random.Random) -> Job:
    spec = check["expected"]
    url = spec["url"] if isinstance(spec["url"], str) else dice.choice(spec["url"])
    url = _rendered(_concrete(url), task)
    if spec.get("query_params"):
        pairs = [
            (name, _concrete(one)) for name, all_ in spec["query_params"].items() for one in all_
        ]
        url = f"{url.split('?')[0]}?{urlencode(pairs)}"
    method = spec.get("http_method", "GET")
    headers = dict(OPENED) if method == "GET" else {"accept": "*/*"}
    for name, value in (spec.get("headers") or {}).items():
        one = value if isinstance(value, str) else dice.choice(value)
        headers[name] = _rendered(_concrete(one), task)
    entry = request(method, url, headers, spec.get("response_status", 200))
    if spec.get("post_data"):
        entry["request"]["postData"] = _posted(_nested(spec["post_data"]), dice)
    if spec.get("response_content"):
        text = json.dumps(_nested(spec["response_content"]))
        entry["response"]["content"] = {"mimeType": "application/json", "text": text}
    entry["response"]["cookies"] = [
        {"name": name, "value": quote(_concrete(value))}
        for name, value in (spec.get("response_cookies") or {}).items()
    ]
    return entry


def _posted(body: Mapping[str, Any], dice: random.Random) -> Job:
    flat = not any(isinstance(value, dict | list) for value in body.values())
    if flat and dice.random() < 0.5:
        return {"mimeType": "application/x-www-form-urlencoded; x=y", "text": urlencode(body)}
    if flat and dice.random() < 0.5:
        parts = "".join(
            f'----XyZ\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in body.items()
        )
        return {"mimeType": "multipart/form-data; boundary=--XyZ", "text": f"{parts}----XyZ--\r\n"}
    return {"mimeType": "application/json", "text": json.dumps(body)}


def _nested(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The object in which the paths lead to their values."""
    whole: dict[str, Any] = {}
    for path, given in fields.items():
        value = _concrete(given) if isinstance(given, str) else given
        filtered = re.match(r"\$\['([^']+)'\]\[\?\(@\.(\w+) == (\d+)\)\]\.(\w+)", path)
        if filtered:
            name, key, wanted, leaf = filtered.groups()
            values = value if isinstance(value, list) else [value]
            whole[name] = json.dumps([{key: int(wanted), leaf: one} for one in values])
        elif path.startswith("$.^"):
            whole[_concrete(path[2:]).split("|")[0]] = value
        elif path.startswith("$."):
            _put(whole, re.findall(r"[^.\[\]]+", path[2:]), value)
        else:
            whole[path] = value
    return whole


def _put(whole: Any, names: list[str], value: Any) -> None:
    for name, after in zip(names, [*names[1:], None], strict=True):
        empty: Any = value if after is None else [] if after.isdigit() else {}
        if isinstance(whole, list):
            at = int(name)
            while len(whole) <= at:
                whole.append(copy.copy(empty))
            whole = whole[at]
        else:
            whole = whole.setdefault(name, empty)


def _rendered(url: str, task: Task) -> str:
    for site in task["sites"]:
        url = url.replace(f"__{site.upper()}__", SITES[site][0])
    return url
