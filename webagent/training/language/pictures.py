"""Images of rows, from their references to what a model's forward takes."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from webagent.errors import StoreError


@dataclass(frozen=True, slots=True)
class ProcessedPictures:
    """Looks images up and prepares them as the model's own processor does."""

    images: Callable[[str], bytes]
    """The bytes of an image by its reference, such as `ImageFolder.get`."""
    processor: Any
    """A processor of transformers, or its image processor alone."""

    def __call__(self, references: Sequence[str]) -> Mapping[str, Tensor]:
        """Tensors such as `pixel_values`. Raises `StoreError` for an image that is missing or
        cannot be read."""
        from PIL import Image, UnidentifiedImageError

        pictures = []
        for reference in references:
            try:
                picture = Image.open(io.BytesIO(self.images(reference))).convert("RGB")
            except (KeyError, FileNotFoundError) as error:
                raise StoreError(
                    f"the image {reference} of a row is missing; was the folder copied whole?"
                ) from error
            except (UnidentifiedImageError, OSError) as error:
                raise StoreError(f"the image {reference} of a row cannot be read") from error
            pictures.append(picture)
        prepare = getattr(self.processor, "image_processor", self.processor)
        prepared: Mapping[str, Tensor] = dict(prepare(images=pictures, return_tensors="pt"))
        return prepared
