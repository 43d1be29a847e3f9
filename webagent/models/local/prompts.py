"""Prompts as a model reads them: messages as one text, ids, images and positions."""

import hashlib
import inspect
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from webagent.errors import ModelError, PromptTooLongError, SetupError
from webagent.models.local.cache import Keys
from webagent.models.model import Message, Tokens
from webagent.models.prompt import break_control_tokens

_KEPT = 8
"""Recent images whose pixels and places are kept."""
_TYPES = ("mm_token_type_ids", "token_type_ids")
"""Inputs that say of each id whether it stands for text (0) or an image (1)."""


class ChatWriter:
    """Writes messages out through a chat template and knows their ids.

    What a message says never becomes a control token: a page that spells out the end of a turn is
    shown with a space in it.
    """

    def __init__(self, tokenizer: Any, template: str, *, typed: bool, marks: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._template = template
        self._typed = typed
        control = {
            token.content for token in tokenizer.added_tokens_decoder.values() if token.special
        }
        found = sorted({*control, *marks} - {""}, key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, found)) or r"(?!)")

    def write(self, messages: Sequence[Message]) -> str:
        """Return the text, ready for the reply. Raises `SetupError` if the template refuses."""
        from jinja2 import TemplateError

        try:
            return self._render(messages)
        except TemplateError as error:
            refused = error
        # Some templates know no system role: its words go to the head of the user's first turn.
        instructions = "\n\n".join(turn.text for turn in messages if turn.role == "system")
        turns = [message for message in messages if message.role != "system"]
        place = next((at for at, turn in enumerate(turns) if turn.role == "user"), None)
        if place is not None and instructions:
            turns[place] = replace(turns[place], text=f"{instructions}\n\n{turns[place].text}")
        try:
            return self._render(turns)
        except TemplateError:
            roles = " ".join(message.role for message in messages)
            raise SetupError(
                f"the chat template refuses a conversation of the roles {roles}: {refused}; name a"
                " file with another template in chat_template"
            ) from refused

    def encode(self, text: str) -> list[int]:
        """Return its ids. The template has written every control token, the first included."""
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _render(self, messages: Sequence[Message]) -> str:
        turns = []
        for message in messages:
            content: str | list[dict[str, str]] = break_control_tokens(message.text, self._control)
            if self._typed:
                images = [{"type": "image"}] * len(message.images)
                content = [{"type": "text", "text": str(content)}, *images]
            turns.append({"role": message.role, "content": content})
        text: str = self._tokenizer.apply_chat_template(
            turns, chat_template=self._template, tokenize=False, add_generation_prompt=True
        )
        return text


class ImageReader:
    """Opens, measures and expands images through a model's own processor.

    Where the processor does not load (one for videos may need torchvision), its image processor
    and tokenizer do the same, if the image processor tells the grid of each image.
    """

    def __init__(
        self,
        *,
        image_processor: Any,
        tokenizer: Any,
        processor: Any | None,
        image_id: int,
        write: Callable[[Sequence[Message]], str],
    ) -> None:
        self.image_id = image_id
        self._processor = processor
        self._images = image_processor
        self._tokenizer = tokenizer
        self._write = write
        self._token: str = tokenizer.convert_ids_to_tokens(image_id)
        self._process = lru_cache(_KEPT)(
            lambda images: dict(image_processor(images=_open(images), return_tensors="pt"))
        )
        self._count = lru_cache(_KEPT)(self._measure)

    def save(self, folder: Path) -> None:
        """Write the processor, or the image processor where that is all there is."""
        (self._processor or self._images).save_pretrained(folder)

    def expand(self, text: str, images: Sequence[bytes]) -> list[int]:
        """Return the ids of a text that names each image once, with the places of each image."""
        if self._processor is not None:
            found = self._processor(
                text=[text], images=_open(images), add_special_tokens=False, return_tensors="pt"
            )
            ids: list[int] = found["input_ids"][0].tolist()
            return ids
        parts = text.split(self._token)
        if len(parts) != len(images) + 1:
            raise SetupError(
                f"the chat template writes {self._token!r} {len(parts) - 1} times for"
                f" {len(images)} image(s); name a file with another template in chat_template"
            )
        counts = self.counts(images, None)
        whole = "".join(
            part + self._token * count for part, count in zip(parts, [*counts, 0], strict=True)
        )
        found_ids: list[int] = self._tokenizer(whole, add_special_tokens=False)["input_ids"]
        return found_ids

    def counts(self, images: Sequence[bytes], places: int | None) -> list[int]:
        """Return each image's number of places. Raises `ModelError` if they are not `places`."""
        if len(images) == 1 and places:
            return [places]
        found = [self._count(image) for image in images]
        if places is not None and sum(found) != places:
            raise ModelError(
                f"the prompt has places for {places} parts of images, and its {len(images)}"
                f" image(s) have {sum(found)}; they belong to another prompt or another model"
            )
        return found

    def pixels(self, images: Sequence[bytes]) -> dict[str, Tensor]:
        """Return what the image processor makes of the images together."""
        return self._process(tuple(images))

    def _measure(self, image: bytes) -> int:
        """Return how many places the image takes."""
        if self._processor is None:
            grid = self.pixels([image])["image_grid_thw"][0]
            return int(grid.prod()) // int(self._images.merge_size) ** 2
        ids = self.expand(self._write([Message("user", "", (image,))]), [image])
        return ids.count(self.image_id)


def _open(images: Sequence[bytes]) -> list[Image.Image]:
    opened = []
    for place, image in enumerate(images, start=1):
        try:
            with Image.open(io.BytesIO(image)) as file:
                opened.append(file.convert("RGB"))
        except (UnidentifiedImageError, OSError) as error:
            raise ModelError(
                f"image {place} of the prompt cannot be opened ({error}); expected a PNG, JPEG or"
                " WebP file"
            ) from error
    return opened


@dataclass(frozen=True, slots=True)
class EncodedPrompt:
    """One prompt of L ids."""

    tokens: Tokens
    keys: Keys
    """(L,) ids, with the places of images distinguished by what the images show."""
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

    def extended(self, ids: Sequence[int]) -> "EncodedPrompt":
        """Return the prompt with text behind it."""
        more = torch.arange(self.place, self.place + len(ids)).expand(len(self.positions), -1)
        return EncodedPrompt(
            Tokens(self.tokens.ids + tuple(ids), self.tokens.images),
            np.concatenate([self.keys, np.asarray(ids, dtype=np.int64)]),
            self.spans,
            torch.cat([self.positions, more], dim=1),
        )

    def whole(self, columns: int) -> int:
        """Return at most so many columns: the last id is always read, no image in part."""
        columns = min(columns, len(self) - 1)
        return next((first for first, last in self.spans if first < columns < last), columns)


class PromptReader:
    """Turns prompts into inputs of a model's forward pass."""

    def __init__(
        self,
        module: torch.nn.Module,
        chat_writer: ChatWriter,
        image_reader: ImageReader | None,
        context: int,
    ) -> None:
        self._module = module
        self._chat_writer = chat_writer
        self._image_reader = image_reader
        self._accepted = set(inspect.signature(type(module).forward).parameters)
        self._vocabulary = module.get_input_embeddings().weight.shape[0]  # type: ignore[operator]
        self.context = context

    @property
    def sees_images(self) -> bool:
        """Whether images are looked at."""
        return self._image_reader is not None

    def accepts(self, name: str) -> bool:
        """Whether the forward pass takes an input of this name."""
        return name in self._accepted

    def encode(self, prompt: Sequence[Message]) -> Tokens:
        """Return the prompt in ids, however long. Raises `SetupError` for unreadable images."""
        images = tuple(image for message in prompt for image in message.images)
        self._require_sight(images)
        text = self._chat_writer.write(prompt)
        if self._image_reader and images:
            return Tokens(tuple(self._image_reader.expand(text, images)), images)
        return Tokens(tuple(self._chat_writer.encode(text)), images)

    def read(self, prompt: Sequence[Message] | Tokens) -> EncodedPrompt:
        """Return the prompt in ids. Raises `ModelError` for one that is too long or unfit."""
        if isinstance(prompt, Tokens):
            self._require_sight(prompt.images)
            tokens = prompt
        else:
            tokens = self.encode(prompt)
        ids = np.asarray(tokens.ids, dtype=np.int64)
        if not len(ids):
            raise ModelError("the prompt is empty; expected at least one id")
        if len(ids) >= self.context:
            raise PromptTooLongError(
                f"the prompt has {len(ids):,} ids and the model reads {self.context:,}; show less"
                " of the page or of the history, or load a model with a longer context"
            )
        if ids.min() < 0 or ids.max() >= self._vocabulary:
            raise ModelError(
                f"the prompt holds the id {int(ids.max() if ids.min() >= 0 else ids.min())}, and"
                f" the model knows 0 to {self._vocabulary - 1}; it was written by another tokenizer"
            )
        keys, spans, first = ids.copy(), list[tuple[int, int]](), 0
        if self._image_reader is not None:
            places = np.flatnonzero(ids == self._image_reader.image_id)
            counts = self._image_reader.counts(tokens.images, len(places))
            for image, count in zip(tokens.images, counts, strict=True):
                part = places[first : first + count]
                spans.append((int(part[0]), int(part[-1]) + 1))
                mark = int.from_bytes(hashlib.sha256(image).digest()[:7], "little")
                keys[part] = -1 - mark
                first += count
        positions = self._positions(ids, tokens.images)
        return EncodedPrompt(tokens, keys, tuple(spans), positions)

    def save(self, folder: Path) -> None:
        """Write what images are read with; nothing for a model of text."""
        if self._image_reader:
            self._image_reader.save(folder)

    def pixels(self, images: Sequence[bytes]) -> dict[str, Tensor]:
        """Return what the forward pass takes of images. Raises `SetupError` for a text model."""
        self._require_sight(images)
        return self._cast_pixels(self._image_reader.pixels(images)) if self._image_reader else {}

    def inputs(self, encoded: EncodedPrompt, start: int = 0) -> dict[str, Tensor]:
        """Return what the forward pass takes to read the prompt from column `start` on."""
        inputs = {"input_ids": torch.tensor([encoded.tokens.ids[start:]])}
        if self.accepts("position_ids"):
            inputs["position_ids"] = self.placed(encoded.positions[:, None, start:])
        coming = [first >= start for first, _ in encoded.spans]
        if self._image_reader and any(coming):
            shown = encoded.tokens.images[coming.index(True) :]
            inputs |= self._cast_pixels(self._image_reader.pixels(shown))
        if self._image_reader:
            types = self._mark_image_ids(inputs["input_ids"])
            inputs |= {name: types for name in _TYPES if self.accepts(name)}
        return inputs

    def placed(self, positions: Tensor) -> Tensor:
        """Return positions (1 or 3, rows, columns) as the forward pass takes them."""
        return positions[0] if len(positions) == 1 else positions

    def _require_sight(self, images: Sequence[bytes]) -> None:
        if images and self._image_reader is None:
            raise SetupError(
                f"the prompt shows {len(images)} image(s) to a model of text only; load an"
                " image-text model, or leave the images out (see capabilities.images)"
            )

    def _positions(self, ids: Keys, images: Sequence[bytes]) -> Tensor:
        plain = torch.arange(len(ids))[None]
        indexed = getattr(getattr(self._module, "model", None), "get_rope_index", None)
        if indexed is None:
            return plain
        if not images or self._image_reader is None:
            return plain.expand(3, -1)
        given: dict[str, Any] = {"input_ids": torch.from_numpy(ids)[None]}
        given |= {name: self._mark_image_ids(given["input_ids"]) for name in _TYPES}
        given |= self._image_reader.pixels(images)
        known = inspect.signature(indexed).parameters
        found, _ = indexed(**{name: value for name, value in given.items() if name in known})
        positions: Tensor = found[:, 0].cpu()
        return positions

    def _mark_image_ids(self, ids: Tensor) -> Tensor:
        assert self._image_reader is not None
        return (ids == self._image_reader.image_id).long()

    def _cast_pixels(self, pixels: dict[str, Tensor]) -> dict[str, Tensor]:
        dtype = next(self._module.parameters()).dtype
        return {
            name: value.to(dtype) if value.is_floating_point() else value
            for name, value in pixels.items()
            if self.accepts(name)
        }
