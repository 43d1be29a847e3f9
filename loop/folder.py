"""The run folder: settings, origins, weights, store and notes, readable again after a kill."""

import json
import platform
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

from benchmarks.rules import checks_hold
from loop.flat import flat, hints_of, nested
from webagent.errors import SetupError, StoreError, UsageError
from webagent.files import describe_invalid, write_whole
from webagent.models.weight_notes import write_role
from webagent.records import Score
from webagent.store import Store

SOURCE = Path(__file__).resolve().parents[1]
_AT_ONCE = 1000
"""Maximum number of unnamed runs that start in the same second."""
_PACKAGES = {
    "webagent": "webagent-loop",
    "torch": "torch",
    "transformers": "transformers",
    "playwright": "playwright",
    "miniwob": "miniwob",
}


class Origin(TypedDict):
    """The versions with which a run, or a part of it, was made."""

    commit: str
    """Commit of the source tree; empty outside of one."""
    modified: bool
    """Whether files differed from the commit."""
    versions: dict[str, str]
    """Package name to version; empty if it is not installed."""


def read_origin() -> Origin:
    """Return the current versions of this program."""
    head = _git("rev-parse", "HEAD")
    is_modified = bool(head and _git("status", "--porcelain", "--untracked-files=no"))
    return Origin(commit=head, modified=is_modified, versions=_versions())


@cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name, package in _PACKAGES.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            found[name] = ""
    from webagent.browser.chromium import find_chromium

    try:
        found["chromium"] = find_chromium(headless=True).version()
    except SetupError:
        found["chromium"] = ""
    return found


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(SOURCE), *arguments], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if TYPE_CHECKING:
    from webagent.models.builtin.model import BuiltinModel

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


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder with everything of one run."""

    path: Path

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
        cls, runs: Path, name: str, config: Any, command: Sequence[str]
    ) -> "RunFolder":
        """Return a new folder with this name among runs; by default named by command and time.
        Raises `UsageError` for a name that leads outside, `StoreError` as `create`."""
        if not name:
            return cls.create(_claim_dated(runs, command[1]), config, command)
        if Path(name).name != name or "\\" in name or name.startswith("."):
            raise UsageError(f"--name {name!r} is no name of a folder; give one without slashes")
        return cls.create(runs / name, config, command)

    @classmethod
    def create(cls, path: Path, config: Any, command: Sequence[str]) -> "RunFolder":
        """Return a new folder with its settings. Raises `StoreError` if it already contains a
        run."""
        if (path / "run.json").exists():
            advice = f"resume it with --resume {path}, or " * ("resume" in hints_of(type(config)))
            raise StoreError(f"{path} holds a run already; {advice}choose another --name")
        Store.open(path, create=True).close()
        folder = cls(path)
        settings = {
            "version": VERSION,
            "command": list(command),
            "config": flat(config),
            "origins": [read_origin()],
        }
        folder.write_json("run.json", settings)
        return folder

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
        file = self.path / "run.json"
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StoreError(f"{self.path} is not a run folder: {file.name}: {error}") from error
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
            self.write_json("run.json", settings)
        return tuple(known)

    def _check_settings(self, found: Mapping[str, Any], cls: type) -> None:
        """Raise `StoreError` for settings that this version does not have: what the run did by them
        cannot be gone on with."""
        known = hints_of(cls)
        gone = [name for name in found if name not in known]
        if gone:
            named = ", ".join(gone[:3]) + ", …" * (len(gone) > 3)
            commit = self.settings()["origins"][0]["commit"][:12] or "an unknown commit"
            raise StoreError(
                f"{self.path} was begun by another version ({commit}) with settings that are gone"
                f" ({named}); go on with that version, or begin anew with another --name"
            )

    def config(self, cls: type[Config]) -> Config:
        """Return the settings the run was started with. Raises `StoreError` if they do not fit."""
        from pydantic import TypeAdapter, ValidationError

        found = self.settings().get("config")
        if isinstance(found, dict):
            self._check_settings(found, cls)
        try:
            given = nested(cls, found) if isinstance(found, dict) else found
            return TypeAdapter(cls).validate_python(given)
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


TRAINING = "training"
"""`training:ARM:REPEAT` stores the notes on a training."""
LEARNING = "learning"
"""`learning:ARM:REPEAT:ROUND` stores what a round was trained on."""
PROPOSED = "proposed"
"""`proposed:ARM:REPEAT:ROUND` stores the proposals before a round; in the folder of this name,
`ARM-REPEAT/ROUND-PLACE` is the run that proposed them."""
JUDGE = "benchmark:judge"
"""Key of the judge's id, if it is not the rules."""


def read_judge_id(store: Store) -> str:
    """Return the id of the judge of this run: by default the rules over evidence."""
    return str(store.get_state(JUDGE) or checks_hold().id)


def choose_judge(named: str, scores: Mapping[str, Sequence[Score]]) -> str:
    """Return the start of the id of the judge whose verdicts count: the one the run names, else the
    one with most verdicts."""
    given = Counter(
        score.evaluator for said in scores.values() for score in said if score.name == "success"
    )
    if not given or any(evaluator.startswith(named) for evaluator in given):
        return named
    return min(given, key=lambda evaluator: (-given[evaluator], evaluator))


def find_headline(scores: Sequence[Score], judge: str) -> Score | None:
    """Return what the judge whose id begins so says of an episode's success."""
    named = (s for s in scores if s.name == "success" and s.evaluator.startswith(judge))
    return next(named, None)


def read_warnings(store: Store) -> list[str]:
    """Return the warnings of trainings: a sentence for each arm and repeat."""
    warnings = []
    for key, state in store.states(f"{TRAINING}:").items():
        _, arm, repeat = key.split(":")
        warnings.append(f"{arm}, repeat {repeat}: {state}")
    return warnings


def read_rounds(store: Store, kind: str) -> dict[tuple[str, int, int], dict[str, Any]]:
    """Return the notes of each round under a key of this kind, by arm, repeat and round."""
    found = {}
    for key, state in store.states(f"{kind}:").items():
        _, arm, repeat, number = key.split(":")
        if isinstance(state, dict):
            found[arm, int(repeat), int(number)] = dict(state)
    return found


def _claim_dated(runs: Path, command: str) -> Path:
    """Create a folder named by command and time, with a number if another run started in the same
    second."""
    dated = time.strftime(f"{command}-%Y%m%d-%H%M%S")
    for name in (dated, *(f"{dated}-{number}" for number in range(2, _AT_ONCE))):
        try:
            (runs / name).mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise StoreError(f"no folder can be made in {runs}: {error.strerror}") from error
        return runs / name
    raise StoreError(f"{_AT_ONCE} runs named {dated} began in {runs}; give a --name")
