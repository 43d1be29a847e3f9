"""A folder that is there whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from webagent.errors import StoreError


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A draft to write into, which becomes `target` when the block ends well.

    What a killed process left beside it is cleared away first. Raises `StoreError` when there is
    something under that name already, or when the disk fails.
    """
    refuse_existing(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        prefix = _prefix(target)
        for left in target.parent.glob(f"{prefix}*"):
            pid = left.name.removeprefix(prefix)
            if pid.isdecimal() and not psutil.pid_exists(int(pid)):
                shutil.rmtree(left, ignore_errors=True)
        draft = target.with_name(f"{_prefix(target)}{os.getpid()}")
        draft.mkdir()
        try:
            yield draft
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error}; nothing was left there") from error


def refuse_existing(target: Path) -> None:
    """Raises `StoreError` unless the name is free; an empty folder counts as free."""
    if target.is_dir() and not any(target.iterdir()):
        return
    if target.exists() or target.is_symlink():
        raise StoreError(
            f"{target} is there already and is not overwritten; choose another folder, or remove it"
        )


def _prefix(target: Path) -> str:
    return f".{target.name}.draft-"
