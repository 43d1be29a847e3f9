"""The endpoint as a `Model`: as many requests as n replies take, checked and counted."""

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webagent.errors import ModelError, PromptTooLongError, SetupError
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
from webagent.models.endpoint.refusals import ServerRefusal, advise, explain, read_page
from webagent.models.endpoint.settings import Endpoint
from webagent.models.model import Completion, Constraint, Message, Reply, Tokens

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

ASKED = __name__
"""The logger that records, at level INFO, each request that failed and is made again."""
logger = logging.getLogger(ASKED)
OPENAI = "https://api.openai.com/v1"
_NONE: Mapping[str, Any] = MappingProxyType({})
_ADAPTABLE = {"max_tokens", "temperature", "seed", "n"}
"""Parameters that some servers refuse, and that a request can do without or under another name."""
_BROKEN_OFF = {"abort", "error"}
"""Reasons to finish that are the server's, as when it stops for new weights."""


class _Retry(Exception):
    """A failure that may pass, with the pause in seconds that the server asked for, its response
    and what to do where it does not pass."""

    def __init__(self, reason: str, pause: float = 0.0, body: str = "", advice: str = "") -> None:
        super().__init__(reason)
        self.pause, self.body, self.advice = pause, body, advice


class EndpointModel:
    """Asks an endpoint, again where the failure may pass, and fails with one clear sentence.

    Tried again: no connection, a time-out, 408, 409, 429, 5xx, a body that is cut short or is not
    a completion, a reply broken off. Failed at once: a refused key, an unknown model, a prompt
    that is too long, any other refusal.
    """

    def __init__(
        self, endpoint: Endpoint, parameters: Mapping[str, Any] = _NONE, weights: str = ""
    ) -> None:
        """Send `parameters` with every request, too. `weights` is the version that has to reply,
        where the server names one."""
        self.name = endpoint.model
        self._parameters, self._weights = parameters, weights
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
            if self._weights and body.weight_version not in ("", self._weights):
                raise ModelError(
                    f"{where}: the weights {body.weight_version!r} replied, expected"
                    f" {self._weights!r}; the server was restarted, or somebody else loads weights"
                )
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
        options = {"temperature": temperature, "max_tokens": max_tokens, **self._parameters}
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
        return f"model {self.endpoint.model} at {self._base_url or OPENAI}"

    async def _ask(
        self, path: str, body: Mapping[str, Any], start: float, attempts: list[Attempt]
    ) -> ResponseBody:
        """Return one good body, `start` being when patience began; every attempt is noted.

        Raises `ModelError` when there is none to be had, `SetupError` without an address.
        """
        endpoint = self.endpoint
        pause = endpoint.first_pause
        reason = advice = ""
        for attempt in range(1, endpoint.attempts + 1):
            began = time.monotonic()
            left = endpoint.patience - (began - start)
            if left <= 0:
                ended = f"no reply within {endpoint.patience:g} s"
                raise self._failure(ended, reason, advice, attempts)
            try:
                begin = max(time.monotonic(), self._free)
                if self.endpoint.requests_per_minute:
                    self._free = begin + 60 / self.endpoint.requests_per_minute
                await asyncio.sleep(min(begin - time.monotonic(), left))
                found, text = await self._attempt(path, body, left)
                attempts.append(Attempt(text, seconds=time.monotonic() - began))
                return found
            except ModelError as failure:
                attempts.append(Attempt("", str(failure), time.monotonic() - began))
                failure.attempts = tuple(attempts)
                raise
            except _Retry as failure:
                reason, requested, seen = str(failure), failure.pause, failure.body
                advice = failure.advice
            seconds, wait = time.monotonic() - began, 0.0
            if attempt < endpoint.attempts:
                wait = max(requested, pause * random.uniform(0.5, 1.0))
                wait = min(wait, endpoint.longest_pause, max(left, 0))
                if requested:
                    self._free = max(self._free, time.monotonic() + wait)
                again = f"asked again in {wait:.1f} s, {attempt + 1} of {endpoint.attempts}"
                logger.info("%s: %s; %s", self._where, reason, again)
            attempts.append(Attempt(seen, reason, seconds, wait))
            await asyncio.sleep(wait)
            pause *= 2
        ended = f"{endpoint.attempts} attempts failed"
        raise self._failure(ended, reason, advice, attempts)

    def _failure(
        self, ended: str, reason: str, advice: str, attempts: Sequence[Attempt]
    ) -> ModelError:
        error = ModelError(f"{self._where}: {ended}; last: {reason}{advice and f'; {advice}'}")
        error.attempts = tuple(attempts)
        return error

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
            advice = "the server is silent: look whether it works, or raise its timeout"
            raise _Retry(f"no reply after {limit:.3g} s", advice=advice) from None
        except TransportError as error:
            advice = f"check that a server answers at {self._base_url or OPENAI}"
            reason = f"no connection ({str(error) or type(error).__name__})"
            raise _Retry(reason, advice=advice) from error
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
            advice = f"check that {self._base_url or OPENAI} is the address of a model's server"
            page = read_page(response.text)
            came = error if page == response.text else f"but a web page: {page[:120]!r}"
            reason = f"not a {kind} {came}"
            raise _Retry(reason, body=response.text, advice=advice) from None
        for choice in found.choices:
            if choice.finish_reason in _BROKEN_OFF:
                reason = f"the reply was broken off ({choice.finish_reason})"
                raise _Retry(reason, body=response.text)
        return found, response.text

    def _explain_refusal(self, response: "Response") -> Exception:
        """Return what to raise for a status: retry, or a failure for good."""
        refusal = ServerRefusal(response.status_code, response.text, response.headers)
        parameter = refusal.parameter
        can_adapt = refusal.status == 400 and not refusal.is_too_long
        if can_adapt and parameter in _ADAPTABLE and parameter not in self._refused:
            self._refused.add(parameter)
            return _Retry(f"the parameter {parameter} was refused", body=response.text)
        why = explain(refusal, self.endpoint, self._base_url or OPENAI)
        if refusal.may_pass:
            return _Retry(why, refusal.pause, response.text, advise(refusal))
        kind = PromptTooLongError if refusal.is_too_long else ModelError
        return kind(f"{self._where}: {why}")

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
        self._client = AsyncClient(base_url=address or OPENAI, headers=headers, timeout=None)
        return self._client
