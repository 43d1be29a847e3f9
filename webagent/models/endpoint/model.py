"""The endpoint as a `Model`: as many requests as n replies take, checked and counted."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from webagent.models.endpoint import response
from webagent.models.endpoint.connection import Connection
from webagent.models.endpoint.request import write
from webagent.models.endpoint.settings import Endpoint
from webagent.models.model import Completion, Constraint, Message, Reply, Tokens


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
        """Exactly n replies; a server that gives fewer at a time is asked again.

        Raises `ModelError` when the endpoint failed or did not do what it is declared to do,
        `SetupError` when it is not configured or asked for what it is not declared to do.
        """
        start = time.monotonic()
        version, where = self.version, self._connection.where
        options = {"temperature": temperature, "max_tokens": max_tokens}
        request = write(self.endpoint, prompt, options, constraint, version)
        replies: list[Reply] = []
        usage = Counter(input_tokens=0, output_tokens=0, requests=0)
        name, prompt_ids = self.name, tuple[int, ...]()
        while len(replies) < n:
            wanted = {**request.body, **self._drawn(n - len(replies), seed, len(replies))}
            body, requests = await self._connection.ask(request.path, wanted, start)
            found = response.replies(body, request, self.endpoint, where)
            prompt_ids = response.prompt_ids(body, request, self.endpoint, where)
            replies += found[: n - len(replies)]
            name = body.model or name
            usage["requests"] += requests
            if body.usage is not None:
                usage["input_tokens"] += body.usage.prompt_tokens
                usage["output_tokens"] += body.usage.completion_tokens
        weights = f"{name}@{version}" if version else name
        seconds = time.monotonic() - start
        warmth = temperature or 1.0
        return Completion(tuple(replies), weights, dict(usage), seconds, prompt_ids, warmth)

    def check(self) -> None:
        """Whether there is an address, or a key, to ask with; asks nothing. Raises `SetupError`."""
        self._connection.check()

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        await self._connection.close()

    def _drawn(self, missing: int, seed: int | None, drawn: int) -> dict[str, Any]:
        """How many replies to ask for, and the seed that none before had."""
        several = {"n": missing} if self.endpoint.server.several else {}
        return several if seed is None else {**several, "seed": seed + drawn}
