"""What is reported where a provider's server fails: the sentences of failures.md."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from perf.providers import MODELS, variables
from tests.fakes.misbehaviour import EVERYWHERE, PROVIDERS
from webagent.errors import ModelError
from webagent.models import Endpoint, EndpointModel
from webagent.models.endpoint.refusals import ServerRefusal
from webagent.models.model import Message

ASK = [Message("user", "Press the button.")]
TABLE = Path(__file__).with_name("failures.md")
ROW = re.compile(r"^\| (\S+) \| ([^|]+) \| (\d+) \| (.*) \| (\d) \|$", re.M)
READ_BY_THE_POLICY = ("unreadable", "empty")
WITHOUT_A_SERVER = "no server"


Row = tuple[str, str, int, str, int]


def rows() -> Iterator[Row]:
    """Rows of the table: server, what is wrong, requests, sentence, exit status."""
    for server, wrong, requests, said, status in ROW.findall(TABLE.read_text(encoding="utf-8")):
        yield server, wrong, int(requests), said.replace("&lt;", "<"), int(status)


def test_the_table_holds_every_provider_and_every_failure() -> None:
    everywhere = {"openai": [*EVERYWHERE], "anthropic": [*EVERYWHERE]}
    expected = [
        (name, wrong)
        for name, failures in PROVIDERS.items()
        for wrong in (*failures, *everywhere.get(name, []), WITHOUT_A_SERVER)
    ]
    assert [(server, wrong) for server, wrong, *_ in rows()] == expected


@pytest.mark.parametrize(
    "row",
    [row for row in rows() if row[1] not in READ_BY_THE_POLICY],
    ids=lambda row: f"{row[0]}: {row[1]}",
)
async def test_a_failure_is_told_as_the_table_says(chat_server, monkeypatch, row):
    server, wrong, requests, sentence, status = row
    address = chat_server.url if wrong != WITHOUT_A_SERVER else "http://127.0.0.1:9/v1"
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name, value in variables(server, address).items():
        monkeypatch.setenv(name, value)
    if wrong != WITHOUT_A_SERVER:
        chat_server.will({**PROVIDERS[server], **EVERYWHERE}[wrong])
    quick = {"first_pause": 0.01, "longest_pause": 0.01}
    timeout = 0.2 if wrong == "silence" else 10.0
    model = EndpointModel(Endpoint(MODELS[server], attempts=3, timeout=timeout, **quick))
    with pytest.raises(ModelError) as failure:
        await model.complete(ASK)
    await model.close()
    said = str(failure.value).replace(address, "ADDRESS").replace("after 0.2 s", "after 2 s")
    assert f"model failed: {said}" == sentence
    assert (len(chat_server.requests), status) == (requests, 3)


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "20"}, "", 20.0),
        ({"retry-after-ms": "1500"}, "", 1.5),
        ({"retry-after": "soon"}, "", 0.0),
        ({}, '[{"error": {"code": 429, "details": [{"retryDelay": "37s"}]}}]', 37.0),
        ({}, '{"error": {"code": 429, "details": "none"}}', 0.0),
    ],
    ids=["header", "milliseconds", "no number", "Gemini's body", "other details"],
)
def test_the_pause_that_a_server_asks_for_is_read(headers, body, seconds):
    assert ServerRefusal(429, body, headers).pause == seconds


def test_a_pause_until_a_date_is_read() -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 55 < ServerRefusal(503, "", {"retry-after": until}).pause <= 60
