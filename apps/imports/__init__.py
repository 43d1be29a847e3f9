"""Episodes that other systems recorded, as trajectories of a run; what all layouts share."""

import json
from pathlib import Path
from typing import Any

from webagent.errors import StoreError

_PICTURES = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpg", b"RIFF": "webp"}


def read_json(path: Path) -> Any:
    """Return the content of a JSON file. Raises `StoreError` when it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise StoreError(f"{path} is damaged: {error}; copy it again from its source") from error


def read_picture(path: Path) -> tuple[bytes, str]:
    """Return a screenshot with the suffix of its format. Raises `StoreError` when it is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    for beginning, suffix in _PICTURES.items():
        if content.startswith(beginning):
            return content, suffix
    raise StoreError(f"{path} is not a PNG, JPEG or WebP image; copy it again from its source")
