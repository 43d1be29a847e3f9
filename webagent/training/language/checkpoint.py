"""Checkpoints that are whole or not there, whenever the process is killed.

    folder/
      last              the name of the newest whole checkpoint
      step-00000200/    tensors.safetensors, states.pt, facts.json, manifest.json

Everything is written into a folder whose name begins with a dot, synced to the disk and then
renamed; `last` changes in the same way after that.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from webagent.errors import StoreError

_TENSORS, _STATES, _FACTS = "tensors.safetensors", "states.pt", "facts.json"
_MANIFEST, _LAST = "manifest.json", "last"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """All that a run is resumed from."""

    tensors: Mapping[str, Tensor]
    """Weights by name."""
    states: Mapping[str, Any]
    """What PyTorch saves of plain values and tensors: optimiser, random numbers."""
    facts: Mapping[str, Any]
    """What a person may want to read: where the run is, what it was started with."""


class CheckpointFolder:
    """The checkpoints of one run, of which the newest are kept."""

    def __init__(self, folder: Path, keep: int = 2) -> None:
        self.folder = folder
        self.keep = keep

    def save(self, step: int, checkpoint: Checkpoint) -> Path:
        """Keep the checkpoint and let go of old ones; nothing is done where `last` names this one.

        Raises `StoreError` when it cannot be written, such as on a full disk.
        """
        from safetensors import SafetensorError

        name = f"step-{step:08d}"
        draft, final = self.folder / f".{name}.draft", self.folder / name
        if self._pointer() == name and final.is_dir():
            return final
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for left in self.folder.glob(".*.draft"):
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()
            draft.mkdir()
            from safetensors.torch import save_file

            tensors = {name: value.contiguous() for name, value in checkpoint.tensors.items()}
            save_file(tensors, draft / _TENSORS)
            torch.save(dict(checkpoint.states), draft / _STATES)
            facts = json.dumps(checkpoint.facts, indent=1, ensure_ascii=False)
            (draft / _FACTS).write_text(facts + "\n", encoding="utf-8")
            digests = {name: _digest(draft / name) for name in (_TENSORS, _STATES, _FACTS)}
            (draft / _MANIFEST).write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
            for path in draft.iterdir():
                _sync(path)
            _sync(draft)
            if final.exists():
                self._remove(final)
            os.replace(draft, final)
            _sync(self.folder)
            pointer = self.folder / f".{_LAST}.draft"
            pointer.write_text(name + "\n", encoding="utf-8")
            _sync(pointer)
            os.replace(pointer, self.folder / _LAST)
            _sync(self.folder)
            for old in sorted(self.folder.glob("step-*"))[: -self.keep]:
                self._remove(old)
        except (OSError, RuntimeError, SafetensorError) as error:
            raise StoreError(
                f"cannot write the checkpoint {final}: {error}; the one before is whole; make room"
                " and start again to resume from it"
            ) from error
        return final

    def last(self) -> Path | None:
        """Return the newest whole checkpoint; None where there is none yet.

        Raises `StoreError` when `last` names none that is there.
        """
        whole = sorted(path.name for path in self.folder.glob("step-*"))
        if not (self.folder / _LAST).exists():
            return self.folder / whole[-1] if whole else None
        name = self._pointer()
        if name not in whole:
            raise StoreError(
                f"{self.folder / _LAST} names {name!r}, which is not there; whole ones:"
                f" {', '.join(whole) or 'none'}. Write the name of one of them into it, or start in"
                " an empty folder"
            )
        return self.folder / name

    def _remove(self, checkpoint: Path) -> None:
        """It gets a draft's name first, so that half of one is never taken for one."""
        dying = self.folder / f".{checkpoint.name}.dying.draft"
        os.replace(checkpoint, dying)
        shutil.rmtree(dying)

    def _pointer(self) -> str:
        pointer = self.folder / _LAST
        return pointer.read_text(encoding="utf-8").strip() if pointer.exists() else ""


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read one checkpoint. Raises `StoreError` naming the file that is missing or damaged."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        expected = {name: str(manifest[name]) for name in (_TENSORS, _STATES, _FACTS)}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{folder} is no whole checkpoint: {_MANIFEST} is missing or damaged; remove the folder"
            " to resume from an older one"
        ) from error
    for name, digest in expected.items():
        path = folder / name
        if not path.is_file() or _digest(path) != digest:
            state = "damaged" if path.exists() else "missing"
            raise StoreError(
                f"the checkpoint's {path} is {state}; remove {folder} and write the name of another"
                f" checkpoint into {folder.parent / _LAST} to resume from that"
            )
    from safetensors.torch import load_file

    return Checkpoint(
        load_file(folder / _TENSORS),
        torch.load(folder / _STATES, map_location="cpu", weights_only=True),
        json.loads((folder / _FACTS).read_text(encoding="utf-8")),
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """What was written to the file or folder is on the disk after this."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
