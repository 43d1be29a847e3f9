"""A site that somebody hosts elsewhere: used as it is, at its address, by one world at a time."""

import http.client
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from benchmarks.sites.form import LoginForm, log_in
from benchmarks.sites.site import Account, SiteError

_QUOTED = 1000


@dataclass(frozen=True, slots=True)
class RemoteSite:
    """What is known of it. Without a way to reset it, an episode finds what others have left."""

    id: str
    address: str
    """In tasks and trajectories."""
    hosted: str
    """Where it really is, as `http://localhost:7770`; often the same."""
    accounts: Mapping[str, Account] = field(default_factory=dict)
    login: LoginForm | None = None
    ready: str = "/"
    reset_command: tuple[str, ...] = ()
    reset_url: str = ""
    """Posted to."""
    reset_seconds: float = 600.0
    """That a reset may take until the site answers again."""
    passing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_reset(self) -> bool:
        """Whether there is a way to."""
        return bool(self.reset_command or self.reset_url)

    def missing(self) -> str:
        """Why it cannot be used now; empty when it answers."""
        if _status(self._ready_url, 10.0) < 400:
            return ""
        return f"{self._ready_url} does not answer with a status below 400; start it there"

    def start(self) -> "Remote":
        """Take it as it is. Raises `SiteError` when it does not answer."""
        if missing := self.missing():
            raise SiteError(f"{self.id} cannot be used: {missing}")
        return Remote(self)

    @property
    def _ready_url(self) -> str:
        return f"{self.hosted.rstrip('/')}{self.ready}"


class Remote:
    """A hosted site in the hands of one world."""

    database: Path | None = None
    saved_database: Path | None = None

    def __init__(self, site: RemoteSite) -> None:
        self.site = site
        self._logins: dict[str, dict[str, Any]] = {}

    @property
    def base(self) -> str:
        """Its real address."""
        return self.site.hosted.rstrip("/")

    def login(self, role: str) -> dict[str, Any]:
        """A login of this account; made anew after each reset. Raises `SiteError`."""
        site = self.site
        if role not in site.accounts or site.login is None:
            known = ", ".join(sorted(site.accounts)) or "none"
            raise SiteError(
                f"{site.id} has no account {role!r} with a form to log in by; there is {known}"
            )
        if role not in self._logins:
            cookies = log_in(self.base, site.accounts[role], site.login)
            self._logins[role] = {"cookies": cookies, "origins": []}
        return self._logins[role]

    def reset(self) -> float:
        """By its command or address, and until it answers again; without either nothing is done.
        Raises `SiteError`."""
        began = time.monotonic()
        if self.site.is_reset:
            self._logins.clear()
            self._run_command()
            self._post()
            end = began + self.site.reset_seconds
            while not self.is_healthy():
                if time.monotonic() > end:
                    raise SiteError(
                        f"{self.site.id} did not answer within {self.site.reset_seconds:g} s of its"
                        " reset"
                    )
                time.sleep(0.1)
        return time.monotonic() - began

    def check(self) -> None:
        """Nothing is known without asking it."""

    def is_healthy(self) -> bool:
        """Whether it answers."""
        return _status(self.site._ready_url, 10.0) < 400

    def stop(self) -> None:
        """It goes on where it is."""

    def _run_command(self) -> None:
        command = self.site.reset_command
        if not command:
            return
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.site.reset_seconds,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SiteError(f"the reset of {self.site.id} did not work: {error}") from error
        if done.returncode:
            said = (done.stdout + done.stderr).strip()[-_QUOTED:] or "nothing"
            raise SiteError(
                f"the reset of {self.site.id} ended with status {done.returncode}; it wrote: {said}"
            )

    def _post(self) -> None:
        address = self.site.reset_url
        if not address:
            return
        status = _status(address, self.site.reset_seconds, data=b"")
        if status >= 400:
            found = "no answer" if status == _UNREACHABLE else f"status {status}"
            raise SiteError(f"the reset of {self.site.id} by POST {address} gave {found}")


_UNREACHABLE = 1000


def _status(address: str, seconds: float, data: bytes | None = None) -> int:
    """Of the answer, redirects followed; a number above all of them where there is none."""
    try:
        with urlopen(Request(address, data), timeout=seconds) as reply:
            return int(reply.status)
    except HTTPError as error:
        error.close()
        return error.code
    except (OSError, http.client.HTTPException):
        return _UNREACHABLE
