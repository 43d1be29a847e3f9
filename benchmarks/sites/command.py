"""A site that commands build and serve on this machine."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.sites.form import LoginForm, log_in
from benchmarks.sites.site import Account, Serving, SiteError

_BUILD_SECONDS = 1800.0
_QUOTED = 2000


@dataclass(frozen=True, slots=True)
class CommandSite:
    """A site that commands build and serve. In them `{state}` stands for the folder of the state,
    `{port}` for the port, and `{folder}` for the folder of the file that describes it."""

    id: str
    address: str
    serve_command: tuple[str, ...]
    build_command: tuple[str, ...] = ()
    """Empty where the site makes its own state when it is first served."""
    environment: Mapping[str, str] = field(default_factory=dict)
    ready: str = "/"
    database: str = ""
    accounts: Mapping[str, Account] = field(default_factory=dict)
    login: LoginForm | None = None
    passing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """Programs that must be there."""
    folder: Path = Path()

    def fingerprint(self) -> str:
        """All that is said of it."""
        return repr(self)

    def missing(self) -> str:
        """The programs that this machine lacks."""
        lacking = [name for name in self.needs if shutil.which(name) is None]
        return f"install {', '.join(lacking)}" if lacking else ""

    def build(self, state: Path) -> None:
        """Run the command. Raises `SiteError` with what it wrote."""
        if not self.build_command:
            return
        try:
            done = subprocess.run(
                self._filled(self.build_command, state, 0),
                cwd=self.folder,
                env={**os.environ, **self._environment(state, 0)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_BUILD_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SiteError(f"{self.id} cannot be built: {error}") from error
        if done.returncode:
            said = done.stdout.decode(errors="replace").strip()[-_QUOTED:] or "nothing"
            raise SiteError(
                f"{self.id} cannot be built: its command ended with status {done.returncode}; it"
                f" wrote:\n{said}"
            )

    def serve(self, state: Path, port: int) -> Serving:
        """The command, with state and port filled in."""
        argv = self._filled(self.serve_command, state, port)
        return Serving(argv, self._environment(state, port), self.ready)

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """By its form."""
        if self.login is None:
            raise SiteError(f"{self.id} has accounts and no [login] that says how they log in")
        return log_in(base, account, self.login)

    def _environment(self, state: Path, port: int) -> dict[str, str]:
        values = self._filled(tuple(self.environment.values()), state, port)
        return dict(zip(self.environment, values, strict=True))

    def _filled(self, words: tuple[str, ...], state: Path, port: int) -> tuple[str, ...]:
        filling = {"{state}": str(state), "{port}": str(port), "{folder}": str(self.folder)}
        for slot, value in filling.items():
            words = tuple(word.replace(slot, value) for word in words)
        return words
