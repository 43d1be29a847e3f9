"""A secret goes in as a placeholder and comes out as one, however a page writes it."""

import base64
import html
import json
import quopri
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


def in_base64(before: str, after: str, value: str = VALUE) -> str:
    return base64.b64encode(f"{before}{value}{after}".encode()).decode()


ENCODED = {
    "octal JavaScript": "".join(f"\\{ord(each):o}" for each in VALUE),
    "CSS": "".join(f"\\{ord(each):x} " for each in VALUE).strip(),
    "base32": base64.b32encode(VALUE.encode()).decode(),
    "base32 two bytes on": base64.b32encode(f"u:{VALUE}xy".encode()).decode().lower(),
    "hex with colons": VALUE.encode().hex(":"),
    "hex in a list": ", ".join(f"0x{each:02x}" for each in VALUE.encode()),
    "decimal codes": ",".join(str(ord(each)) for each in VALUE),
    "quoted-printable": "".join(f"={each:02X}" for each in VALUE.encode()),
    "quoted-printable where needed": quopri.encodestring(VALUE.encode()).decode(),
    "full width": "".join(
        chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in VALUE
    ),
    "tags": "".join(chr(ord(each) + 0xE0000) if " " <= each <= "~" else each for each in VALUE),
    "basic authorization": in_base64("user:", ""),
    "base64 one byte on": in_base64("a", "xyz"),
    "base64 two bytes on": in_base64("ab", "z"),
    "base64 for addresses": base64.urlsafe_b64encode(f"?>{VALUE}?>".encode()).decode(),
    "base64 in percents": quote(in_base64("??>", "x"), safe=""),
    "base64 of UTF-16": base64.b64encode(VALUE.encode("utf-16-be")).decode(),
    "percents twice": quote(quote(VALUE, safe=""), safe=""),
    "percents three times": quote(quote(quote_plus(VALUE))),
    "every character in percents": "".join(f"%{byte:02x}" for byte in VALUE.encode()),
    "escape() of JavaScript": VALUE.replace(" ", "%20").replace("ä", "%E4").replace('"', "%22"),
    "JSON with escapes": "".join(f"\\u{ord(each):04X}" for each in VALUE),
    "JSON in JSON": json.dumps(json.dumps(VALUE)),
    "JSON with slashes": json.dumps(VALUE).replace("/", "\\/"),
    "script with escapes": "".join(f"\\x{ord(each):02x}" for each in VALUE),
    "HTML by number": "".join(f"&#{ord(each)};" for each in VALUE),
    "HTML by name": "p&auml; ss&amp;&quot;word&sol;1",
    "HTML in an address": quote("".join(f"&#x{ord(each):x};" for each in VALUE)),
    "hex code in capitals": VALUE.encode().hex().upper(),
    "a file's name in a form": VALUE.replace('"', "%22"),
}


@pytest.mark.parametrize("text", ["pages 30 31 32 33 34 35", "48, 49, 50, 51", "31:32:33:34"])
def test_rows_of_numbers_are_not_taken_for_a_short_secret(text: str) -> None:
    secrets = Secrets({"pin": "1234", "code": "0123"})
    assert secrets.masked(text) == text
    assert secrets.found_in("31323334") == {"pin"}


@pytest.mark.parametrize("form", ENCODED.values(), ids=ENCODED)
def test_every_encoding_of_the_web_is_found_and_masked(form: str) -> None:
    assert SECRETS.found_in(f"?q={form}&r=1") == {"shop"}
    masked = SECRETS.masked(f"?q={form}&r=1")
    assert masked.startswith("?q=") and masked.endswith("&r=1")
    assert "<secret:shop>" in masked and not SECRETS.found_in(masked)


@pytest.mark.parametrize("coding", ["utf-8", "utf-16", "utf-16-be", "utf-32", "latin-1"])
@pytest.mark.parametrize("before", ["", "x"])
def test_a_body_is_searched_in_whatever_way_its_characters_are_coded(coding, before):
    for text in (VALUE, quote(VALUE), in_base64("u:", "")):
        body = before.encode() + f"p={text}&r=ü".encode(coding)
        assert SECRETS.found_in_bytes(body) == {"shop"}


def test_a_value_that_looks_escaped_is_found_under_further_escapes() -> None:
    assert Secrets({"it": 'a%41b"c'}).found_in(json.dumps('a%41b"c')) == {"it"}


def test_of_a_secret_within_another_only_the_longer_is_found() -> None:
    both = Secrets({"pin": "4711", "card": "88471199"})
    assert both.found_in("pay with 88471199") == {"card"}
    assert both.found_in("88471199 and 4711") == {"card", "pin"}
    assert both.masked("88471199/4711") == "<secret:card>/<secret:pin>"


UNESCAPED = st.characters(exclude_characters="%&\\", codec="utf-8")


@given(st.text(max_size=9), st.text(max_size=9), st.text(UNESCAPED, min_size=4, max_size=9))
def test_nothing_of_a_value_is_left_where_it_was_coded(before: str, after: str, value: str) -> None:
    known = Secrets({"it": value})
    for form in (
        in_base64(before, after, value),
        quote(quote(before + value + after)),
        json.dumps(before + value + after),
    ):
        assert known.found_in(form) == {"it"}
        assert not known.found_in(known.masked(form).replace("<secret:it>", "\n"))


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
