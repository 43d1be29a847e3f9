"""Prompts as a model reads them: ids, images and positions."""

import hashlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from webagent.errors import ModelError, SetupError
from webagent.models.local.conversation import Conversation
from webagent.models.local.pictures import Pictures
from webagent.models.local.prefixes import Keys
from webagent.models.model import Message, Tokens

_TYPES = ("mm_token_type_ids", "token_type_ids")
"""Inputs that say of each id whether it stands for text (0) or an image (1)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One prompt of L ids."""

    tokens: Tokens
    keys: Keys
    """(L,) ids, with the places of images told apart by what the images show."""
    spans: tuple[tuple[int, int], ...]
    """First and last place (exclusive) of each image."""
    positions: Tensor
    """(1, L), or (3, L) for a model that counts time, height and width apart."""

    def __len__(self) -> int:
        return len(self.tokens.ids)

    @property
    def place(self) -> int:
        """The position of the id that comes next."""
        return int(self.positions.max()) + 1

    def extended(self, ids: Sequence[int]) -> "Reading":
        """The prompt with text behind it."""
        more = torch.arange(self.place, self.place + len(ids)).expand(len(self.positions), -1)
        return Reading(
            Tokens(self.tokens.ids + tuple(ids), self.tokens.images),
            np.concatenate([self.keys, np.asarray(ids, dtype=np.int64)]),
            self.spans,
            torch.cat([self.positions, more], dim=1),
        )

    def whole(self, columns: int) -> int:
        """So many columns or fewer: the last id is always read, and an image never in part."""
        columns = min(columns, len(self) - 1)
        return next((first for first, last in self.spans if first < columns < last), columns)


class Reader:
    """Turns prompts into inputs of a model's forward pass."""

    def __init__(
        self,
        module: torch.nn.Module,
        conversation: Conversation,
        pictures: Pictures | None,
        context: int,
    ) -> None:
        self._module = module
        self._conversation = conversation
        self._pictures = pictures
        self._accepted = set(inspect.signature(type(module).forward).parameters)
        self._vocabulary = module.get_input_embeddings().weight.shape[0]  # type: ignore[operator]
        self.context = context

    @property
    def sees_images(self) -> bool:
        """Whether images are looked at."""
        return self._pictures is not None

    def accepts(self, name: str) -> bool:
        """Whether the forward pass takes an input of this name."""
        return name in self._accepted

    def read(self, prompt: Sequence[Message] | Tokens) -> Reading:
        """The prompt in ids. Raises `ModelError` for one that is too long or does not fit."""
        if isinstance(prompt, Tokens):
            return self._reading(prompt)
        images = tuple(image for message in prompt for image in message.images)
        self._require_sight(images)
        text = self._conversation.write(prompt)
        if self._pictures and images:
            ids = self._pictures.expand(text, images)
        else:
            ids = self._conversation.encode(text)
        return self._reading(Tokens(tuple(ids), images))

    def save(self, folder: Path) -> None:
        """Write what images are read with; nothing for a model of text."""
        if self._pictures:
            self._pictures.save(folder)

    def pixels(self, images: Sequence[bytes]) -> dict[str, Tensor]:
        """What the forward pass takes of these images. Raises `ModelError` for a model of text."""
        self._require_sight(images)
        return self._fitting(self._pictures.pixels(images)) if self._pictures else {}

    def inputs(self, reading: Reading, start: int = 0) -> dict[str, Tensor]:
        """What the forward pass takes to read the prompt from column `start` on."""
        inputs = {"input_ids": torch.tensor([reading.tokens.ids[start:]])}
        if self.accepts("position_ids"):
            inputs["position_ids"] = self.placed(reading.positions[:, None, start:])
        coming = [first >= start for first, _ in reading.spans]
        if self._pictures and any(coming):
            shown = reading.tokens.images[coming.index(True) :]
            inputs |= self._fitting(self._pictures.pixels(shown))
        if self._pictures:
            types = self._types(inputs["input_ids"])
            inputs |= {name: types for name in _TYPES if self.accepts(name)}
        return inputs

    def placed(self, positions: Tensor) -> Tensor:
        """Positions (1 or 3, rows, columns) as the forward pass takes them."""
        return positions[0] if len(positions) == 1 else positions

    def _reading(self, tokens: Tokens) -> Reading:
        self._require_sight(tokens.images)
        ids = np.asarray(tokens.ids, dtype=np.int64)
        self._check(ids)
        spans, keys = self._seen(ids, tokens.images)
        return Reading(tokens, keys, spans, self._positions(ids, tokens.images))

    def _check(self, ids: Keys) -> None:
        if not len(ids):
            raise ModelError("the prompt is empty; expected at least one id")
        if len(ids) >= self.context:
            raise ModelError(
                f"the prompt has {len(ids):,} ids and the model reads {self.context:,}; show less"
                " of the page or of the history, or load a model with a longer context"
            )
        if ids.min() < 0 or ids.max() >= self._vocabulary:
            raise ModelError(
                f"the prompt holds the id {int(ids.max() if ids.min() >= 0 else ids.min())}, and"
                f" the model knows 0 to {self._vocabulary - 1}; it was written by another tokenizer"
            )

    def _require_sight(self, images: Sequence[bytes]) -> None:
        if images and self._pictures is None:
            raise SetupError(
                f"the prompt shows {len(images)} image(s) to a model of text only; load an"
                " image-text model, or leave the images out (see capabilities.images)"
            )

    def _seen(self, ids: Keys, images: Sequence[bytes]) -> tuple[tuple[tuple[int, int], ...], Keys]:
        if self._pictures is None:
            return (), ids
        places = np.flatnonzero(ids == self._pictures.image_id)
        counts = self._pictures.counts(images, len(places))
        keys, spans, first = ids.copy(), [], 0
        for image, count in zip(images, counts, strict=True):
            part = places[first : first + count]
            spans.append((int(part[0]), int(part[-1]) + 1))
            mark = int.from_bytes(hashlib.sha256(image).digest()[:7], "little")
            keys[part] = -1 - mark
            first += count
        return tuple(spans), keys

    def _positions(self, ids: Keys, images: Sequence[bytes]) -> Tensor:
        plain = torch.arange(len(ids))[None]
        indexed = getattr(getattr(self._module, "model", None), "get_rope_index", None)
        if indexed is None:
            return plain
        if not images or self._pictures is None:
            return plain.expand(3, -1)
        given: dict[str, Any] = {"input_ids": torch.from_numpy(ids)[None]}
        given |= {name: self._types(given["input_ids"]) for name in _TYPES}
        given |= self._pictures.pixels(images)
        known = inspect.signature(indexed).parameters
        found, _ = indexed(**{name: value for name, value in given.items() if name in known})
        positions: Tensor = found[:, 0].cpu()
        return positions

    def _types(self, ids: Tensor) -> Tensor:
        assert self._pictures is not None
        return (ids == self._pictures.image_id).long()

    def _fitting(self, pixels: dict[str, Tensor]) -> dict[str, Tensor]:
        dtype = next(self._module.parameters()).dtype
        return {
            name: value.to(dtype) if value.is_floating_point() else value
            for name, value in pixels.items()
            if self.accepts(name)
        }
