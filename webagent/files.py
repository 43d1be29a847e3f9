"""Files that are written whole or not at all, and files of settings in TOML."""

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webagent.errors import SetupError, StoreError

if TYPE_CHECKING:
    from pydantic import ValidationError


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write the file whole or not at all; return its path. Raises `StoreError`."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content if isinstance(content, bytes) else content.encode())
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return path


def read_toml(path: Path, error: type[Exception] = SetupError) -> dict[str, Any]:
    """Return what a TOML file holds. Raises `error` where it cannot be read or is no TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors begin with a mark
    except OSError as problem:
        raise error(f"{path} cannot be read: {problem.strerror}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise error(f"{path} is not TOML: {problem}") from problem


def describe_invalid(error: "ValidationError") -> str:
    """Return the first thing that pydantic found wrong, with its place."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
