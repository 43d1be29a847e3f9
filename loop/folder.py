"""The run folder: settings, origins, weights and store, readable again after a kill."""

import fcntl
import json
import logging
import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from loop.flat import flat, hints_of, nested
from loop.origin import Origin, read_origin
from webagent.errors import StoreError, UsageError
from webagent.files import describe_invalid, write_whole
from webagent.models.weight_notes import write_role
from webagent.store import Store
from webagent.store.database import STORE_FILE

if TYPE_CHECKING:
    from webagent.models.builtin.model import BuiltinModel

logger = logging.getLogger(__name__)

SETTINGS, LOCK = "run.json", "playing.lock"
PROGRESS = "progress.json"
"""While jobs are at work: by name what each is at, and the last it achieved."""
_AT_ONCE = 1000
"""Maximum number of unnamed runs that start in the same second."""

Config = TypeVar("Config")


class Place(Protocol):
    """Settings of where a run's folder is."""

    @property
    def name(self) -> str:
        """Return the name of a new folder; empty for one from the date."""
        ...

    @property
    def runs(self) -> Path:
        """Return the folder in which it is created."""
        ...

    @property
    def resume(self) -> Path | None:
        """Return the folder of the run to go on with, if any."""
        ...


class Weights(Protocol):
    """Anything trained that can be written into a folder."""

    def save(self, folder: Path) -> None:
        """Write it. Raises `OSError`."""
        ...


VERSION = 2
"""Version of the folder's layout; raised when an older run can no longer be resumed."""
_REMOVED: dict[str, object] = {
    "belief": 0.8,
    "trusted": 0.9,
    "recomputed": False,
    "corrected": False,
    "manual": [],
    "way": "examples",
    "violations": None,
    "async_rounds": 0,
    "language": "en",
    "known": [],
    "solver_model": "",
}
"""Settings that were removed since folders hold them flat, with the value at which a run can go on
without them: their default."""
_TRIES, _PAUSE_SECONDS = 6, 0.05
"""How often a lock that another process holds is tried, and the pause between."""
_SWITCHES = {None: "auto", False: "off", True: "on"}
"""Values that `bf16` and `gradient_checkpointing` had, and what they are now."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder with everything of one run."""

    path: Path

    @property
    def resuming(self) -> str:
        """Return the command that goes on with the run."""
        return f"webagent {self.settings()['command'][1]} --resume {shlex.quote(str(self.path))}"

    @classmethod
    def begin(cls, config: Any, place: Place, command: Sequence[str]) -> "RunFolder":
        """Return the folder that is resumed, with the program's version recorded, or a new one with
        these settings. Raises `UsageError` and `StoreError`."""
        if place.resume is None:
            return cls.create_named(place.runs, place.name, config, command)
        folder = cls.open(place.resume)
        folder.note_origin()
        return folder

    @classmethod
    def create_named(
        cls,
        runs: Path,
        name: str,
        config: Any,
        command: Sequence[str],
        files: Mapping[str, Any] | None = None,
    ) -> "RunFolder":
        """Return a new folder with this name among runs; by default named by command and time.
        Raises `UsageError` for a name that leads outside, `StoreError` as `create`."""
        if not name:
            dated = time.strftime(f"{command[1]}-%Y%m%d-%H%M%S")
            # Another run may have begun in the same second.
            for each in (dated, *(f"{dated}-{number}" for number in range(2, _AT_ONCE))):
                try:
                    (runs / each).mkdir(parents=True)
                except FileExistsError:
                    continue
                except OSError as error:
                    raise StoreError(
                        f"no folder can be made in {runs}: {error.strerror}"
                    ) from error
                return cls.create(runs / each, config, command, files)
            raise StoreError(f"{_AT_ONCE} runs named {dated} began in {runs}; give a --name")
        if Path(name).name != name or "\\" in name or name.startswith("."):
            raise UsageError(f"--name {name!r} is no name of a folder; give one without slashes")
        return cls.create(runs / name, config, command, files)

    @classmethod
    def create(
        cls, path: Path, config: Any, command: Sequence[str], files: Mapping[str, Any] | None = None
    ) -> "RunFolder":
        """Return a new folder with its settings, and with these JSON files, by name. The settings
        are written last, so that a folder left by a kill before can be begun again. Raises
        `StoreError` if it already contains a run."""
        if (path / SETTINGS).exists():
            advice = f"resume it with --resume {path}, or " * ("resume" in hints_of(type(config)))
            raise StoreError(f"{path} holds a run already; {advice}choose another --name")
        folder = cls(path)
        if not folder._is_unbegun():
            Store.open(path, create=True).close()
        settings = {
            "version": VERSION,
            "command": list(command),
            "config": flat(config),
            "origins": [read_origin()],
        }
        for name, content in {**(files or {}), SETTINGS: settings}.items():
            folder.write_json(name, content)
        return folder

    def _is_unbegun(self) -> bool:
        """Return whether a kill left an empty store here before the settings were written."""
        if (self.path / SETTINGS).exists() or not (self.path / STORE_FILE).is_file():
            return False
        with Store.look(self.path) as store:
            return not store.ids("any") and not store.states("")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder while this process plays its run; the system gives it free when the
        process ends, however it does. Raises `StoreError` naming the process that plays it."""
        try:
            file = (self.path / LOCK).open("a+", encoding="utf-8")
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {error.strerror}") from error
        with file:
            try:
                for _ in range(_TRIES - 1):  # a viewer that looks holds it for a moment
                    with suppress(BlockingIOError):
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    time.sleep(_PAUSE_SECONDS)
                else:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                player = file.read().strip() or "that is starting"
                raise StoreError(
                    f"{self.path} is being played by process {player}; wait for it or stop it"
                ) from None
            except OSError:  # a file system without locks, where nothing can be held
                logger.warning("%s cannot be locked; play it in one process alone", self.path)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """Return an existing folder. Raises `StoreError` if it is not a run, or of another
        version."""
        folder = cls(path)
        version = folder.settings().get("version")
        if version != VERSION:
            raise StoreError(f"{path} is of version {version}; this program reads {VERSION}")
        return folder

    def begun_by(self, command: str, cls: type[Config]) -> Config:
        """Return the settings of a run of this command. Raises `StoreError` for another one."""
        if list(self.settings().get("command", ()))[1:2] != [command]:
            raise StoreError(f"{self.path} is a run of another command; resume it with that one")
        return self.config(cls)

    def settings(self) -> dict[str, Any]:
        """Return the content of `run.json`: version, command, resolved config and origins."""
        file = self.path / SETTINGS
        if self._is_unbegun():
            raise StoreError(
                f"{self.path} was left before its run began, so nothing is lost; begin it again"
                f" with --name {self.path.name}"
            )
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            reason = error if file.is_file() else "it is missing"
            raise StoreError(f"{self.path} is not a run folder: {file.name}: {reason}") from error
        if not isinstance(found, dict):
            raise StoreError(f"{file} does not hold the settings of a run")
        return found

    def note_origin(self) -> tuple[Origin, ...]:
        """Record the current version of the program, and return all versions so far.

        Called when a run is resumed and when it is summarized, so that a source that changed in
        between, even during the run, is named next to its figures.
        """
        settings, now = self.settings(), read_origin()
        known: list[Origin] = settings["origins"]
        if known[-1] != now:
            known.append(now)
            self.write_json(SETTINGS, settings)
        return tuple(known)

    def config(self, cls: type[Config]) -> Config:
        """Return the settings the run was started with. Raises `StoreError` if they do not fit."""
        from pydantic import TypeAdapter, ValidationError

        settings, hints = self.settings(), hints_of(cls)
        found = settings.get("config")
        given = {
            name: _SWITCHES.get(value, value)
            if name in ("bf16", "gradient_checkpointing")
            else value
            for name, value in (found if isinstance(found, dict) else {}).items()
            if name in hints or name not in _REMOVED or _REMOVED[name] != value
        }
        if gone := [name for name in given if name not in hints]:
            named = ", ".join(gone[:3]) + ", …" * (len(gone) > 3)
            commit = settings["origins"][0]["commit"][:12] or "an unknown commit"
            raise StoreError(
                f"{self.path} was begun by another version ({commit}) with settings that are gone"
                f" ({named}); go on with that version, or begin anew with another --name"
            )
        try:
            return TypeAdapter(cls).validate_python(nested(cls, given) if given else found)
        except ValidationError as error:
            raise StoreError(
                f"{self.path}/run.json: {describe_invalid(error)}; the run was made by another"
                " version"
            ) from error

    def store(self) -> Store:
        """Return the run's store; one for each process."""
        return Store.open(self.path)

    def write_json(self, name: str, content: Any) -> None:
        """Write a file completely or not at all."""
        write_whole(self.path / name, json.dumps(content, indent=1, default=str) + "\n")

    def write_result(self, content: Mapping[str, Any], name: str = "result.json") -> None:
        """Write what the command came to, with when it ended."""
        self.write_json(name, {**content, "ended": time.time()})

    def weights(self, arm: str, repeat: int, round: int, part: str) -> Path:
        """Return the folder of the weights of `policy`, `world`, `reward` or `judge` after a
        round."""
        return self.path / "weights" / f"{arm}-{repeat}" / str(round) / part

    def has_weights(self, arm: str, repeat: int, round: int, part: str = "policy") -> bool:
        """Return whether they were saved."""
        return self.weights(arm, repeat, round, part).is_dir()

    def save(self, model: Weights, arm: str, repeat: int, round: int, part: str) -> None:
        """Save weights completely or not at all; existing ones are kept."""
        target = self.weights(arm, repeat, round, part)
        if target.is_dir():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{part}-"))
        try:
            model.save(draft)
            write_role(draft, part)
            draft.rename(target)
        except OSError as error:
            raise StoreError(f"weights cannot be written to {target}: {error}") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def load(self, arm: str, repeat: int, round: int, part: str) -> "BuiltinModel":
        """Return the weights after a round. Raises `ModelError`."""
        from webagent.models.builtin.model import BuiltinModel

        return BuiltinModel.load(self.weights(arm, repeat, round, part))
