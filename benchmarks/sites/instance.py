"""A site that runs on this machine, with a state, a port and processes of its own."""

import json
import logging
import shutil
import sqlite3
import tempfile
import threading
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Self

from benchmarks.sites.process import HOST, START_SECONDS, Port, Process, is_in_use, tables_of
from benchmarks.sites.site import Site, SiteError
from benchmarks.sites.state import LOGINS, Build, Placed, ensure_built, keep_state, lock_build

logger = logging.getLogger(__name__)

_QUIET_SECONDS = 3.0
"""How long a reset waits for requests under way; then the server is started anew."""
_DYING_SECONDS = 0.2
"""Until a process that has let go of its port is seen to be gone."""
_PREFIX = "webagent-site-"


class Instance:
    """One running copy of a site: `with Instance.start(site) as running: ... running.reset()`.

    Its calls block, and may be made from any thread. When this process ends, however
    it ends, so do the server and all that it has started.
    """

    def __init__(self, build: Build, port: Port, folder: Path) -> None:
        """Nothing runs yet; use `Instance.start`."""
        self.build = build
        self.site = build.site
        self.folder = folder
        self.seconds = 0.0
        """How long the start took, the build apart."""
        self._port = port
        self._placed = Placed(folder / "state", folder / "incoming")
        self._process: Process | None = None
        self._tables: tuple[Path, ...] = ()
        self._turn = threading.Lock()
        self._put_at = 0.0

    @classmethod
    def start(cls, site: Site, port: int = 0) -> "Instance":
        """Return a new one, in its first state; built first where it is not yet. Raises
        `SiteError` when it cannot be built, does not start in time, or the port is in use."""
        return cls.of(ensure_built(site, first_state), port)

    @classmethod
    def of(cls, build: Build, port: int = 0) -> "Instance":
        """Return a new one from what is built. Raises `SiteError`."""
        began = time.monotonic()
        claimed = Port.claim(port)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        running = cls(build, claimed, folder)
        with ExitStack() as undo:
            undo.callback(running.stop)
            running._put()
            running._serve()
            undo.pop_all()
        running.seconds = time.monotonic() - began
        return running

    @property
    def port(self) -> int:
        """The port of 127.0.0.1 that it listens on."""
        return self._port.number

    @property
    def base(self) -> str:
        """Its real address: `http://127.0.0.1:PORT`."""
        return f"http://{HOST}:{self.port}"

    @property
    def state(self) -> Path:
        """The folder of its state as it is now."""
        return self._placed.folder

    @property
    def database(self) -> Path | None:
        """Its SQLite file as it is now; None where the site has none."""
        return self.state / self.site.database if self.site.database else None

    @property
    def saved_database(self) -> Path | None:
        """The same file in the first state."""
        return self.build.state / self.site.database if self.site.database else None

    @property
    def pid(self) -> int:
        """Of its server, 0 when it has been stopped; its process group has the same number."""
        return self._process.pid if self._process else 0

    @property
    def output(self) -> str:
        """The end of what the server has written."""
        return self._process.output if self._process else ""

    def login(self, role: str) -> dict[str, Any]:
        """As the build's."""
        return self.build.login(role)

    def renew_login(self, role: str) -> None:
        """Have the account logged in anew in the first state; `reset` puts that in place."""
        renew_logins(self.build, self._put_at)

    def reset(self) -> float:
        """Put the first state in place while the site runs, and say how many seconds that took.

        Requests under way are waited for; where one does not end, and where the site asks for it,
        the server is started anew.
        Raises `SiteError` when the server is dead.
        """
        began = time.monotonic()
        with self._turn:
            self.check()
            must_restart = getattr(self.site, "restart_on_reset", False)
            if not must_restart and self._is_quiet():
                self._put()
            else:
                if not must_restart:
                    logger.warning(
                        "%s was busy for %g s when it was to be reset; its server was restarted",
                        *(self.site.id, _QUIET_SECONDS),
                    )
                self._end_server()
                self._put()
                self._serve()
        return time.monotonic() - began

    def check(self) -> None:
        """Raises `SiteError` when the server has ended, with what it wrote last."""
        process = self._process
        if process is None:
            raise SiteError(f"{self.site.id} has been stopped; start another instance")
        if not process.is_running:
            raise SiteError(process.describe_end("has died"))

    def is_healthy(self) -> bool:
        """Return whether the server runs and answers."""
        process = self._process
        return process is not None and process.is_running and process.answers()

    def stop(self) -> None:
        """End the server and delete its state. Safe to call twice."""
        with self._turn:
            self._end_server()
        self._port.release()
        for _ in range(20):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                return
            time.sleep(0.02)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def _put(self) -> None:
        self._put_at = time.time()
        state, inode = self.build.state, -1
        try:
            while inode != (inode := state.stat().st_ino):  # until no logins are renewed meanwhile
                self._placed.put(state)
        except OSError as error:
            raise SiteError(
                f"the state {state} cannot be put in place in {self.state}: {error}"
            ) from error

    def _serve(self) -> None:
        serving = self.site.serve(self.state, self.port)
        self._process = Process(serving, self.folder, self.port, self.site.id)
        self._process.wait_until_ready(START_SECONDS)
        self._tables = tables_of(self.port)

    def _end_server(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None

    def _is_quiet(self) -> bool:
        """Return True once no request or transaction is under way, False if that takes long."""
        end = time.monotonic() + _QUIET_SECONDS
        try:
            while is_in_use(self.port, self._tables):
                if time.monotonic() > end:
                    return False
                time.sleep(0.002)
        except ConnectionError as error:
            time.sleep(_DYING_SECONDS)
            self.check()
            raise SiteError(f"{self.site.id} no longer responds: {error}") from error
        if self.database is None:
            return True
        address = f"{self.database.as_uri()}?mode=rw"
        left = max(0.05, end - time.monotonic())
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=left)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.rollback()
        except sqlite3.Error:
            return False
        return True


def first_state(site: Site, folder: Path, state: Path) -> None:
    """Build the site and log every account in, each as its browser will be. Raises `SiteError`."""
    fresh = folder / "built"
    fresh.mkdir()
    site.build(fresh)
    if site.accounts:
        _log_accounts_in(site, folder, fresh, state)
    else:
        state.parent.mkdir(parents=True, exist_ok=True)
        fresh.rename(state)


def _log_accounts_in(site: Site, folder: Path, fresh: Path, state: Path) -> None:
    """Serve what is `fresh`, log every account in, and keep that as the `state`."""
    port = Port.claim()
    try:
        process = Process(site.serve(fresh, port.number), folder, port.number, site.id)
        try:
            process.wait_until_ready()
            logins = fresh / LOGINS
            logins.mkdir()
            for role, account in site.accounts.items():
                cookies = site.log_in(f"http://{HOST}:{port.number}", account)
                if not cookies:
                    raise SiteError(
                        f"{site.id} gave {account.name} no cookie; the log-in of {role} failed"
                    )
                text = json.dumps({"cookies": cookies, "origins": []}, indent=1)
                (logins / f"{role}.json").write_text(text, encoding="utf-8")
            keep_state(fresh, state)
        finally:
            process.kill()
    finally:
        port.release()


def renew_logins(build: Build, since: float) -> None:
    """Log every account in anew in the first state, unless that was done after `since`, in seconds
    since 1970. Raises `SiteError`."""
    with lock_build(build.folder), tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        if (build.state / LOGINS).stat().st_mtime > since:
            return
        fresh = Path(folder) / "built"
        shutil.copytree(build.state, fresh, symlinks=True)
        shutil.rmtree(fresh / LOGINS)
        _log_accounts_in(build.site, Path(folder), fresh, build.state)
