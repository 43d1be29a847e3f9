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
    """Replies with loaded weights, through the base alone or through one of its LoRA adapters.

    Requests of any number of episodes may wait at once; they are written in shared forward passes
    on a thread. What one request draws depends on its prompt, seed and weights alone. Views made
    with `on_adapter` share weights, thread and caches; the model they were made from closes them.
    """

    def __init__(self, weights: "LoadedWeights", generation: Generation = DEFAULT) -> None:
        from webagent.models.local.engine import GenerationEngine, GenerationWorker

        self.weights = weights
        self.adapter: str | None = None
        self._owns = True
        self._worker = GenerationWorker(GenerationEngine(weights, generation), weights)

    @classmethod
    def load(cls, source: ModelSource | str, generation: Generation = DEFAULT) -> "LocalModel":
        """Load a folder or a hub name. Raises `SetupError` for what is missing or unfitting."""
        from webagent.models.local.loading import load_weights

        named = ModelSource(source) if isinstance(source, str) else source
        return cls(load_weights(named), generation)

    @property
    def name(self) -> str:
        """The folder or hub name, and the adapter in use."""
        return self.weights.name + (f"+{self.adapter}" if self.adapter else "")

    @property
    def capabilities(self) -> Capabilities:
        """Ids, constraints and a prefix cache always; images where the model looks at them."""
        return Capabilities(
            token_ids=True, images=self.weights.sees_images, constraints=True, prefix_cache=True
        )

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
        request = GenerationRequest(
            prompt, n, temperature, seed, max_tokens, constraint, self.adapter, future
        )
        self._worker.submit(request)
        try:
            return await asyncio.wrap_future(future)
        finally:
            request.is_closed = True

    def add_adapter(self, name: str, folder: Path | str, *, any_base: bool = False) -> None:
        """Load a LoRA adapter beside the others; it is used once `use_adapter` names it.

        Raises `SetupError` for a folder without one, or one that was trained on another base.
        `any_base` lets an adapter pass whose base has another name; shapes are checked all the
        same.
        """
        with self.weights.alone():
            self.weights.adapters.add(name, Path(folder).expanduser(), any_base=any_base)

    def use_adapter(self, name: str | None) -> None:
        """What further requests go through; None is the bare base. Loads nothing."""
        self.weights.adapters.require(name)
        self.adapter = name

    def on_adapter(self, name: str | None) -> "LocalModel":
        """Return a view of the same weights that goes through this adapter, whatever others use."""
        view = object.__new__(LocalModel)
        view.weights, view._worker, view._owns = self.weights, self._worker, False
        view.use_adapter(name)
        return view

    def version(self) -> str:
        """Return the weights that reply now, as `Completion.model` gives them."""
        with self.weights.alone():
            return self.weights.version(self.adapter)

    def weights_changed(self) -> None:
        """Forget every cache and version; requests under way begin again.

        Changes of parameters in place, as optimizers make them, are noticed without it by the next
        request, or at once when they are made under `weights.alone()`.
        """
        with self.weights.alone():
            self.weights.weights_changed()

    async def close(self) -> None:
        """Fail what waits with `ModelError`, end the thread and drop the caches."""
        if self._owns:
            await asyncio.to_thread(self._worker.close)
