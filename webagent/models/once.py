"""A model that is asked each question once."""

import asyncio
from collections.abc import Hashable, Sequence

from webagent.models.model import Capabilities, Completion, Constraint, Message, Model, Tokens


class AskedOnce:
    """A model whose replies are given again to whoever asks the same with the same settings, for as
    long as it lives. It is another's to close."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._asked: dict[Hashable, asyncio.Task[Completion]] = {}

    @property
    def name(self) -> str:
        """As the model's."""
        return self._model.name

    @property
    def capabilities(self) -> Capabilities:
        """As the model's."""
        return self._model.capabilities

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
        """Return as the model's, which also answers a question that is still being asked."""
        text = prompt if isinstance(prompt, Tokens) else tuple(prompt)
        key = text, n, temperature, seed, max_tokens, constraint
        if key not in self._asked:
            asking = self._model.complete(
                prompt,
                n=n,
                temperature=temperature,
                seed=seed,
                max_tokens=max_tokens,
                constraint=constraint,
            )
            self._asked[key] = asyncio.ensure_future(asking)
        return await self._asked[key]

    async def close(self) -> None:
        """Leave the model open."""
