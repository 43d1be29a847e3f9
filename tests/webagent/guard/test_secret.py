"""A secret goes in as a placeholder and comes out as one, however a page writes it."""

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.guard.secret import Secrets
from webagent.records import Node, Observation

VALUE = 'pä ss&"word/1'
SECRETS = Secrets({"shop": VALUE, "short": "1234"})


@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        VALUE.upper(),
        quote(VALUE),
        quote(VALUE, safe=""),
        quote_plus(VALUE),
        html.escape(VALUE),
        json.dumps(VALUE)[1:-1],
        base64.b64encode(VALUE.encode()).decode(),
        VALUE.encode().hex(),
        VALUE[::-1],
    ],
)
def test_every_usual_spelling_is_masked(form: str) -> None:
    assert SECRETS.masked(f"a{form}b").startswith("a<secret:shop>")
    assert SECRETS.found_in(f"a{form}b") == {"shop"}


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_carries_a_secret_once_masked(before: str, after: str) -> None:
    assert VALUE not in SECRETS.masked(before + VALUE + after)


@given(st.text(alphabet="xyz <>:\n", max_size=60))
def test_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert SECRETS.masked(text) == text
    assert Secrets({}).masked(text) == text


def test_an_observation_is_masked_in_every_text() -> None:
    page = Observation(
        goal=VALUE,
        url=f"https://a.example/?{quote(VALUE)}",
        title=VALUE,
        nodes=(Node(1, "textbox", VALUE, VALUE, (VALUE,)), Node(2, "button", "OK")),
        tabs=(VALUE, "b"),
        outcome=f"does not take {VALUE}",
    )
    masked = SECRETS.masked_page(page)
    assert VALUE not in repr(masked) and quote(VALUE) not in repr(masked)
    assert masked.nodes[0].value == "<secret:shop>"
    assert masked.nodes[1] is page.nodes[1]


def test_evidence_is_masked_to_its_depth() -> None:
    assert SECRETS.masked_json({"a": [VALUE, 1, {VALUE: None}]}) == {
        "a": ["<secret:shop>", 1, {"<secret:shop>": None}]
    }


def test_a_placeholder_becomes_its_value_and_others_stay() -> None:
    assert SECRETS.revealed("<secret:short>, <secret:none>") == "1234, <secret:none>"
