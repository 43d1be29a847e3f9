"""The `Model` whose weights lie in this process."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from webagent.errors import SetupError
from webagent.models.local.source import Generation, ModelSource
from webagent.models.model import Capabilities, Completion, Constraint, Message, Tokens

if TYPE_CHECKING:
    from webagent.models.local.weights import LoadedWeights

DEFAULT = Generation()


class LocalModel:
    """Replies with loaded weights, a base alone or with a LoRA adapter.

    Requests of any number of episodes may wait at once; they are written in shared forward passes
    on a thread. What one request draws depends on its prompt, seed and weights alone.
    """

    def __init__(self, weights: "LoadedWeights", generation: Generation = DEFAULT) -> None:
        from webagent.models.local.engine import GenerationEngine, GenerationWorker

        self.weights = weights
        self._worker = GenerationWorker(GenerationEngine(weights, generation))

    @classmethod
    def load(cls, source: ModelSource | str, adapter: Path | None = None) -> "LocalModel":
        """Load a folder or hub name, and an adapter. Raises `SetupError` for what does not fit."""
        from webagent.models.local.loading import load_weights

        weights = load_weights(ModelSource(source) if isinstance(source, str) else source)
        if adapter is not None:
            weights.put_adapter(adapter)
        return cls(weights)

    @property
    def name(self) -> str:
        """The folder or hub name, and the adapter in use."""
        return self.weights.name

    @property
    def capabilities(self) -> Capabilities:
        """Ids, constraints and a prefix cache always; images where the model looks at them."""
        return Capabilities(token_ids=True, images=self.weights.sees_images, constraints=True)

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
        """Return exactly n replies; at temperature 0 they are one reply n times.

        Ids that stand for images are never sampled (`weights.endings.never`). `usage` counts as
        `cached_input_tokens` what of the prompt was not read again. When asked from a cancelled
        task the request is given up after the forward pass under way.

        Raises `ModelError` for a prompt that is too long, images that do not fit, memory that does
        not suffice or a closed model; `SetupError` for images to a model of text.
        """
        from webagent.models.local.requests import GenerationRequest

        if n < 1 or max_tokens < 1 or not temperature >= 0:
            raise SetupError(
                f"n is {n}, max_tokens {max_tokens} and temperature {temperature}; expected 1 or"
                " more of the first two and 0 or more of the last"
            )
        future: Future[Completion] = Future()
        # Running, it cannot be cancelled: the worker may always set a result.
        future.set_running_or_notify_cancel()
        prompt = prompt if isinstance(prompt, Tokens) else tuple(prompt)
        request = GenerationRequest(prompt, n, temperature, seed, max_tokens, constraint, future)
        self._worker.submit(request)
        try:
            return await asyncio.wrap_future(future)
        finally:
            request.is_closed = True

    async def close(self) -> None:
        """Fail what waits with `ModelError`, end the thread and drop the caches."""
        await asyncio.to_thread(self._worker.close)
