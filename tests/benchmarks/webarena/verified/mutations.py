"""Answers and requests for WebArena-Verified's tasks: as expected, and with something changed."""

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


def answers(tasks: list[Task], seed: int, count: int) -> Iterator[Job]:
    """For each task that asks for data `count` answers, for the others one."""
    dice = random.Random(seed)
    for task in tasks:
        expected = _response(task)["expected"]
        for _ in range(count if expected["task_type"] == "retrieve" else 1):
            text = _worded(_changed_answer(expected, dice), dice)
            yield {"task": task["task_id"], "answer": text, "entries": SOMETHING}


def traffic(tasks: list[Task], seed: int, count: int) -> Iterator[Job]:
    """For each task with network checks the expected requests, and `count` changed ones."""
    dice = random.Random(seed)
    for task in tasks:
        checks = [one for one in task["eval"] if one["evaluator"] == "NetworkEventEvaluator"]
        if not checks:
            continue
        answer = json.dumps({**_response(task)["expected"], "retrieved_data": None})
        expected = [_expected_entry(task, check, dice) for check in checks]
        for at in range(count + 1):
            entries = _changed_entries(expected, dice) if at else expected
            yield {"task": task["task_id"], "answer": answer, "entries": entries}


def _response(task: Task) -> Any:
    return next(one for one in task["eval"] if one["evaluator"] == "AgentResponseEvaluator")


def _changed_answer(expected: Task, dice: random.Random) -> Any:
    data = copy.deepcopy(expected.get("retrieved_data"))
    if isinstance(data, list):
        data = [dice.choice(one) if isinstance(one, list) else one for one in data]
    said = {"task_type": expected["task_type"], "status": expected["status"]}
    said["retrieved_data"] = _changed_data(data, dice)
    odds = dice.random()
    if odds < 0.03:
        wrong = ["success", "FAILURE", "NOT_FOUND_ERROR", '"SUCCESS".', "^.*$", "", None, 5]
        said["status"] = dice.choice(wrong)
    elif odds < 0.06:
        said["task_type"] = dice.choice(["RETRIEVE", "navigate", " mutate ", "Retrieve.", None])
    elif odds < 0.08:
        said["performed_operation"] = said.pop("task_type")
    elif odds < 0.10:
        said.pop(dice.choice(list(said)))
    elif odds < 0.12:
        said["error_details"] = "none"
    return said


def _changed_data(data: Any, dice: random.Random) -> Any:
    if not isinstance(data, list) or not data:
        return _changed(data, dice) if dice.random() < 0.5 else data
    at, odds = dice.randrange(len(data)), dice.random()
    if odds < 0.6:
        data[at] = _changed(data[at], dice)
    elif odds < 0.65:
        dice.shuffle(data)
    elif odds < 0.7:
        data.append(dice.choice(data))
    elif odds < 0.73:
        data.pop()
    elif odds < 0.8:
        return dice.choice([data[0], json.dumps(data), {"items": data}])
    return data


def _changed(value: Any, dice: random.Random) -> Any:
    if isinstance(value, bool):
        return dice.choice([value, not value, str(value), "yes", "no", 1, 0, "y", None])
    if isinstance(value, int | float):
        return dice.choice(_other_numbers(value))
    if isinstance(value, str):
        return dice.choice(_other_texts(value))
    if isinstance(value, dict):
        changed = {
            key: _changed(one, dice) if dice.random() < 0.5 else one for key, one in value.items()
        }
        others = [changed, changed, {**changed, "extra": 1}, json.dumps(changed), [changed], {}]
        return dice.choice(others)
    return dice.choice([None, [], "", 0, "nothing"])


def _other_numbers(value: float) -> list[Any]:
    return [
        value, value + 1, value + 0.05, value - 0.11, -value, str(value), f"${value}",
        f"{value:,} USD", f"USD {value}", f"{value:.2f}", f"{value}%", f"€ {value}",
        str(value).replace(".", ","), f"about {value}", "free", "twelve", "one hundred twenty",
        "none", f" {value} ",
        [value, value], [value], {}, True, f"({value})", f"{value} items",
    ]  # fmt: skip


def _other_texts(value: str) -> list[Any]:
    return [
        value, value.upper(), value.lower(), f" {value}  ", f"{value}.", f'"{value}"', f"{value}x",
        value[:-1], value.replace(" ", "  "), value.replace("-", " "), value.replace("-", "–"),
        f"the {value}", " ".join(value.split()[::-1]), value.replace("é", "e"),
        value.replace(" and ", " & "), [value], [value, "other"], {"x": value}, 5, None, True,
        "^.*$", f"^{re.escape(value)}$", value.replace("e", "é"), f"{value}™",
        value.replace("'", "’"), f"“{value}”", value.replace(":", "h ", 1) + "m",
        re.sub(r"\d+", lambda found: str(int(found[0]) + 1), value, count=1),
        re.sub(r"(\d+)", r"\1 ", value), value.replace("km", " kilometers"),
        value.replace("min", " minutes"), value.replace("h ", " hours, "), f"{value} {value}",
        value.replace("/", "-"), value.title(), json.dumps([value]),
        ",".join(reversed(value.split(","))), "N/A", "", "null", value.replace(",", ""),
        f"{value} (approx)", f"~{value}", value.replace(".", ","),
    ]  # fmt: skip


def _worded(said: Any, dice: random.Random) -> str:
    text = json.dumps(said, ensure_ascii=False, indent=dice.choice([None, 2]))
    ways = [text] * 10 + [
        f"```json\n{text}\n```", f"Here:\n```\n{text}\n```\nbye", f"Here: {text}", f"[{text}]",
        f"  {text}\n", "",
    ]  # fmt: skip
    return dice.choice(ways)


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


def _changed_entries(entries: list[Job], dice: random.Random) -> list[Job]:
    entries = copy.deepcopy(entries)
    for _ in range(dice.choice([1, 1, 2])):
        dice.choice(_CHANGES)(entries, dice)
        entries = entries or copy.deepcopy(SOMETHING)
    return entries


def _status(entries: list[Job], dice: random.Random) -> None:
    dice.choice(entries)["response"]["status"] = dice.choice([200, 302, 404, 500, 201])


def _method(entries: list[Job], dice: random.Random) -> None:
    dice.choice(entries)["request"]["method"] = dice.choice(["GET", "POST", "PUT", "post", "PATCH"])


def _more_query(entries: list[Job], dice: random.Random) -> None:
    sent = dice.choice(entries)["request"]
    pair = dice.choice(["x=1", "page=2", "sort=asc", "_=123", "isAjax=true", "form_key=abc"])
    sent["url"] += ("&" if "?" in sent["url"] else "?") + pair


def _less_query(entries: list[Job], dice: random.Random) -> None:
    sent = dice.choice(entries)["request"]
    sent["url"] = re.sub(r"([?&])[^&=]+=[^&]*", r"\1", sent["url"], count=1)


def _other_query(entries: list[Job], dice: random.Random) -> None:
    sent = dice.choice(entries)["request"]
    found = list(re.finditer(r"=([^&]*)", sent["url"]))
    if found:
        at = dice.choice(found)
        value = dice.choice(["other", "", f"%20{at[1]}", at[1].upper()])
        sent["url"] = sent["url"][: at.start(1)] + value + sent["url"][at.end(1) :]


def _other_url(entries: list[Job], dice: random.Random) -> None:
    sent = dice.choice(entries)["request"]
    url = sent["url"]
    doubled = url.replace("/", "//").replace(":////", "://")
    ways = [f"{url}/", url.upper(), url.replace("http:", "https:"), f"{url}#part", doubled]
    sent["url"] = dice.choice([*ways, url.replace("%20", "+"), f"{url.rstrip('/')}/x"])


def _other_body(entries: list[Job], dice: random.Random) -> None:
    posted = dice.choice(entries)["request"].get("postData")
    if posted and posted["mimeType"] == "application/json":
        body = json.loads(posted["text"])
        name = dice.choice(list(body))
        value = body.pop(name)
        ways = ["other", None, 5, str(value).upper(), [value], f"{value}.", f" {value}", {"a": 1}]
        if dice.random() < 0.7:
            body[name] = dice.choice([*ways, "", [value, "z"]])
        posted["text"] = json.dumps(body)
    elif posted:
        posted["text"] = posted["text"].replace("e", dice.choice(["E", "", "i"]), 1)


def _other_mime(entries: list[Job], dice: random.Random) -> None:
    posted = dice.choice(entries)["request"].get("postData")
    if posted:
        posted["mimeType"] = dice.choice(["text/plain", "application/json", "multipart/form-data"])


def _fewer_headers(entries: list[Job], dice: random.Random) -> None:
    sent = dice.choice(entries)["request"]
    sent["headers"] = [header for header in sent["headers"] if dice.random() < 0.7]


def _referer(entries: list[Job], dice: random.Random) -> None:
    value = dice.choice(["http://localhost:7780/admin/other", "http://localhost:9999/f/x?y=1"])
    dice.choice(entries)["request"]["headers"].append({"name": "Referer", "value": value})


def _order(entries: list[Job], dice: random.Random) -> None:
    dice.shuffle(entries)


def _again(entries: list[Job], dice: random.Random) -> None:
    entries.append(copy.deepcopy(dice.choice(entries)))
    entries[-1]["response"]["status"] = 500


def _elsewhere(entries: list[Job], dice: random.Random) -> None:
    address = SITES[dice.choice(list(SITES))][0]
    entries.append(request("GET", f"{address}/other", OPENED))


def _style(entries: list[Job], dice: random.Random) -> None:
    sent = dice.choice(entries)["request"]
    entries.append(request(sent["method"], sent["url"].split("?")[0] + ".css", {}))


def _left_out(entries: list[Job], dice: random.Random) -> None:
    entries.pop(dice.randrange(len(entries)))


def _other_content(entries: list[Job], dice: random.Random) -> None:
    content = dice.choice(entries)["response"]["content"]
    if content.get("text"):
        content["text"] = dice.choice(["", "{}", "[1]", content["text"].upper(), "no json"])


_CHANGES = [
    _status, _method, _more_query, _less_query, _other_query, _other_url, _other_body, _other_body,
    _other_mime, _fewer_headers, _referer, _order, _again, _elsewhere, _style, _left_out,
    _other_content,
]  # fmt: skip
