"""Images as an image-text model takes them in: pixels, and places among the ids."""

import hashlib
import io
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from PIL import Image, UnidentifiedImageError
from torch import Tensor

from webagent.errors import ModelError, SetupError
from webagent.models.model import Message

_KEPT = 8
"""Recent images whose pixels and places are kept."""

Value = TypeVar("Value")


class Pictures:
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
        self._pixels: _Recent[dict[str, Tensor]] = _Recent()
        self._counts: _Recent[int] = _Recent()

    def save(self, folder: Path) -> None:
        """Write the processor, or the image processor where that is all there is."""
        (self._processor or self._images).save_pretrained(folder)

    def expand(self, text: str, images: Sequence[bytes]) -> list[int]:
        """The ids of a text that names each image once, with the places of each image."""
        if self._processor is not None:
            found = self._processor(
                text=[text], images=_opened(images), add_special_tokens=False, return_tensors="pt"
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
        """How many places each image takes. Raises `ModelError` unless they add up to `places`."""
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
        """What the image processor makes of the images together."""
        key = b"".join(hashlib.sha256(image).digest() for image in images)
        return self._pixels.get(
            key, lambda: dict(self._images(images=_opened(images), return_tensors="pt"))
        )

    def _count(self, image: bytes) -> int:
        return self._counts.get(hashlib.sha256(image).digest(), lambda: self._measure(image))

    def _measure(self, image: bytes) -> int:
        if self._processor is None:
            grid = self.pixels([image])["image_grid_thw"][0]
            return int(grid.prod()) // int(self._images.merge_size) ** 2
        ids = self.expand(self._write([Message("user", "", (image,))]), [image])
        return ids.count(self.image_id)


class _Recent(Generic[Value]):
    """Values by key, the most recently used ones kept."""

    def __init__(self) -> None:
        self._held: OrderedDict[bytes, Value] = OrderedDict()

    def get(self, key: bytes, make: Callable[[], Value]) -> Value:
        """The value, made where it is not held."""
        if key not in self._held:
            self._held[key] = make()
        self._held.move_to_end(key)
        while len(self._held) > _KEPT:
            self._held.popitem(last=False)
        return self._held[key]


def _opened(images: Sequence[bytes]) -> list[Image.Image]:
    return [_open(place, image) for place, image in enumerate(images, start=1)]


def _open(place: int, image: bytes) -> Image.Image:
    try:
        with Image.open(io.BytesIO(image)) as opened:
            return opened.convert("RGB")
    except (UnidentifiedImageError, OSError) as error:
        raise ModelError(
            f"image {place} of the prompt cannot be opened ({error}); expected a PNG, JPEG or WebP"
            " file"
        ) from error
