"""What a server refuses with: in its own words, whatever their form, and what to do next."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from webagent.models.endpoint.settings import Endpoint

SPENT = {"insufficient_quota", "billing_hard_limit_reached"}
_KEY_KINDS = {"API_KEY_INVALID", "UNAUTHENTICATED", "invalid_api_key", "authentication_error"}
_TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error"}
_TOO_LONG = re.compile(
    r"(context|sequence) (length|size|window)|(prompt|input|request) is (too long|longer)"
    r"|input token count|maximum (input|prompt|model) length|inputs. (tokens|must have less)",
    re.IGNORECASE,
)
_OTHER_PROTOCOL = re.compile(r"v1/responses|not a chat model", re.IGNORECASE)
_NO_CREDIT = re.compile(r"credit balance|insufficient (credits|balance|funds)", re.IGNORECASE)
_MARKUP = re.compile(r"<(style|script|head)\b.*?</\1>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_LONGEST = 300


class ServerRefusal:
    """What a response other than a success says."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str]) -> None:
        try:
            body = json.loads(text)
        except ValueError:
            body = read_page(text)
        body = body[0] if isinstance(body, list) and body else body
        error = body.get("error", body) if isinstance(body, dict) else body
        found = error if isinstance(error, dict) else {}
        details = [each for each in found.get("details") or () if isinstance(each, dict)]
        named = [found.get(key) for key in ("code", "type", "status")]
        named += [each.get("reason") for each in details]
        message = found.get("message") or found.get("detail") or (error if not found else text)
        self.status = status
        self.kinds = {str(each) for each in named if each}
        self.words = " ".join(str(message).split())[:_LONGEST].rstrip(".")
        self.parameter = found.get("param")
        if self.parameter is None and re.search(r"[`'\"]?temperature[`'\"]? (is|:)", self.words):
            self.parameter = "temperature"  # Anthropic names it in the message alone
        waits = [headers.get("retry-after"), *(each.get("retryDelay") for each in details)]
        if milliseconds := headers.get("retry-after-ms"):
            waits.append(f"{milliseconds}ms")
        self.pause = max(map(_read_seconds, waits))
        """Seconds that the server asks to wait; 0 where it does not."""

    @property
    def said(self) -> str:
        """The status and the words."""
        return f"status {self.status}: {self.words or 'without a word'}"

    @property
    def is_too_long(self) -> bool:
        """Whether the prompt does not fit."""
        is_reported = bool(self.kinds & _TOO_LONG_CODES) or bool(_TOO_LONG.search(self.words))
        return is_reported and self.status not in (408, 409, 429)

    @property
    def is_spent(self) -> bool:
        """Whether there is no money left, which no waiting brings back."""
        is_empty = self.status == 402 or bool(_NO_CREDIT.search(self.words))
        return is_empty or bool(self.kinds & SPENT)

    @property
    def may_pass(self) -> bool:
        """Whether the same request may be answered later."""
        passes = self.status in (408, 409, 429) or self.status >= 500
        return passes and not (self.is_spent or self.is_too_long)


def read_page(text: str) -> str:
    """Return the words of a web page, as proxies send; other text as it is."""
    is_page = text.lstrip().startswith("<")
    return " ".join(_MARKUP.sub(" ", text).split()) if is_page else text


def explain(refusal: ServerRefusal, endpoint: Endpoint, address: str) -> str:
    """Return what is wrong, in the server's words, and what to do next."""
    key = endpoint.api_key_variable
    if refusal.is_spent:
        owner = f"the account of {key}" if key != NO_KEY else "the server's account"
        return f"nothing left to spend ({refusal.said}); top up {owner}, or take another model"
    if refusal.status in (401, 403) or bool(refusal.kinds & _KEY_KINDS):
        hint = f"check {key} and that it belongs to this address"
        return f"the key was refused ({refusal.said}); {hint if key != NO_KEY else ASK_OWNER}"
    if _OTHER_PROTOCOL.search(refusal.words):
        return (
            f"this model does not answer chat completions ({refusal.said}); take one that does, or"
            " reach it through a router, as openrouter/MAKER/NAME"
        )
    if refusal.status == 404:
        if endpoint.server.kind == "ollama":
            hint = f"`ollama list` says what is there, `ollama pull {endpoint.model}` fetches it"
        elif "model" in refusal.words.lower():
            hint = f"check the model's name, and that {endpoint.api_key_variable} may use it"
        else:
            goes_on = "/messages" if endpoint.server.protocol == "messages" else "/chat/completions"
            hint = (
                f"check the model's name and that {address} is the address before {goes_on}, which"
                " usually ends in /v1"
            )
        return f"not found ({refusal.said}); {hint}"
    if refusal.is_too_long:
        return (
            "the prompt and the tokens asked for do not fit the server's context:"
            f" {refusal.words}; send less, ask for fewer tokens or raise the server's context"
            " length"
        )
    if not refusal.may_pass:
        return f"refused with {refusal.said}"
    return refusal.said


def advise(refusal: ServerRefusal) -> str:
    """Return what to do about a refusal that did not pass."""
    if refusal.status == 429:
        return "wait, or ask more slowly with requests_per_minute (docs/models.md)"
    if refusal.status in (502, 503, 504, 529) or "overload" in refusal.words.lower():
        return "the server is overloaded or down: try later, or take another model"
    return "the failure is the server's: its log says more"


NO_KEY = "NO_API_KEY"
"""The variable of providers that want no key."""
ASK_OWNER = "set OPENAI_BASE_URL and OPENAI_API_KEY for a server that wants a key"


def _read_seconds(wait: Any) -> float:
    """Return the seconds of `20`, `20s`, `500ms` or a date; 0 where it is none of them."""
    text = str(wait or "").strip()
    if found := re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s)?", text):
        return float(found[1]) / (1000 if found[2] == "ms" else 1)
    with suppress(ValueError):
        until = parsedate_to_datetime(text)
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    return 0.0
