"""The run folder: its settings, its weights and its store, found again after a kill."""

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from loop.flat import flat, nested
from loop.summary.origin import Origin, origin
from webagent.errors import StoreError
from webagent.store import Store

if TYPE_CHECKING:
    from webagent.models.builtin.model import BuiltinModel

Config = TypeVar("Config")


class Weights(Protocol):
    """Anything trained that can be written into a folder."""

    def save(self, folder: Path) -> None:
        """Write it. Raises `OSError`."""
        ...


VERSION = 2
"""Version of the folder's layout; raised when an older run can no longer be resumed."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where everything of one run lies."""

    path: Path

    @classmethod
    def create(cls, path: Path, config: Any, command: Sequence[str]) -> "RunFolder":
        """A new one with its settings. Raises `StoreError` when there is a run already."""
        if (path / "run.json").exists():
            raise StoreError(f"{path} holds a run already; resume it with --resume {path}")
        Store.open(path, create=True).close()
        folder = cls(path)
        settings = {
            "version": VERSION,
            "command": list(command),
            "config": flat(config),
            "origins": [origin()],
        }
        folder.write_json("run.json", settings)
        return folder

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """An existing one. Raises `StoreError` when it is not a run, or of another version."""
        folder = cls(path)
        version = folder.settings().get("version")
        if version != VERSION:
            raise StoreError(f"{path} is of version {version}; this program reads {VERSION}")
        return folder

    def settings(self) -> dict[str, Any]:
        """What `run.json` holds: version, command, resolved config and origins."""
        file = self.path / "run.json"
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StoreError(f"{self.path} is not a run folder: {file.name}: {error}") from error
        if not isinstance(found, dict):
            raise StoreError(f"{file} does not hold the settings of a run")
        return found

    def note_origin(self) -> tuple[Origin, ...]:
        """What the run was made with so far, the program as it is now included.

        To be asked when a run is taken up again and when it is summed up, so that a source that
        changed in between, even while the run was under way, is named beside its figures.
        """
        settings, now = self.settings(), origin()
        known: list[Origin] = settings["origins"]
        if known[-1] != now:
            known.append(now)
            self.write_json("run.json", settings)
        return tuple(known)

    def config(self, cls: type[Config]) -> Config:
        """The settings the run was begun with. Raises `StoreError` when they do not fit."""
        from pydantic import TypeAdapter, ValidationError

        found = self.settings().get("config")
        try:
            given = nested(cls, found) if isinstance(found, dict) else found
            return TypeAdapter(cls).validate_python(given)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            found = f"{place}: {first['msg']}"
            raise StoreError(
                f"{self.path}/run.json: {found}; the run was made by another version"
            ) from error

    def store(self) -> Store:
        """The run's store; one for each process."""
        return Store.open(self.path)

    def write_json(self, name: str, content: Any) -> None:
        """Write a file whole or not at all."""
        draft = self.path / f".{name}.{os.getpid()}"
        text = json.dumps(content, indent=1, default=str)
        try:
            draft.write_text(text + "\n", encoding="utf-8")
            draft.replace(self.path / name)
        except OSError as error:
            raise StoreError(f"{self.path / name} cannot be written: {error}") from error

    def weights(self, arm: str, repeat: int, round: int, part: str) -> Path:
        """Where the weights of `policy`, `world`, `reward` or `judge` after a round lie."""
        return self.path / "weights" / f"{arm}-{repeat}" / str(round) / part

    def has_weights(self, arm: str, repeat: int, round: int, part: str = "policy") -> bool:
        """Whether they were saved."""
        return self.weights(arm, repeat, round, part).is_dir()

    def save(self, model: Weights, arm: str, repeat: int, round: int, part: str) -> None:
        """Save weights whole or not at all; what lies there already is kept."""
        target = self.weights(arm, repeat, round, part)
        if target.is_dir():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{part}-"))
        try:
            model.save(draft)
            draft.rename(target)
        except OSError as error:
            raise StoreError(f"weights cannot be written to {target}: {error}") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def load(self, arm: str, repeat: int, round: int, part: str) -> "BuiltinModel":
        """The weights after a round. Raises `ModelError`."""
        from webagent.models.builtin.model import BuiltinModel

        return BuiltinModel.load(self.weights(arm, repeat, round, part))
