"""Runs that were started from the page: begun as on a command line, watched, paused and stopped."""

import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from loop.origin import SOURCE
from webagent.errors import SetupError, UsageError

Kind: TypeAlias = Literal["text", "switch", "choice", "words"]
LOGS = ".started"
"""Folder among the runs, not looked into, in which what each process says is kept."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_MOST_OUTPUT = 4000


@dataclass(frozen=True, slots=True)
class FormSetting:
    """One setting of a command, as a form asks for it."""

    name: str
    """As it is typed, without dashes in front."""
    kind: Kind
    doc: str
    default: str
    """Where nothing is changed; `on` or empty of a switch."""
    choices: tuple[str, ...] = ()
    """All there are of a choice; of a text what may be meant."""
    is_positional: bool = False
    is_first: bool = False
    """Whether the form shows it before the others are unfolded."""

    def words(self, given: str) -> list[str]:
        """Return the words of a command line that set it so; none for what holds anyway."""
        value = " ".join(given.split()) if self.kind == "words" else given.strip()
        if value == self.default:
            return []
        if self.is_positional:
            if value.startswith("-"):
                raise UsageError(f"{self.name}: expected words, found {value!r:.80}")
            return [value]
        if self.kind == "switch":
            prefix, dot, last = self.name.rpartition(".")
            return [f"--{self.name}" if value else f"--{prefix}{dot}no-{last}"]
        if self.kind == "words":
            try:
                return [f"--{self.name}", *shlex.split(value)]
            except ValueError as error:
                raise UsageError(f"{self.name}: {value!r:.80} cannot be read: {error}") from error
        return [f"--{self.name}={value}"]


@dataclass(frozen=True, slots=True)
class StartableCommand:
    """A command that can be started from the page."""

    name: str
    summary: str
    settings: tuple[FormSetting, ...]
    check: Callable[[Sequence[str]], object]
    """Raises `UsageError` or `SetupError` where these words say nothing that it can do."""

    def words(self, form: Mapping[str, str]) -> list[str]:
        """Return the command line that a form describes. Raises `UsageError`, `SetupError`."""
        words = []
        for each in sorted(self.settings, key=lambda setting: not setting.is_positional):
            absent = "" if each.kind == "switch" else each.default  # a box that is not ticked
            words += each.words(form.get(each.name, absent))
        self.check(words)
        return words


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A process that writes a run."""

    name: str
    """Of the run's folder."""
    line: str
    """What would have been typed."""
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def is_at_work(self) -> bool:
        """Whether the process has not ended."""
        return self.process.poll() is None

    def output(self) -> str:
        """Return the end of what it printed."""
        try:
            text = self.log.read_bytes()[-_MOST_OUTPUT:].decode(errors="replace")
        except OSError:  # removed by hand
            return ""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "\n").strip()


class Launcher:
    """Starts commands in sessions of their own, so that they outlive the viewer."""

    def __init__(self, runs: Path, commands: Sequence[StartableCommand]) -> None:
        self.commands = {command.name: command for command in commands}
        self.token = secrets.token_urlsafe(24)
        """In the address: who has it may start and steer."""
        self.form_token = secrets.token_urlsafe(24)
        """In every form, so that no other page's is taken for one of ours."""
        self._runs = runs
        self._started: dict[str, StartedRun] = {}
        self._lock = threading.Lock()

    def start(self, command: str, words: Sequence[str], name: str = "") -> StartedRun:
        """Begin a run of this name, or one made from the time. Raises `UsageError`."""
        name = name or time.strftime(f"{command}-%Y%m%d-%H%M%S")
        if not _NAME.fullmatch(name):
            raise UsageError(f"the name {name!r:.80} is not a folder name; use letters and digits")
        if (self._runs / name).exists():
            raise UsageError(f"there is a run {name} already; choose another name")
        return self._begin(name, [command, *words, f"--runs={self._runs}", f"--name={name}"])

    def resume(self, command: str, name: str, folder: Path) -> StartedRun:
        """Go on with a run that was interrupted. Raises `SetupError`."""
        return self._begin(name, [command, f"--resume={folder}"])

    def find(self, name: str) -> StartedRun | None:
        """Return the process that writes this run, if it was started here."""
        return self._started.get(name)

    def at_work(self) -> list[StartedRun]:
        """Return those that have not ended."""
        return [each for each in self._started.values() if each.is_at_work]

    def _begin(self, name: str, words: list[str]) -> StartedRun:
        """Begin the process. Raises `SetupError` where one is at work on the run."""
        with self._lock:
            before = self._started.get(name)
            if before is not None and before.is_at_work:
                raise SetupError(f"{name} is already running")
            log = self._runs / LOGS / f"{name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("wb") as output:
                # Processes find this very program, whatever folder they are started in.
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "recipes.cli", *words],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env={
                        **os.environ,
                        "PYTHONUNBUFFERED": "1",
                        "PYTHONPATH": os.pathsep.join(
                            filter(None, (str(SOURCE), os.environ.get("PYTHONPATH")))
                        ),
                    },
                )
            line = shlex.join(["webagent", *words])
            self._started[name] = StartedRun(name, line, process, log)
            return self._started[name]


SIGNALS: Mapping[str, signal.Signals] = {
    "pause": signal.SIGUSR1,
    "go on": signal.SIGUSR1,
    "take over": signal.SIGUSR2,
    "hand back": signal.SIGUSR2,
    "stop": signal.SIGINT,
}
"""The signal that each button sends."""
