"""HAR files as logs of requests."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from webagent.browser.sessions.network import har_events
from webagent.errors import SetupError


def entry(second: int, url: str, status: int = 200, method: str = "GET", **more: Any) -> Any:
    """One entry that began so many seconds after noon."""
    request = {"method": method, "url": url, "headers": more.pop("sent", [])}
    response = {"status": status, "headers": more.pop("received", [])}
    response |= {"content": more.pop("content", {"mimeType": "text/html; charset=utf-8"})}
    return {
        "startedDateTime": f"2026-01-01T12:00:{second:02}.500Z",
        "request": request | more.pop("request", {}),
        "response": response | more.pop("response", {}),
        **more,
    }


def read(folder: Path, *entries: Any) -> list[dict[str, Any]]:
    """The log of a HAR file with these entries."""
    file = folder / "some.har"
    file.write_text(json.dumps({"log": {"entries": entries}}))
    return [each for each in har_events(file) if isinstance(each, dict)]


def header(name: str, value: str) -> dict[str, str]:
    """One header as HAR files hold it."""
    return {"name": name, "value": value}


def test_requests_stand_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    log = read(tmp_path, entry(7, "http://x/b"), entry(5, "http://x/a?q=1"))
    assert [(each["url"], each["seconds"]) for each in log] == [
        ("http://x/a?q=1", 0.0),
        ("http://x/b", 2.0),
    ]
    assert {each["mime"] for each in log} == {"text/html"}


def test_a_redirect_is_followed_to_where_it_leads_once(tmp_path: Path) -> None:
    moved = [header("Location", "/new#part")]
    log = read(
        tmp_path,
        entry(1, "http://x/old", 302, received=moved),
        entry(2, "http://x/other"),
        entry(3, "http://x/new"),
        entry(4, "http://x/new"),
    )
    assert [each["redirected_from"] for each in log] == [None, None, "http://x/old", None]


def test_headers_bodies_and_contents_are_read_however_they_are_written(tmp_path: Path) -> None:
    data = base64.b64encode(b"\xffraw").decode()
    cookies = [header("Set-Cookie", "a=1"), header("set-cookie", "b=2"), header(":status", "200")]
    star = {"mimeType": "application/json", "text": '{"n": 1}'}
    log = read(
        tmp_path,
        entry(1, "http://x/1", request={"postData": {"text": "a=b"}}, received=cookies),
        entry(2, "http://x/2", request={"postData": {"text": data, "encoding": "base64"}}),
        entry(3, "http://x/3", request={"postData": {"params": [header("a b", "c")]}}),
        entry(4, "http://x/4", 201, "POST", request={"bodySize": 9}, content=star),
        entry(5, "http://x/5", content={"mimeType": "text/html", "text": "<p>"}),
    )
    assert [each["body"] for each in log] == ["a=b", "\ufffdraw", "a+b=c", None, None]
    assert [each["has_body"] for each in log] == [True, True, True, True, False]
    assert log[0]["response_headers"] == {"set-cookie": "a=1\nb=2"}
    assert [each["content"] for each in log[3:]] == ['{"n": 1}', None]


def test_bodies_in_files_beside_are_read_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "har").mkdir()
    (tmp_path / "har" / "1.dat").write_text("in a file")
    (tmp_path / "2.dat").write_text("elsewhere")
    sent = [{"postData": {"text": "", "_file": name}} for name in ("1.dat", "../2.dat", "3.dat")]
    log = read(tmp_path / "har", *(entry(1, "http://x/", request=each) for each in sent))
    assert [each["body"] for each in log] == ["in a file", None, None]


def test_kinds_are_those_the_file_tells(tmp_path: Path) -> None:
    log = read(
        tmp_path,
        entry(1, "http://x/", sent=[header("Sec-Fetch-Dest", "document")]),
        entry(2, "http://x/", sent=[header("Sec-Fetch-Dest", "empty")], _resourceType="xhr"),
        entry(3, "http://x/", sent=[header("sec-fetch-dest", "iframe")], _resourceType="document"),
        entry(4, "http://x/"),
        entry(5, "http://x/", -1, response={"_failureText": "net::ERR_ABORTED"}),
    )
    assert [each["kind"] for each in log] == ["document", "xhr", "iframe", "", ""]
    assert (log[-1]["status"], log[-1]["failure"]) == (None, "net::ERR_ABORTED")


@pytest.mark.parametrize("text", ["", "{}", '{"log": {"entries": [{}]}}', "[1]", '{"log": 3}'])
def test_a_file_that_is_no_har_file_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "some.har"
    file.write_text(text)
    with pytest.raises(
        SetupError, match=r"is not a usable HAR file .*; expected an object with log\.entries"
    ):
        har_events(file)
    with pytest.raises(SetupError, match="cannot be read"):
        har_events(tmp_path / "none.har")
