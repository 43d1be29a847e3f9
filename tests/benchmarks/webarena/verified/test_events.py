"""Network traffic: which request counts, what of it is compared, and what cannot be told."""

import json

import pytest

from benchmarks.rules import RULES
from benchmarks.webarena.rules.verified import network_events

pytestmark = [pytest.mark.very_slow, pytest.mark.usefixtures("scorer")]

SITES = {"gitlab": ["http://git.test"], "reddit": ["http://forum.test", "http://forum2.test"]}
OPENED = {
    "Sec-Fetch-User": "?1",
    "sec-fetch-dest": "document",
    "sec-fetch-mode": "navigate",
    "accept": "text/html,*/*",
}


def event(url, method="GET", status=200, **fields):
    """A request as a world notes it."""
    headers = OPENED if method == "GET" else {"content-type": "application/json"}
    noted = {"method": method, "url": url, "status": status, "request_headers": headers}
    return {**noted, "response_headers": {}, "body": None, "mime": "", "content": None, **fields}


def posted(url, fields, **more):
    return event(url, "POST", body=json.dumps(fields), has_body=True, **more)


def score(events, spec, task_type="mutate", **options):
    asked = {"expected": spec, "task_type": task_type, "sites": SITES, **options}
    return RULES["network_event"](events, asked).value


POST = {"url": "__GITLAB__/notes", "http_method": "POST", "post_data": {"$.note.note": "lgtm"}}


@pytest.mark.parametrize(
    ("events", "value"),
    [
        ([posted("http://git.test/notes", {"note": {"note": "LGTM."}})], 1.0),
        ([posted("http://git.test/notes", {"note": {"note": "no"}})], 0.0),
        ([posted("http://git.test/notes", {"note": {"note": "lgtm"}}, status=500)], 0.0),
        ([posted("http://forum.test/notes", {"note": {"note": "lgtm"}})], 0.0),
        ([event("http://git.test/notes")], 0.0),
        ([], 0.0),
    ],
)
def test_a_request_is_right_only_in_every_part(events, value):
    assert score(events, POST) == value


def test_the_last_request_of_its_kind_counts_unless_any_may():
    events = [
        posted("http://git.test/notes", {"note": {"note": text}}) for text in ("lgtm", "oh no")
    ]

    assert score(events, POST) == 0.0
    assert score(events, POST, last_event_only=False) == 1.0


def test_sites_with_several_addresses_patterns_and_alternatives_fit():
    spec = {"url": ["^__REDDIT__/f/\\w+$", "__REDDIT__/all"]}

    assert score([event("http://forum2.test/f/books")], spec) == 1.0
    assert score([event("http://forum.test/all")], spec) == 1.0
    assert score([event("http://forum.test/f/books/1")], spec) == 0.0


@pytest.mark.parametrize(
    ("mime", "body"),
    [
        ("application/x-www-form-urlencoded; charset=UTF-8", "product%5Bprice%5D=12.05&x=1"),
        ("application/json", '{"product[price]": "$12.05"}'),
        (
            "multipart/form-data; boundary=QQ",
            '--QQ\r\nContent-Disposition: form-data; name="product[price]"\r\n\r\n12.05\r\n--QQ--',
        ),
    ],
)
def test_bodies_of_every_form_are_read(mime, body):
    spec = {"url": "__GITLAB__/p", "http_method": "POST", "post_data": {"product[price]": 12}}
    schema = {"properties": {"product[price]": {"type": "number", "format": "currency"}}}
    noted = event("http://git.test/p", "POST", request_headers={"Content-Type": mime}, body=body)

    assert score([noted], spec, post_data_schema={"type": "object", **schema}) == 1.0


def test_headers_cookies_and_content_are_compared():
    spec = {
        "url": "__GITLAB__/p",
        "headers": {"referer": "__GITLAB__/from", "Cookie": "^.*bicycle.*$"},
        "response_cookies": {"mage-messages": "^.*wish list.*$"},
        "response_content": {"$.items[0].name": "Ann", "total": 1},
    }
    right = event(
        "http://git.test/p",
        request_headers={"Referer": "http://git.test/from", "cookie": "a=bicycle"},
        response_headers={"set-cookie": "a=b; Path=/\nmage-messages=added%20to%20wish%20list; x"},
        mime="application/json",
        content='{"items": [{"name": "Ann"}], "total": 1, "more": 2}',
    )

    assert score([right], spec) == 1.0
    for changed in (
        {"request_headers": {"cookie": "a=bicycle"}},
        {"request_headers": {"referer": "http://git.test/else", "cookie": "a=bicycle"}},
        {"response_headers": {"set-cookie": "mage-messages=none"}},
        {"content": '{"items": [], "total": 1}'},
        {"content": "oh"},
    ):
        assert score([{**right, **changed}], spec) == 0.0


def test_what_was_not_noted_cannot_be_compared():
    content = {"url": "__GITLAB__/p", "response_content": {"a": 1}}
    unread = event("http://git.test/notes", "POST", has_body=True)
    long = event("http://git.test/p", mime="application/json")
    no_headers = {"method": "GET", "url": "http://git.test/", "status": 200}

    for events, spec in ([unread], POST), ([long], content), ([no_headers], content), (None, POST):
        with pytest.raises(TypeError):
            score(events, spec)
    assert score([event("http://git.test/p", mime="text/html")], content) == 0.0


def test_a_list_of_one_does_not_pass_as_published():
    spec = {**POST, "post_data": {"$.issue.assignee_ids": [1]}}

    assert score([posted("http://git.test/notes", {"issue": {"assignee_ids": [1]}})], spec) == 0.0


def test_a_pattern_that_was_sent_passes_as_published():
    assert score([posted("http://git.test/notes", {"note": {"note": "^.*$"}})], POST) == 1.0


@pytest.mark.parametrize(
    "asked", [None, {"expected": {}}, {"expected": {"url": "x"}, "task_type": "mutate"}]
)
def test_a_check_that_is_not_as_published_cannot_be_compared(asked):
    with pytest.raises(TypeError):
        RULES["network_event"]([], asked)


def har_entry(**request):
    request = {"method": "POST", "url": "http://git.test/notes", "headers": [], **request}
    response = {"status": 200, "headers": [], "content": {"mimeType": "text/html", "text": "ok"}}
    response["cookies"] = [{"name": "a", "value": "x%20y"}]
    return {"request": request, "response": response, "time": 5}


def test_a_har_file_gives_the_same_evidence():
    body = {"mimeType": "application/json", "text": '{"note": {"note": "lgtm"}}'}
    events = network_events({"log": {"entries": [har_entry(postData=body)]}})

    assert events[0]["response_cookies"] == {"a": "x y"}
    assert score(events, POST) == 1.0


@pytest.mark.parametrize(
    ("har", "said"),
    [
        ({}, "the HAR file, log is None, expected an object"),
        ({"log": {}}, "log lacks the key 'entries'"),
        ({"log": {"entries": [{}]}}, "entries 0, request is None"),
        ({"log": {"entries": [har_entry(headers=None)]}}, "headers is None, expected a list"),
        ({"log": {"entries": [har_entry(url=None)]}}, "request: url is None, expected text"),
    ],
)
def test_a_file_that_is_no_har_file_is_named(har, said):
    with pytest.raises(ValueError, match=said):
        network_events(har)
