"""The published scorer of WebArena-Verified, in an environment and a process of its own.

The package pins 17 others, so it is never imported here. Its environment is made when it is first
needed and kept in the user's cache; one child process scores all that this process asks.
"""

import atexit
import fcntl
import json
import logging
import os
import selectors
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

VERSION = "1.2.3"
REQUIREMENT = f"webarena-verified=={VERSION}"
FOLDER_VARIABLE = "WEBAGENT_SCORERS"
INTERPRETER_VARIABLE = "WEBAGENT_VERIFIED_PYTHON"
INSTALL_SECONDS = 600.0
ANSWER_SECONDS = 120.0
"""Of one check: the first includes the start of the process, of two seconds; others take
milliseconds."""


class ScorerError(Exception):
    """The published scorer cannot be installed or does not answer; the message says what to do."""


def interpreter() -> Path:
    """Return the Python that has the package: that of `WEBAGENT_VERIFIED_PYTHON`, else of an
    environment in the cache, made now where there is none. Raises `ScorerError`."""
    if named := os.environ.get(INTERPRETER_VARIABLE):
        return Path(named)
    root = os.environ.get(FOLDER_VARIABLE)
    parent = Path(root) if root else Path.home() / ".cache" / "webagent" / "scorers"
    folder = parent / f"webarena-verified-{VERSION}"
    python, complete = folder / "bin" / "python", folder / "complete"
    if complete.exists():
        return python
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with (parent / f"{folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not complete.exists():
                logger.warning("installing %s, once, in %s", REQUIREMENT, folder)
                _run([sys.executable, "-m", "venv", "--clear", str(folder)])
                _run([str(python), "-m", "pip", "install", "-q", "--retries", "1", REQUIREMENT])
                complete.touch()
    except OSError as error:
        raise ScorerError(
            f"{REQUIREMENT}, which scores these tasks, cannot be installed in {folder} ({error}); "
            f"install it where there is a network and name that Python in {INTERPRETER_VARIABLE}, "
            "then score the episodes again: their evidence is kept"
        ) from error
    return python


def _run(command: list[str]) -> None:
    """Raises `OSError` with the last line that the command wrote."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"it took more than {INSTALL_SECONDS:g} s") from error
    if done.returncode:
        raise OSError((done.stderr.strip().splitlines() or ["no reason was given"])[-1])


class OfficialScorer:
    """A child process that scores one check at a time; started when it is first asked."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._last_words = ""
        """The last line that a child wrote before it died."""
        self._failure = ""
        """Why no child could be started, so that it is tried once and not for every check."""

    def score(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return what the child says of a job. Raises `ScorerError`.

        A child that has died is started again once.
        """
        line = json.dumps(job) + "\n"
        with self._turn:
            for _ in range(2):
                if self._failure:
                    raise ScorerError(self._failure)
                if reply := self._ask(line):
                    found: dict[str, Any] = json.loads(reply)
                    return found
        why = self._last_words or "it wrote nothing"
        self._failure = f"the process of {REQUIREMENT} ended twice without an answer: {why}"
        raise ScorerError(self._failure)

    def close(self) -> None:
        """End the child. Safe to call twice."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _, written = process.communicate()
            self._last_words = (written.strip().splitlines() or [""])[-1]

    def _ask(self, line: str) -> str:
        """Return the child's line; empty where it has died or takes too long."""
        if self._process is None or self._process.poll() is not None:
            self._process = self._start()
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                if selector.select(ANSWER_SECONDS) and (reply := process.stdout.readline()):
                    return reply
        except BrokenPipeError:
            pass
        self.close()
        return ""

    def _start(self) -> subprocess.Popen[str]:
        try:
            python = interpreter()
            return subprocess.Popen(
                # -I: neither PYTHONPATH nor the script's folder may hide the package
                [str(python), "-I", str(Path(__file__).with_name("official_child.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,  # a traceback at most: the child logs nothing
                text=True,
                encoding="utf-8",
            )
        except (OSError, ScorerError) as error:
            self._failure = str(error)
            raise ScorerError(self._failure) from error


_SCORER = OfficialScorer()
atexit.register(_SCORER.close)


def official_scorer() -> OfficialScorer:
    """Return the one of this process; its child ends with it."""
    return _SCORER
