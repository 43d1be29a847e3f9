"""Images by their content: equal pictures are kept once and travel as short references."""

import hashlib
import os
import re
from pathlib import Path
from typing import Protocol

from webagent.errors import StoreError
from webagent.store.database import convert_failures

_REFERENCE = re.compile(r"[0-9a-f]{64}\.[a-z]{3,4}")


class ImageStore(Protocol):
    """Keeps images and finds them again by reference."""

    def get(self, reference: str) -> bytes:
        """Return an image by its reference. Raises `StoreError` where there is none."""

    def add(self, image: bytes) -> str:
        """Keep an image; return its reference."""


class ImageFolder:
    """`images/ab/abcdef….png`, each file named by the SHA-256 of its bytes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, image: bytes, suffix: str = "png") -> str:
        """Keep the image and give its reference. Raises `StoreError` when the disk is full."""
        reference = f"{hashlib.sha256(image).hexdigest()}.{suffix}"
        path = self.path(reference)
        with convert_failures(self._folder):
            if not path.exists():
                draft = path.with_name(f".{path.name}.{os.getpid()}")
                path.parent.mkdir(parents=True, exist_ok=True)
                try:
                    draft.write_bytes(image)
                    draft.replace(path)
                finally:
                    draft.unlink(missing_ok=True)
        return reference

    def get(self, reference: str) -> bytes:
        """Return the bytes of the image. Raises `StoreError` when they are gone or not the same."""
        path = self.path(reference)
        with convert_failures(self._folder):
            if not path.is_file():
                raise StoreError(f"the image {path} is missing; was the folder copied whole?")
            image = path.read_bytes()
        if hashlib.sha256(image).hexdigest() != path.stem:
            raise StoreError(f"the image {path} is damaged: its bytes do not match its name")
        return image

    def path(self, reference: str) -> Path:
        """Return where the image lies. Raises `StoreError` for what is no reference."""
        if not _REFERENCE.fullmatch(reference):
            raise StoreError(f"{reference!r:.80} is no image reference such as ab12….png")
        return self._folder / reference[:2] / reference


class MemoryImages:
    """Images in memory, by their content."""

    def __init__(self) -> None:
        self._images: dict[str, bytes] = {}

    def add(self, image: bytes) -> str:
        """Keep an image; return its reference."""
        reference = f"{hashlib.sha256(image).hexdigest()}.png"
        self._images[reference] = image
        return reference

    def get(self, reference: str) -> bytes:
        """Return an image by its reference. Raises `StoreError` where there is none."""
        if reference not in self._images:
            raise StoreError(f"there is no image {reference}")
        return self._images[reference]
