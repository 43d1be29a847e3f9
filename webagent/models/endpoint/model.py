"""The endpoint as a `Model`: as many requests as n replies take, checked and counted."""

import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from webagent.errors import ModelError, SetupError
from webagent.exchange import Attempt
from webagent.models.endpoint import anthropic
from webagent.models.endpoint.protocol import (
    EndpointRequest,
    ResponseBody,
    parse_body,
    read_prompt_ids,
    read_replies,
    write_request,
)
from webagent.models.endpoint.providers import read_variable, resolve_provider, wants_key
from webagent.models.endpoint.settings import Endpoint
from webagent.models.model import Completion, Constraint, Message, Reply, Tokens

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

_ADAPTABLE = {"max_tokens", "temperature", "seed", "n"}
"""Parameters that some servers refuse, and that a request can do without or under another name."""
_PERMANENT_429 = {"insufficient_quota", "billing_hard_limit_reached"}
_TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error"}
_TOO_LONG = re.compile(
    r"(context|sequence) (length|size|window)|(prompt|input|request) is (too long|longer)"
    r"|input token count|maximum (input|prompt|model) length|inputs. (tokens|must have less)",
    re.IGNORECASE,
)
_BROKEN_OFF = {"abort", "error"}
"""Reasons to finish that are the server's, as when it stops for new weights."""


class _Retry(Exception):
    """A failure that may pass, with the pause in seconds that the server asked for."""

    def __init__(self, reason: str, pause: float = 0.0, body: str = "") -> None:
        super().__init__(reason)
        self.pause, self.body = pause, body


class EndpointModel:
    """Asks an endpoint, again where the failure may pass, and fails with one clear sentence.

    Tried again: no connection, a time-out, 408, 409, 429, 5xx, a body that is cut short or is not
    a completion, a reply broken off. Failed at once: a refused key, an unknown model, a prompt
    that is too long, any other refusal.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.model
        self.endpoint = resolve_provider(endpoint)
        self.version = endpoint.version
        """May be set when the weights behind the name change; later requests carry it."""
        self.capabilities = self.endpoint.capabilities
        self._client: AsyncClient | None = None
        self._refused: set[str] = set()
        """Parameters that the server has refused."""
        self._free = 0.0
        """When the next request may begin, by the clock: what the server or the settings ask for
        holds for all who ask at the same time."""

    async def complete(
        self,
        prompt: Sequence[Message] | Tokens,
        *,
        n: int = 1,
        temperature: float = 0.0,
        seed: int | None = None,
        max_tokens: int = 1024,
        constraint: Constraint | None = None,
    ) -> Completion:
        """Return exactly n replies; a server that gives fewer at a time is asked again.

        Raises `ModelError` when the endpoint failed or did not do what it is declared to do,
        `SetupError` when it is not configured or asked for what it is not declared to do.
        """
        start = time.monotonic()
        version, where = self.version, self._where
        request = self._write(prompt, temperature, max_tokens, constraint)
        replies: list[Reply] = []
        attempts: list[Attempt] = []
        usage = Counter(input_tokens=0, output_tokens=0, requests=0)
        name, prompt_ids = self.name, tuple[int, ...]()
        while len(replies) < n:
            wanted = dict(request.body)
            if self.endpoint.server.several:
                wanted["n"] = n - len(replies)
            if seed is not None and self.endpoint.server.protocol == "chat":
                wanted["seed"] = seed + len(replies)
            body = await self._ask(request.path, wanted, start, attempts)
            found = read_replies(body, request, self.endpoint, where)
            prompt_ids = read_prompt_ids(body, request, self.endpoint, where)
            replies += found[: n - len(replies)]
            name = body.model or name
            usage["requests"] = len(attempts)
            if body.usage is not None:
                usage["input_tokens"] += body.usage.prompt_tokens
                usage["output_tokens"] += body.usage.completion_tokens
                if body.usage.cached:
                    usage["cached_input_tokens"] += body.usage.cached
        return Completion(
            tuple(replies),
            f"{name}@{version}" if version else name,
            dict(usage),
            time.monotonic() - start,
            prompt_ids,
            temperature or 1.0,
            tuple(attempts),
        )

    def _write(
        self,
        prompt: Sequence[Message] | Tokens,
        temperature: float,
        max_tokens: int,
        constraint: Constraint | None,
    ) -> EndpointRequest:
        """Return the request in the server's protocol. Raises `SetupError` as `complete` does."""
        options = {"temperature": temperature, "max_tokens": max_tokens}
        request = write_request(self.endpoint, prompt, options, constraint, self.version)
        if self.endpoint.server.protocol == "chat" or isinstance(request.prompt, Tokens):
            return request
        body = anthropic.write_messages_body(self.endpoint.model, request.prompt, options)
        return replace(request, path=anthropic.PATH, body=body)

    def check(self) -> None:
        """Raise `SetupError` where there is no address, or key, to ask with; ask nothing."""
        self._connect()

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @property
    def _base_url(self) -> str:
        return self.endpoint.base_url or read_variable("OPENAI_BASE_URL")

    @property
    def _where(self) -> str:
        """Model and address, to begin a message with."""
        return f"model {self.endpoint.model} at {self._base_url or 'api.openai.com'}"

    async def _ask(
        self, path: str, body: Mapping[str, Any], start: float, attempts: list[Attempt]
    ) -> ResponseBody:
        """Return one good body, `start` being when patience began; every attempt is noted.

        Raises `ModelError` when there is none to be had, `SetupError` without an address.
        """
        endpoint = self.endpoint
        pause = endpoint.first_pause
        reason = ""
        for attempt in range(1, endpoint.attempts + 1):
            began = time.monotonic()
            left = endpoint.patience - (began - start)
            if left <= 0:
                raise self._failure(
                    f"no reply within {endpoint.patience:g} s; last: {reason}", attempts
                )
            try:
                await self._await_turn(left)
                found, text = await self._attempt(path, body, left)
                attempts.append(Attempt(text, seconds=time.monotonic() - began))
                return found
            except ModelError as failure:
                attempts.append(Attempt("", str(failure), time.monotonic() - began))
                failure.attempts = tuple(attempts)
                raise
            except _Retry as failure:
                reason, asked, seen = str(failure), failure.pause, failure.body
            seconds, wait = time.monotonic() - began, 0.0
            if attempt < endpoint.attempts:
                wait = max(asked, pause * random.uniform(0.5, 1.0))
                wait = min(wait, endpoint.longest_pause, max(left, 0))
                if asked:
                    self._free = max(self._free, time.monotonic() + wait)
            attempts.append(Attempt(seen, reason, seconds, wait))
            await asyncio.sleep(wait)
            pause *= 2
        raise self._failure(f"{endpoint.attempts} attempts failed; last: {reason}", attempts)

    def _failure(self, reason: str, attempts: Sequence[Attempt]) -> ModelError:
        error = ModelError(f"{self._where}: {reason}")
        error.attempts = tuple(attempts)
        return error

    async def _await_turn(self, left: float) -> None:
        """Wait while the server, or the settings, want no request begun."""
        begin = max(time.monotonic(), self._free)
        if self.endpoint.requests_per_minute:
            self._free = begin + 60 / self.endpoint.requests_per_minute
        await asyncio.sleep(min(begin - time.monotonic(), left))

    async def _attempt(
        self, path: str, body: Mapping[str, Any], left: float
    ) -> tuple[ResponseBody, str]:
        """Return the body of the response, read and as it came."""
        client = self._connect()
        from httpx2 import InvalidURL, TransportError

        sent = {key: value for key, value in body.items() if key not in self._refused}
        if "max_tokens" in self._refused and "max_completion_tokens" not in self._refused:
            sent["max_completion_tokens"] = body["max_tokens"]
        limit = min(self.endpoint.timeout, left)
        try:
            async with asyncio.timeout(limit):
                response = await client.post(path.removeprefix("/"), json=sent)
        except TimeoutError:
            raise _Retry(f"no reply after {limit:.3g} s") from None
        except TransportError as error:
            raise _Retry(f"no connection ({error or type(error).__name__})") from error
        except InvalidURL as error:
            raise SetupError(
                f"{self._where}: no address ({error}); check OPENAI_BASE_URL"
            ) from None
        if not response.is_success:
            raise self._explain_refusal(response) from None
        kind = "chat completion" if "chat" in path else path.strip("/").removesuffix("s")
        parse = parse_body if path != anthropic.PATH else anthropic.parse_messages_body
        try:
            found = parse(response.text)
        except ValueError as error:
            raise _Retry(f"not a {kind} {error}", body=response.text) from None
        for choice in found.choices:
            if choice.finish_reason in _BROKEN_OFF:
                reason = f"the reply was broken off ({choice.finish_reason})"
                raise _Retry(reason, body=response.text)
        return found, response.text

    def _explain_refusal(self, response: "Response") -> Exception:
        """Return what to raise for a status: retry, or a failure for good."""
        status, refusal = response.status_code, _Refusal(response.text)
        words = refusal.words
        said = f"status {status}: {words or 'without a word'}"
        if status in (401, 403):
            return ModelError(
                f"{self._where}: the key was refused ({said}); check"
                f" {self.endpoint.api_key_variable} and that it belongs to this address"
            )
        if status == 404:
            return ModelError(
                f"{self._where}: not found ({said}); check the model's name and that"
                " OPENAI_BASE_URL ends where /chat/completions goes on, usually in /v1"
            )
        is_too_long = bool(refusal.kinds & _TOO_LONG_CODES) or bool(_TOO_LONG.search(words))
        if is_too_long and status not in (408, 409, 429):
            return ModelError(
                f"{self._where}: the prompt and the tokens asked for do not fit the server's"
                f" context: {words}; send less, ask for fewer tokens or raise the server's context"
                " length"
            )
        parameter = refusal.parameter
        if status == 400 and parameter in _ADAPTABLE and parameter not in self._refused:
            self._refused.add(parameter)
            return _Retry(f"the parameter {parameter} was refused", body=response.text)
        may_pass = status in (408, 409, 429) or status >= 500
        if may_pass and not refusal.kinds & _PERMANENT_429:
            return _Retry(said, _read_pause(response), response.text)
        return ModelError(f"{self._where}: refused with {said}")

    def _connect(self) -> "AsyncClient":
        """Return the client, made at first use. Raises `SetupError` when it cannot be."""
        if self._client is not None:
            return self._client
        endpoint, address = self.endpoint, self._base_url
        key = endpoint.api_key or read_variable(endpoint.api_key_variable)
        if not key and (not address or (wants_key(self.name) and self.name != endpoint.model)):
            others = (
                ""
                if address
                else (
                    ", or OPENAI_BASE_URL for a server of your own, such as http://localhost:8000/v1,"
                    " or name its provider, as in anthropic/NAME"
                )
            )
            raise SetupError(
                f"no key for the model {self.name!r}: set {endpoint.api_key_variable}{others}"
            )
        if address and not address.startswith(("http://", "https://")):
            raise SetupError(
                f"OPENAI_BASE_URL is {address!r}; expected an address such as"
                " http://localhost:8000/v1"
            )
        from httpx2 import AsyncClient

        headers = {"Authorization": f"Bearer {key or 'none'}"}
        if endpoint.server.protocol == "messages":
            headers = {"x-api-key": key, **anthropic.HEADERS}
        # How long to wait is said for each attempt, over all of it.
        self._client = AsyncClient(
            base_url=address or "https://api.openai.com/v1", headers=headers, timeout=None
        )
        return self._client


class _Refusal:
    """What a server itself says of an error, whatever the form."""

    def __init__(self, text: str) -> None:
        try:
            body = json.loads(text)
        except ValueError:
            body = text
        body = body[0] if isinstance(body, list) and body else body
        error = body.get("error", body) if isinstance(body, dict) else body
        found = error if isinstance(error, dict) else {}
        self.kinds = {found.get("code"), found.get("type")}
        message = found.get("message") or found.get("detail") or (error if not found else "")
        self.words = str(message or text)[:300]
        self.parameter = found.get("param")
        if self.parameter is None and re.search(r"[`'\"]?temperature[`'\"]? (is|:)", self.words):
            self.parameter = "temperature"  # Anthropic names it in the message alone


def _read_pause(response: "Response") -> float:
    """Return the seconds that a server asks to wait; 0 where it names none, or a date."""
    try:
        return max(0.0, float(response.headers.get("retry-after", "")))
    except ValueError:
        return 0.0
