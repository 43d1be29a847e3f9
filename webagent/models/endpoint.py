"""Any OpenAI-compatible server as a `Model`: hosted, or vLLM, SGLang, llama.cpp close by."""

import asyncio
import base64
import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, ValidationError

from webagent.errors import ModelError, SetupError
from webagent.models.constraint import Constraint
from webagent.models.model import (
    Capabilities,
    Completion,
    Message,
    Reply,
    Tokens,
    require_messages,
)

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

_ADAPTABLE = {"max_tokens", "temperature", "seed", "n"}
"""Parameters that some servers refuse, and that a request can do without or under another name."""
_PERMANENT_429 = {"insufficient_quota", "billing_hard_limit_reached"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the model is, and how patient to be with it."""

    model: str
    """The name the server knows the weights by."""
    base_url: str = ""
    """Empty: `OPENAI_BASE_URL`, and without that OpenAI's own."""
    api_key: str = field(default="", repr=False)
    """Empty: `OPENAI_API_KEY`. A server with an address of its own may need none."""
    timeout: float = 120.0
    """Seconds that one attempt may take, from sending to the last byte."""
    patience: float = 600.0
    """Seconds that a request may take with all its attempts and pauses."""
    attempts: int = 6
    """How often to try before the model counts as failed."""
    first_pause: float = 0.5
    """Seconds; the pause doubles with every attempt, and a random half of it is taken off."""
    longest_pause: float = 30.0
    images: bool = True
    """Whether the model looks at images."""


class _Retry(Exception):
    """A failure that may pass, with the pause in seconds that the server asked for."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause


class _Said(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Body(BaseModel):
    """The part of a chat completion that is used."""

    choices: list[_Choice] = Field(min_length=1)
    model: str = ""
    usage: _Usage | None = None


class EndpointModel:
    """Asks an endpoint, again where the failure may pass, and fails with one clear sentence.

    Tried again: no connection, a time-out, 408, 409, 429, 5xx, a body that is cut short or is not
    a chat completion. Failed at once: a refused key, an unknown model, any other refusal.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.model
        self.capabilities = Capabilities(images=endpoint.images)
        self._client: AsyncOpenAI | None = None
        self._refused: set[str] = set()

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
        """Exactly n replies; a server that gives fewer at a time is asked again.

        Raises `ModelError` when the endpoint failed, `SetupError` when it is not configured or
        asked for what it cannot do.
        """
        messages = require_messages(prompt, self.name)
        if constraint is not None:
            raise SetupError(f"{self.name} does not hold its replies to a constraint")
        start = time.monotonic()
        options = {"temperature": temperature, "max_tokens": max_tokens}
        replies: list[Reply] = []
        usage = {"input_tokens": 0, "output_tokens": 0, "requests": 0}
        name = self.name
        while len(replies) < n:
            wanted: dict[str, Any] = {**options, "n": n - len(replies)}
            if seed is not None:
                wanted["seed"] = seed + len(replies)
            body, requests = await self._ask(_wire(messages), wanted, start)
            replies += [_reply(choice) for choice in body.choices[: n - len(replies)]]
            name = body.model or name
            usage["requests"] += requests
            if body.usage is not None:
                usage["input_tokens"] += body.usage.prompt_tokens
                usage["output_tokens"] += body.usage.completion_tokens
        return Completion(tuple(replies), name, usage, time.monotonic() - start)

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ask(
        self, messages: list[dict[str, Any]], options: Mapping[str, Any], start: float
    ) -> tuple[_Body, int]:
        """One good body and how many requests it took. Raises `ModelError`."""
        pause = self.endpoint.first_pause
        reason = ""
        for attempt in range(1, self.endpoint.attempts + 1):
            left = self.endpoint.patience - (time.monotonic() - start)
            if left <= 0:
                raise ModelError(
                    f"{self._where}: no reply within {self.endpoint.patience:g} s; last: {reason}"
                )
            try:
                return await self._attempt(messages, options, left), attempt
            except _Retry as failure:
                reason, asked = str(failure), failure.pause
            if attempt < self.endpoint.attempts:
                wait = max(asked, pause * random.uniform(0.5, 1.0))
                await asyncio.sleep(min(wait, self.endpoint.longest_pause, max(left, 0)))
                pause *= 2
        raise ModelError(f"{self._where}: {self.endpoint.attempts} attempts failed; last: {reason}")

    async def _attempt(
        self, messages: list[dict[str, Any]], options: Mapping[str, Any], left: float
    ) -> _Body:
        client = self._connect()
        import openai

        try:
            async with asyncio.timeout(min(self.endpoint.timeout, left)):
                raw = await client.chat.completions.with_raw_response.create(
                    model=self.endpoint.model,
                    messages=messages,  # type: ignore[arg-type]
                    **self._accepted(options),
                )
        except TimeoutError:
            raise _Retry(f"no reply after {min(self.endpoint.timeout, left):.3g} s") from None
        except openai.APIConnectionError as error:
            raise _Retry(f"no connection ({error.__cause__ or error})") from error
        except openai.APIStatusError as error:
            raise self._refusal(error) from None
        return _read(raw.http_response.content)

    def _accepted(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options without those this server has refused."""
        kept = {key: value for key, value in options.items() if key not in self._refused}
        if "max_tokens" in self._refused and "max_completion_tokens" not in self._refused:
            kept["max_completion_tokens"] = options["max_tokens"]
        return kept

    def _refusal(self, error: "APIStatusError") -> Exception:
        """What to raise for a status: retry, or a failure for good."""
        status, code, parameter = error.status_code, error.code or "", error.param or ""
        if status in (401, 403):
            return ModelError(
                f"{self._where}: the key was refused ({status}); check OPENAI_API_KEY and that it"
                " belongs to this address"
            )
        if status == 404:
            return ModelError(
                f"{self._where}: not found (404); check the model's name and that OPENAI_BASE_URL"
                " ends where /chat/completions goes on, usually in /v1"
            )
        if status == 400 and parameter in _ADAPTABLE and parameter not in self._refused:
            self._refused.add(parameter)
            return _Retry(f"the parameter {parameter} was refused")
        if (status in (408, 409, 429) or status >= 500) and code not in _PERMANENT_429:
            return _Retry(f"status {status}", _seconds(error.response.headers))
        return ModelError(f"{self._where}: refused with status {status}: {error.message[:300]}")

    def _connect(self) -> "AsyncOpenAI":
        """The client, made at first use. Raises `SetupError` when it cannot be."""
        if self._client is None:
            self._client = _client(self.endpoint)
        return self._client

    @property
    def _where(self) -> str:
        return f"model {self.name} at {_address(self.endpoint) or 'api.openai.com'}"


def _client(endpoint: Endpoint) -> "AsyncOpenAI":
    try:
        from openai import AsyncOpenAI
    except ImportError as error:
        raise SetupError(
            "an endpoint needs the openai package: pip install 'webagent-loop[llm]'"
        ) from error
    key = endpoint.api_key or os.environ.get("OPENAI_API_KEY", "")
    address = _address(endpoint)
    if not key and not address:
        raise SetupError(
            f"no endpoint for the model {endpoint.model!r}: set OPENAI_API_KEY, or OPENAI_BASE_URL"
            " for a server of your own, such as http://localhost:8000/v1"
        )
    if address and not address.startswith(("http://", "https://")):
        raise SetupError(
            f"OPENAI_BASE_URL is {address!r}; expected an address such as http://localhost:8000/v1"
        )
    return AsyncOpenAI(
        base_url=address or None, api_key=key or "none", max_retries=0, timeout=endpoint.timeout
    )


def _address(endpoint: Endpoint) -> str:
    return endpoint.base_url or os.environ.get("OPENAI_BASE_URL", "")


def _read(content: bytes) -> _Body:
    try:
        return _Body.model_validate_json(content)
    except ValidationError as error:
        start = content[:120].decode("utf-8", "replace")
        problem = error.errors()[0]["msg"]
        raise _Retry(f"not a chat completion ({problem}): {start!r}") from None


def _reply(choice: _Choice) -> Reply:
    return Reply(choice.message.content or "", choice.finish_reason or "stop")


def _seconds(headers: Mapping[str, str]) -> float:
    """The pause that a server asks for in `Retry-After`, when it gives one in seconds."""
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return 0.0


def _wire(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages as the protocol writes them; images travel as data URLs."""
    return [
        {"role": message.role, "content": _parts(message) if message.images else _text(message)}
        for message in messages
    ]


def _parts(message: Message) -> list[dict[str, Any]]:
    images = [
        {"type": "image_url", "image_url": {"url": _data_url(image)}} for image in message.images
    ]
    return [{"type": "text", "text": _text(message)}, *images]


def _text(message: Message) -> str:
    """The text without the lone surrogates a page may hold, which JSON in UTF-8 cannot."""
    return message.text.encode("utf-8", "replace").decode("utf-8")


def _data_url(image: bytes) -> str:
    return f"data:{_media_type(image)};base64,{base64.b64encode(image).decode('ascii')}"


def _media_type(image: bytes) -> str:
    if image.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if image[:4] == b"RIFF" and image[8:12] == b"WEBP":
        return "image/webp"
    return "image/png"
