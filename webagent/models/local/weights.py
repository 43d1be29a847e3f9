"""A loaded model with all that belongs to it, for whoever generates with it or trains it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, RLock
from typing import Any

import torch
from torch import Tensor

from webagent.errors import ModelError
from webagent.models.local.adapters import Adapters
from webagent.models.local.reading import Reader
from webagent.models.local.version import digest, state
from webagent.models.model import Tokens


@dataclass(frozen=True, slots=True)
class Endings:
    """Ids with a meaning of their own in a reply."""

    stop: frozenset[int]
    """Each ends a reply."""
    never: tuple[int, ...] = ()
    """Places of images, which no reply may hold. They are taken out of the logits before the
    softmax, so whoever recomputes log-probabilities takes them out, too."""


class Weights:
    """One base model and its adapters.

    Generation holds `lock` during each round; `alone` holds it off for whoever changes something.
    """

    def __init__(
        self, name: str, module: torch.nn.Module, tokenizer: Any, reader: Reader, endings: Endings
    ) -> None:
        self.name = name
        self.module = module
        """The base as transformers made it; adapters are injected into it in place."""
        self.tokenizer = tokenizer
        self.endings = endings
        self.reader = reader
        self.sees_images = reader.sees_images
        self.lock = RLock()
        self.adapters = Adapters(module, name)
        self.revision = 0
        """Counts the changes of the weights that were noticed."""
        self._versions: dict[str | None, str] = {}
        self._state = 0
        self.is_touched = True
        """Whether someone has held generation off since the weights were last looked at."""
        self._wanted = 0
        self._counting = Lock()

    @property
    def device(self) -> torch.device:
        """Where the first parameter lies."""
        return next(self.module.parameters()).device

    @property
    def width(self) -> int:
        """How many logits there are: at least as many as the tokenizer has ids."""
        found = self.module.get_output_embeddings()  # type: ignore[operator]
        return int(found.weight.shape[0])

    def save_reading(self, folder: Path) -> None:
        """Write what belongs beside the weights: the tokenizer, and the processor of images."""
        self.tokenizer.save_pretrained(folder)
        self.reader.save(folder)

    def inputs_of(self, tokens: Tokens) -> dict[str, Tensor]:
        """What a plain forward pass takes for stored ids and images: a batch of one, on the device.

        Besides `input_ids` (1, L) and `attention_mask` (1, L) there are, where the model takes
        them, `position_ids` (1, L) or (3, 1, L), `pixel_values` and what the image processor gives
        with them, and the type of each id. Ids of a prompt and of its reply go in together.
        Raises `ModelError` when ids and images do not belong together.
        """
        reading = self.reader.read(tokens)
        inputs = self.reader.inputs(reading)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        return {name: value.to(self.device) for name, value in inputs.items()}

    def log_probs(
        self, tokens: Tokens, prompt: int, draw: Callable[[Tensor], Tensor] | None = None
    ) -> Tensor:
        """Log-probabilities (L - prompt,) of the ids behind the first `prompt` ones.

        One plain forward pass, with gradients where they are on. `draw` turns logits
        (L - prompt, vocabulary) into the log-probabilities that were drawn from; without it they
        are those of temperature 1 and no constraint.
        """
        if not 0 < prompt < len(tokens.ids):
            raise ModelError(
                f"no reply behind the first {prompt} of {len(tokens.ids)} ids; expected at least"
                " one id of a prompt and one of a reply"
            )
        inputs = self.inputs_of(tokens)
        logits = self.module(**inputs, use_cache=False).logits[0, prompt - 1 : -1]
        found = draw(logits) if draw else torch.log_softmax(self.without_never(logits), -1)
        said = inputs["input_ids"][0, prompt:, None]
        return found.gather(-1, said).squeeze(-1)

    def without_never(self, logits: Tensor) -> Tensor:
        """Logits of at least float32, with the ids that no reply may hold at minus infinity."""
        whole = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return whole.index_fill(-1, self.never, -torch.inf) if self.endings.never else whole

    @property
    def never(self) -> Tensor:
        """`endings.never` on the device."""
        return torch.tensor(self.endings.never, dtype=torch.long, device=self.device)

    def version(self, adapter: str | None = None) -> str:
        """Name and digest of the weights as they are now; computed when they have changed."""
        self.refresh()
        if adapter not in self._versions:
            self._versions[adapter] = self._digest(adapter)
        return self._versions[adapter]

    def refresh(self) -> None:
        """Notice whether the weights have changed; what was known of them goes."""
        now = state(self.module.named_parameters())
        if now != self._state:
            self._versions.clear()
            self.revision += 1
        self._state = now
        self.is_touched = False

    def weights_changed(self) -> None:
        """Forget every digest. Changes of parameters in place are noticed without it."""
        self._versions.clear()
        self.revision += 1

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold off generation between two forward passes, to change or replace weights."""
        with self._counting:
            self._wanted += 1
        try:
            with self.lock:
                self.is_touched = True
                yield
        finally:
            with self._counting:
                self._wanted -= 1

    @contextmanager
    def turn(self) -> Iterator[None]:
        """One forward pass of generation; it lets whoever wants to be alone go first."""
        while self._wanted:
            time.sleep(0.001)
        with self.lock:
            yield

    def _digest(self, adapter: str | None) -> str:
        if adapter is None:
            return f"{Path(self.name).name}@{digest(self._base())}"
        return f"{self.version()}+{adapter}@{digest(self.adapters.tensors(adapter))}"

    def _base(self) -> Iterator[tuple[str, Tensor]]:
        """Parameters and saved buffers that belong to no adapter, by their name without one."""
        theirs = self.adapters.names
        for name, tensor in self.module.state_dict(keep_vars=True).items():
            if not theirs.intersection(name.split(".")):
                yield name.replace(".base_layer.", "."), tensor
