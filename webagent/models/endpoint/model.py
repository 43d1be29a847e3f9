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


class EndpointModel:
    """Asks an endpoint, again where the failure may pass, and fails with one clear sentence.

    Tried again: no connection, a time-out, 408, 409, 429, 5xx, a body that is cut short or is not
    a completion, a reply broken off. Failed at once: a refused key, an unknown model, a prompt
    that is too long, any other refusal.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.model
        self.version = endpoint.version
        """May be set when the weights behind the name change; later requests carry it."""
        self.capabilities = endpoint.capabilities
        self._client: AsyncOpenAI | None = None
        self._refused: set[str] = set()
        """Parameters that the server has refused."""

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
        options = {"temperature": temperature, "max_tokens": max_tokens}
        request = write_request(self.endpoint, prompt, options, constraint, version)
        replies: list[Reply] = []
        usage = Counter(input_tokens=0, output_tokens=0, requests=0)
        name, prompt_ids = self.name, tuple[int, ...]()
        while len(replies) < n:
            wanted = dict(request.body)
            if self.endpoint.server.several:
                wanted["n"] = n - len(replies)
            if seed is not None:
                wanted["seed"] = seed + len(replies)
            body, requests = await self._ask(request.path, wanted, start)
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
        """Raise `SetupError` where there is no address, or key, to ask with; ask nothing."""
        self._connect()

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @property
    def _base_url(self) -> str:
        return self.endpoint.base_url or os.environ.get("OPENAI_BASE_URL", "")

    @property
    def _where(self) -> str:
        """Model and address, to begin a message with."""
        return f"model {self.endpoint.model} at {self._base_url or 'api.openai.com'}"

    async def _ask(
        self, path: str, body: Mapping[str, Any], start: float
    ) -> tuple[ResponseBody, int]:
        """Return one good body and how many requests it took, `start` being when patience began.

        Raises `ModelError` when there is none to be had, `SetupError` without an address.
        """
        endpoint = self.endpoint
        pause = endpoint.first_pause
        reason = ""
        for attempt in range(1, endpoint.attempts + 1):
            left = endpoint.patience - (time.monotonic() - start)
            if left <= 0:
                raise ModelError(
                    f"{self._where}: no reply within {endpoint.patience:g} s; last: {reason}"
                )
            try:
                return await self._attempt(path, body, left), attempt
            except _Retry as failure:
                reason, asked = str(failure), failure.pause
            if attempt < endpoint.attempts:
                wait = max(asked, pause * random.uniform(0.5, 1.0))
                await asyncio.sleep(min(wait, endpoint.longest_pause, max(left, 0)))
                pause *= 2
        raise ModelError(f"{self._where}: {endpoint.attempts} attempts failed; last: {reason}")

    async def _attempt(self, path: str, body: Mapping[str, Any], left: float) -> ResponseBody:
        client = self._connect()
        import openai

        sent = {key: value for key, value in body.items() if key not in self._refused}
        if "max_tokens" in self._refused and "max_completion_tokens" not in self._refused:
            sent["max_completion_tokens"] = body["max_tokens"]
        limit = min(self.endpoint.timeout, left)
        try:
            async with asyncio.timeout(limit):
                text = await client.post(path, body=sent, cast_to=str)
        except TimeoutError:
            raise _Retry(f"no reply after {limit:.3g} s") from None
        except openai.APIConnectionError as error:
            raise _Retry(f"no connection ({error.__cause__ or error})") from error
        except openai.APIStatusError as error:
            raise self._explain_refusal(error) from None
        try:
            found = parse_body(text)
        except ValueError as error:
            kind = "chat completion" if "chat" in path else "completion"
            raise _Retry(f"not a {kind} {error}") from None
        for choice in found.choices:
            if choice.finish_reason in _BROKEN_OFF:
                raise _Retry(f"the reply was broken off ({choice.finish_reason})")
        return found

    def _explain_refusal(self, error: "APIStatusError") -> Exception:
        """Return what to raise for a status: retry, or a failure for good."""
        status, code, parameter = error.status_code, error.code or "", error.param or ""
        words = _read_error_text(error)
        if status in (401, 403):
            return ModelError(
                f"{self._where}: the key was refused ({status}); check"
                f" {self.endpoint.api_key_variable} and that it belongs to this address"
            )
        if status == 404:
            return ModelError(
                f"{self._where}: not found (404); check the model's name and that OPENAI_BASE_URL"
                " ends where /chat/completions goes on, usually in /v1"
            )
        kinds = {error.code, getattr(error, "type", None)}
        is_too_long = bool(kinds & _TOO_LONG_CODES) or bool(_TOO_LONG.search(words))
        if is_too_long and status not in (408, 409, 429):
            return ModelError(
                f"{self._where}: the prompt and the tokens asked for do not fit the server's"
                f" context: {words}; send less, ask for fewer tokens or raise the server's context"
                " length"
            )
        if status == 400 and parameter in _ADAPTABLE and parameter not in self._refused:
            self._refused.add(parameter)
            return _Retry(f"the parameter {parameter} was refused")
        if (status in (408, 409, 429) or status >= 500) and code not in _PERMANENT_429:
            try:
                pause = max(0.0, float(error.response.headers.get("retry-after", "")))
            except ValueError:  # no pause named, or a date
                pause = 0.0
            return _Retry(f"status {status}", pause)
        return ModelError(f"{self._where}: refused with status {status}: {words}")

    def _connect(self) -> "AsyncOpenAI":
        """Return the client, made at first use. Raises `SetupError` when it cannot be."""
        if self._client is not None:
            return self._client
        try:
            from openai import AsyncOpenAI
        except ImportError as error:
            raise SetupError(
                "an endpoint needs the openai package: pip install 'webagent-loop[llm]'"
            ) from error
        endpoint, address = self.endpoint, self._base_url
        key = endpoint.api_key or os.environ.get(endpoint.api_key_variable, "")
        if not key and not address:
            raise SetupError(
                f"no endpoint for the model {endpoint.model!r}: set {endpoint.api_key_variable}, or"
                " OPENAI_BASE_URL for a server of your own, such as http://localhost:8000/v1"
            )
        if address and not address.startswith(("http://", "https://")):
            raise SetupError(
                f"OPENAI_BASE_URL is {address!r}; expected an address such as"
                " http://localhost:8000/v1"
            )
        self._client = AsyncOpenAI(
            base_url=address or None, api_key=key or "none", max_retries=0, timeout=endpoint.timeout
        )
        return self._client


def _read_error_text(error: "APIStatusError") -> str:
    """Return what the server itself says; the client's message has it in OpenAI's form only."""
    body = error.body
    message = body.get("message") or body.get("detail") if isinstance(body, dict) else body
    return str(message or error.response.text)[:300]
