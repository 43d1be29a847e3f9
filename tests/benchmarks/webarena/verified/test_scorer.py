"""What is told where the published scorer is missing or broken, and what needs no scorer."""

import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.rules import RULES
from benchmarks.webarena.rules import verified
from benchmarks.webarena.rules.verified import (
    OfficialScorer,
    ScorerError,
    har_entries,
    network_events,
)

CHECK = {
    "task_type": "retrieve",
    "status": "SUCCESS",
    "retrieved_data": ["Mug"],
    "results_schema": {"type": "array", "items": {"type": "string"}},
    "sites": {"shopping": ["http://shop.test"]},
}


@pytest.fixture
def fresh(monkeypatch):
    """A scorer that nobody has asked yet, for the rules as well."""
    scorer = OfficialScorer()
    monkeypatch.setattr("benchmarks.webarena.rules.verified.official_scorer", lambda: scorer)
    yield scorer
    scorer.close()


def test_without_the_package_a_check_abstains_and_says_what_to_do(monkeypatch, tmp_path, fresh):
    monkeypatch.setenv("WEBAGENT_SCORERS", str(tmp_path))
    commands = []

    def fail(command):
        commands.append(command)
        raise OSError("no route to host")

    monkeypatch.setattr(verified, "_run", fail)
    verdicts = [RULES["agent_response"]("{}", CHECK) for _ in range(2)]

    assert [verdict.value for verdict in verdicts] == [None, None]
    assert "cannot be installed" in verdicts[0].reason and "no route to host" in verdicts[0].reason
    assert "WEBAGENT_VERIFIED_PYTHON" in verdicts[0].reason
    assert len(commands) == 1, "it is tried once, not for every check"


def test_a_scorer_that_dies_is_started_once_more_and_then_given_up(monkeypatch, fresh):
    monkeypatch.setenv("WEBAGENT_VERIFIED_PYTHON", sys.executable)

    with pytest.raises(ScorerError, match=r"ended twice.*webarena_verified"):
        fresh.score({})


def test_the_version_and_a_digest_of_what_was_given_stand_with_the_verdict(monkeypatch):
    class Told:
        def score(self, job):
            return {"score": 1.0, "reason": json.dumps(job["check"]["expected"])}

    monkeypatch.setattr("benchmarks.webarena.rules.verified.official_scorer", Told)
    one, same, other = (
        RULES["agent_response"](answer, CHECK) for answer in ("{}", "{}", '{"a": 1}')
    )

    assert one.value == 1.0 and "webarena-verified 1.2.3" in one.reason
    assert one == same and one.reason != other.reason


def test_evidence_becomes_entries_and_what_was_not_recorded_is_named():
    event = {
        "method": "POST",
        "url": "http://git.test/notes",
        "status": 201,
        "request_headers": {"Content-Type": "application/json"},
        "response_headers": {"set-cookie": "a=b%20c; Path=/\nd=e"},
        "body": "{}",
        "mime": "application/json",
        "content": '{"id": 1}',
    }
    (entry,), missing = har_entries([event])

    assert missing == []
    assert entry["request"]["postData"] == {"mimeType": "application/json", "text": "{}"}
    assert entry["response"]["cookies"] == [
        {"name": "a", "value": "b%20c"},
        {"name": "d", "value": "e"},
    ]
    bare = {name: event[name] for name in ("method", "url", "status", "request_headers")}
    assert har_entries([{**bare, "has_body": True}])[1] == ["body", "content", "cookies"]
    assert har_entries([{**bare, "content": None, "response_headers": {}}])[1] == []


WORD = st.from_regex(r"[a-z0-9-]{1,12}", fullmatch=True)
PAIRS = st.dictionaries(WORD, WORD, max_size=3)
TEXTS = st.fixed_dictionaries({"mimeType": WORD, "text": st.text(min_size=1)})


@settings(max_examples=25, deadline=None)
@given(method=WORD, status=st.integers(100, 599), headers=PAIRS, cookies=PAIRS, texts=TEXTS)
def test_a_request_of_a_har_file_reaches_the_package_as_it_stands_there(
    method, status, headers, cookies, texts
):
    headers = {**headers, "content-type": texts["mimeType"]}
    listed, carried = (
        [{"name": name, "value": value} for name, value in pairs.items()]
        for pairs in (headers, cookies)
    )
    request = {"method": method, "url": f"http://git.test/{method}", "headers": listed}
    response = {"status": status, "headers": [], "cookies": carried, "content": texts}
    entry = {"request": {**request, "postData": texts}, "response": response}

    events = network_events({"log": {"entries": [entry]}})

    assert har_entries(events) == ([{**entry, "response": {**response, "redirectURL": ""}}], [])


@pytest.mark.parametrize("event", [None, {}, {"method": "GET", "url": "http://git.test/"}])
def test_what_is_no_recorded_request_cannot_be_compared(event):
    with pytest.raises(TypeError):
        har_entries([event])
