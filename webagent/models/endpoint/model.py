"""The endpoint as a `Model`: as many requests as n replies take, checked and counted."""

import asyncio
import os
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from webagent.errors import ModelError, SetupError
from webagent.models.endpoint.protocol import (
    ResponseBody,
    parse_body,
    read_prompt_ids,
    read_replies,
    write_request,
)
from webagent.models.endpoint.settings import Endpoint
from webagent.models.model import Completion, Constraint, Message, Reply, Tokens

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

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

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause


class Connection:
    """Asks one endpoint.

    Tried again: no connection, a time-out, 408, 409, 429, 5xx, a body that is cut short or is not
    a completion, a reply broken off. Failed at once: a refused key, an unknown model, a prompt
    that is too long, any other refusal.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client: AsyncOpenAI | None = None
        self._refused: set[str] = set()

    @property
    def where(self) -> str:
        """Model and address, to begin a message with."""
        address = _base_url(self._endpoint) or "api.openai.com"
        return f"model {self._endpoint.model} at {address}"

    async def ask(
        self, path: str, body: Mapping[str, Any], start: float
    ) -> tuple[ResponseBody, int]:
        """Return one good body and how many requests it took, `start` being when patience began.

        Raises `ModelError` when there is none to be had, `SetupError` without an address.
        """
        endpoint = self._endpoint
        pause = endpoint.first_pause
        reason = ""
        for attempt in range(1, endpoint.attempts + 1):
            left = endpoint.patience - (time.monotonic() - start)
            if left <= 0:
                raise ModelError(
                    f"{self.where}: no reply within {endpoint.patience:g} s; last: {reason}"
                )
            try:
                return await self._attempt(path, body, left), attempt
            except _Retry as failure:
                reason, asked = str(failure), failure.pause
            if attempt < endpoint.attempts:
                wait = max(asked, pause * random.uniform(0.5, 1.0))
                await asyncio.sleep(min(wait, endpoint.longest_pause, max(left, 0)))
                pause *= 2
        raise ModelError(f"{self.where}: {endpoint.attempts} attempts failed; last: {reason}")

    def check(self) -> None:
        """Whether it could be asked; asks nothing. Raises `SetupError`."""
        self._connect()

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _attempt(self, path: str, body: Mapping[str, Any], left: float) -> ResponseBody:
        client = self._connect()
        import openai

        try:
            async with asyncio.timeout(min(self._endpoint.timeout, left)):
                text = await client.post(path, body=self._accepted(body), cast_to=str)
        except TimeoutError:
            raise _Retry(f"no reply after {min(self._endpoint.timeout, left):.3g} s") from None
        except openai.APIConnectionError as error:
            raise _Retry(f"no connection ({error.__cause__ or error})") from error
        except openai.APIStatusError as error:
            raise self._refusal(error) from None
        return _whole(text, "chat completion" if "chat" in path else "completion")

    def _accepted(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body without the parameters this server has refused."""
        kept = {key: value for key, value in body.items() if key not in self._refused}
        if "max_tokens" in self._refused and "max_completion_tokens" not in self._refused:
            kept["max_completion_tokens"] = body["max_tokens"]
        return kept

    def _refusal(self, error: "APIStatusError") -> Exception:
        """Return what to raise for a status: retry, or a failure for good."""
        status, code, parameter = error.status_code, error.code or "", error.param or ""
        if status in (401, 403):
            return ModelError(
                f"{self.where}: the key was refused ({status}); check"
                f" {self._endpoint.api_key_variable} and that it belongs to this address"
            )
        if status == 404:
            return ModelError(
                f"{self.where}: not found (404); check the model's name and that OPENAI_BASE_URL"
                " ends where /chat/completions goes on, usually in /v1"
            )
        if _is_too_long(error):
            return ModelError(
                f"{self.where}: the prompt and the tokens asked for do not fit the server's"
                f" context: {_server_words(error)}; send less, ask for fewer tokens or raise the"
                " server's context length"
            )
        if status == 400 and parameter in _ADAPTABLE and parameter not in self._refused:
            self._refused.add(parameter)
            return _Retry(f"the parameter {parameter} was refused")
        if (status in (408, 409, 429) or status >= 500) and code not in _PERMANENT_429:
            return _Retry(f"status {status}", _seconds(error.response.headers))
        return ModelError(f"{self.where}: refused with status {status}: {_server_words(error)}")

    def _connect(self) -> "AsyncOpenAI":
        """Return the client, made at first use. Raises `SetupError` when it cannot be."""
        if self._client is None:
            self._client = _client(self._endpoint)
        return self._client


def _client(endpoint: Endpoint) -> "AsyncOpenAI":
    try:
        from openai import AsyncOpenAI
    except ImportError as error:
        raise SetupError(
            "an endpoint needs the openai package: pip install 'webagent-loop[llm]'"
        ) from error
    key = endpoint.api_key or os.environ.get(endpoint.api_key_variable, "")
    address = _base_url(endpoint)
    if not key and not address:
        raise SetupError(
            f"no endpoint for the model {endpoint.model!r}: set {endpoint.api_key_variable}, or"
            " OPENAI_BASE_URL for a server of your own, such as http://localhost:8000/v1"
        )
    if address and not address.startswith(("http://", "https://")):
        raise SetupError(
            f"OPENAI_BASE_URL is {address!r}; expected an address such as http://localhost:8000/v1"
        )
    return AsyncOpenAI(
        base_url=address or None, api_key=key or "none", max_retries=0, timeout=endpoint.timeout
    )


def _base_url(endpoint: Endpoint) -> str:
    return endpoint.base_url or os.environ.get("OPENAI_BASE_URL", "")


def _whole(text: str, kind: str) -> ResponseBody:
    try:
        body = parse_body(text)
    except ValueError as error:
        raise _Retry(f"not a {kind} {error}") from None
    for choice in body.choices:
        if choice.finish_reason in _BROKEN_OFF:
            raise _Retry(f"the reply was broken off ({choice.finish_reason})")
    return body


def _is_too_long(error: "APIStatusError") -> bool:
    """Whether a refusal is for the length of the prompt, which no repetition makes shorter."""
    if error.status_code in (408, 409, 429):
        return False
    kinds = {error.code, getattr(error, "type", None)}
    return bool(kinds & _TOO_LONG_CODES) or bool(_TOO_LONG.search(_server_words(error)))


def _server_words(error: "APIStatusError") -> str:
    """Return what the server itself says; the client's message has it in OpenAI's form only."""
    body = error.body
    message = body.get("message") or body.get("detail") if isinstance(body, dict) else body
    return str(message or error.response.text)[:300]


def _seconds(headers: Mapping[str, str]) -> float:
    """Return the pause that a server asks for in `Retry-After`, when it gives one in seconds."""
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return 0.0


class EndpointModel:
    """Asks an endpoint, again where the failure may pass, and fails with one clear sentence."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.model
        self.version = endpoint.version
        """May be set when the weights behind the name change; requests made from then on count as
        the new ones'."""
        self.capabilities = endpoint.capabilities
        self._connection = Connection(endpoint)

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
        version, where = self.version, self._connection.where
        options = {"temperature": temperature, "max_tokens": max_tokens}
        request = write_request(self.endpoint, prompt, options, constraint, version)
        replies: list[Reply] = []
        usage = Counter(input_tokens=0, output_tokens=0, requests=0)
        name, prompt_ids = self.name, tuple[int, ...]()
        while len(replies) < n:
            wanted = {**request.body, **self._drawn(n - len(replies), seed, len(replies))}
            body, requests = await self._connection.ask(request.path, wanted, start)
            found = read_replies(body, request, self.endpoint, where)
            prompt_ids = read_prompt_ids(body, request, self.endpoint, where)
            replies += found[: n - len(replies)]
            name = body.model or name
            usage["requests"] += requests
            if body.usage is not None:
                usage["input_tokens"] += body.usage.prompt_tokens
                usage["output_tokens"] += body.usage.completion_tokens
        weights = f"{name}@{version}" if version else name
        seconds = time.monotonic() - start
        scale = temperature or 1.0
        return Completion(tuple(replies), weights, dict(usage), seconds, prompt_ids, scale)

    def check(self) -> None:
        """Whether there is an address, or a key, to ask with; asks nothing. Raises `SetupError`."""
        self._connection.check()

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._connection.close()

    def _drawn(self, missing: int, seed: int | None, drawn: int) -> dict[str, Any]:
        """Return how many replies to ask for, and the seed that none before had."""
        several = {"n": missing} if self.endpoint.server.several else {}
        return several if seed is None else {**several, "seed": seed + drawn}
