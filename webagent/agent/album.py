"""Screenshots for as long as one task runs, where no store keeps them."""

import hashlib

from webagent.errors import StoreError


class Album:
    """Images in memory, by their content."""

    def __init__(self) -> None:
        self._images: dict[str, bytes] = {}

    def add(self, image: bytes) -> str:
        """Keep an image; its reference."""
        reference = f"{hashlib.sha256(image).hexdigest()}.png"
        self._images[reference] = image
        return reference

    def get(self, reference: str) -> bytes:
        """An image by its reference. Raises `StoreError` where there is none."""
        if reference not in self._images:
            raise StoreError(f"there is no image {reference}")
        return self._images[reference]
