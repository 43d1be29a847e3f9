"""Sites that a TOML file describes: served here by a command, or hosted elsewhere."""

import http.client
import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from benchmarks.catalogue import Registry, collect
from benchmarks.sites.site import (
    Account,
    LoginForm,
    Serving,
    Site,
    SiteError,
    UnknownSiteError,
    log_in,
    run_command,
)
from benchmarks.task_files import FileEntry
from webagent.files import read_toml

_BUILD_SECONDS = 1800.0


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
    restart_on_reset: bool = False
    """Whether its server starts anew with each reset, as it keeps connections or what it read."""
    folder: Path = Path()

    def fingerprint(self) -> str:
        """Return all that is said of it."""
        return repr(self)

    def missing(self) -> str:
        """Return the programs that this machine lacks."""
        lacking = [name for name in self.needs if shutil.which(name) is None]
        return f"install {', '.join(lacking)}" if lacking else ""

    def build(self, state: Path) -> None:
        """Run the command. Raises `SiteError` with what it wrote."""
        if self.build_command:
            built = self._fill(self.build_command, self.environment, state, 0)
            run_command(
                built.argv,
                f"{self.id} cannot be built",
                _BUILD_SECONDS,
                built.environment,
                cwd=self.folder,
            )

    def serve(self, state: Path, port: int) -> Serving:
        """Return the command, with state and port filled in."""
        return self._fill(self.serve_command, self.environment, state, port)

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """By its form."""
        if self.login is None:
            raise SiteError(f"{self.id} has accounts, but no [login] that describes how to log in")
        return log_in(base, account, self.login)

    def _fill(
        self, command: Sequence[str], environment: Mapping[str, str], state: Path, port: int
    ) -> Serving:
        slots = {"{state}": str(state), "{port}": str(port), "{folder}": str(self.folder)}

        def fill(word: str) -> str:
            for slot, value in slots.items():
                word = word.replace(slot, value)
            return word

        filled = {name: fill(value) for name, value in environment.items()}
        return Serving(tuple(map(fill, command)), filled, self.ready)


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
        """Return why it cannot be used now; empty when it answers."""
        address = f"{self.hosted.rstrip('/')}{self.ready}"
        if _status(address, 10.0) < 400:
            return ""
        return f"{address} does not answer with a status below 400; start it there"

    def start(self) -> "Remote":
        """Take it as it is. Raises `SiteError` when it does not answer."""
        if missing := self.missing():
            raise SiteError(f"{self.id} cannot be used: {missing}")
        return Remote(self)


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
        """Return a login of this account; made anew after each reset. Raises `SiteError`."""
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

    def renew_login(self, role: str) -> None:
        """Have the account logged in anew when its login is wanted next."""
        self._logins.pop(role, None)

    def reset(self) -> float:
        """Reset it by its command or address, and wait until it answers again; without either do
        nothing. Returns the seconds that took. Raises `SiteError`."""
        began, site = time.monotonic(), self.site
        if site.is_reset:
            self._logins.clear()
            if site.reset_command:
                run_command(site.reset_command, f"{site.id} cannot be reset", site.reset_seconds)
            if site.reset_url:
                status = _status(site.reset_url, site.reset_seconds, data=b"")
                if status >= 400:
                    found = "no answer" if status == _UNREACHABLE else f"status {status}"
                    raise SiteError(f"the reset of {site.id} by POST {site.reset_url} gave {found}")
            while not self.is_healthy():
                if time.monotonic() > began + site.reset_seconds:
                    raise SiteError(
                        f"{site.id} did not answer within {site.reset_seconds:g} s of its reset"
                    )
                time.sleep(0.1)
        return time.monotonic() - began

    def check(self) -> None:
        """Nothing is known without asking it."""

    def is_healthy(self) -> bool:
        """Return whether it answers."""
        return not self.site.missing()

    def stop(self) -> None:
        """It goes on where it is."""


_UNREACHABLE = 1000


def _status(address: str, seconds: float, data: bytes | None = None) -> int:
    """Return the status after redirects; a number above all of them where there is no answer."""
    try:
        with urlopen(Request(address, data), timeout=seconds) as reply:
            return int(reply.status)
    except HTTPError as error:
        error.close()
        return error.code
    except (OSError, http.client.HTTPException):
        return _UNREACHABLE


TomlSite: TypeAlias = CommandSite | RemoteSite

FILES_VARIABLE = "WEBAGENT_SITE_FILES"
NEVER = "never"
_ID = re.compile(r"[a-z0-9][a-z0-9._-]*@[0-9]+")
_LOCAL = ("build", "serve", "environment", "database", "needs", "restart_on_reset")
_HOSTED = ("hosted", "reset", "reset_url", "reset_seconds")
_BOTH = ("address", "ready", "accounts", "passing", "login")


def read_sites(file: Path) -> dict[str, TomlSite]:
    """Return the sites of the tables `[sites."NAME@VERSION"]`, by id. Raises `SiteError` naming the
    file, the key and what was expected."""
    whole = read_toml(file, SiteError)
    sites = whole.get("sites")
    if not isinstance(sites, dict) or not sites or len(whole) > 1:
        others = ", ".join(sorted(whole.keys() - {"sites"})) or "none"
        raise SiteError(f'{file} should have tables [sites."NAME@VERSION"], found also {others}')
    return {name: _site(name, table, file) for name, table in sites.items()}


def _site(name: str, value: object, file: Path) -> TomlSite:
    where = f'{file} [sites."{name}"]'
    if not _ID.fullmatch(name):
        raise SiteError(f"{where}: a site id is a name and a version, as kanboard@1")
    table = FileEntry.of(value, where, SiteError)
    is_hosted = "hosted" in table.values
    table.allow((*_BOTH, *(_HOSTED if is_hosted else _LOCAL)))
    passing, login = table.inner("passing", {}), None
    if "login" in table.values:
        form, usual = table.inner("login"), LoginForm()
        form.allow(("path", "name", "password", "more"))
        login = LoginForm(
            form.text("path", usual.path),
            form.text("name", usual.name),
            form.text("password", usual.password),
            _texts(form.inner("more", {})),
        )
    accounts = {}
    tables = table.inner("accounts", {})
    for role in tables.values:
        of_role = tables.inner(role)
        of_role.allow(("name", "password", "can"))
        accounts[role] = Account(
            of_role.text("name"), of_role.text("password"), of_role.text("can", "")
        )
    both: dict[str, Any] = {
        "id": name,
        "ready": table.text("ready", "/"),
        "accounts": accounts,
        "login": login,
        "passing": {key: passing.texts(key) for key in passing.values},
    }
    if accounts and login is None:
        raise SiteError(f"{where} has accounts, but no [login] that describes how to log in")
    if is_hosted:
        return _hosted(table, both)
    return CommandSite(
        **both,
        address=_address(table, "address", table.text("address")),
        serve_command=_command(table, "serve", "{port}"),
        build_command=_command(table, "build") if "build" in table.values else (),
        environment=_texts(table.inner("environment", {})),
        database=table.text("database", ""),
        needs=table.texts("needs", []),
        restart_on_reset=table.flag("restart_on_reset"),
        folder=file.absolute().parent,
    )


def _hosted(table: FileEntry, both: Mapping[str, Any]) -> RemoteSite:
    given = table.values
    is_never = given.get("reset") == NEVER and "reset_url" not in given
    if "reset" not in given and "reset_url" not in given:
        raise SiteError(
            f"{table.place} does not say how it is reset: give a command in reset, an address to"
            f' post to in reset_url, or reset = "{NEVER}" where every episode may find what others'
            " left"
        )
    seconds = table.number("reset_seconds", 600)
    if seconds <= 0:
        raise table.wrong("reset_seconds", "seconds")
    hosted = table.text("hosted")
    address = table.text("address", hosted)
    if address.rstrip("/") != hosted.rstrip("/"):
        _address(table, "address", address)
        _address(table, "hosted", hosted)
    return RemoteSite(
        **both,
        address=address,
        hosted=hosted,
        reset_command=() if is_never or "reset" not in given else _command(table, "reset"),
        reset_url=table.text("reset_url", ""),
        reset_seconds=float(seconds),
    )


def _texts(table: FileEntry) -> dict[str, str]:
    return {key: table.text(key) for key in table.values}


def _command(table: FileEntry, key: str, slot: str = "") -> tuple[str, ...]:
    """Return a list of words, or one text split as a shell would; no shell runs it."""
    value = table.values.get(key)
    words = tuple(shlex.split(value)) if isinstance(value, str) else table.texts(key)
    if not words:
        raise table.wrong(key, "a command")
    if not any(slot in word for word in words):
        raise SiteError(f"{table.place}: {key} does not say {slot}, found {shlex.join(words)}")
    return words


def _address(table: FileEntry, key: str, value: str) -> str:
    parts = urlsplit(value)
    is_whole = parts.scheme in ("http", "https") and parts.hostname
    if not is_whole or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise table.wrong(key, "one such as http://kanboard.test")
    return value


AnySite: TypeAlias = Site | RemoteSite

SITES: Registry[str] = Registry(lambda: collect("SITES"))
"""Id to the module whose function `site` makes it, as benchmarks declare them; in `MODULE:NAME` the
function is given the name."""


def find_site(name: str, files: Sequence[Path] = ()) -> AnySite:
    """Return the site of this id, one of ours or of the files', among them those that
    `WEBAGENT_SITE_FILES` lists. Its version may be left out where only one is known. Raises
    `UnknownSiteError`, and `SiteError` for files that cannot be read."""
    described = described_sites(files)
    known = [*SITES, *described]
    versions = [each for each in known if each.partition("@")[0] == name]
    whole = versions[0] if len(versions) == 1 else name
    if whole in described:
        return described[whole]
    if whole not in SITES:
        close = get_close_matches(name, known, n=3, cutoff=0.5)
        own = "" if close and described else "; name the file of one of your own with --sites"
        there = ", ".join(close or sorted(known))
        raise UnknownSiteError(f"no site is called {name!r}; there is {there}{own}")
    module, _, part = SITES[whole].partition(":")
    make: Callable[..., Site] = import_module(module).site
    return make(part) if part else make()


def described_sites(files: Sequence[Path] = ()) -> dict[str, TomlSite]:
    """Return the sites of these files and of those that `WEBAGENT_SITE_FILES` lists, separated as
    paths are. Raises `SiteError` where two have one id."""
    found: dict[str, TomlSite] = {}
    named = map(Path, filter(None, os.environ.get(FILES_VARIABLE, "").split(os.pathsep)))
    for file in {path.resolve(): path for path in (*files, *named)}.values():
        for name, site in read_sites(file).items():
            if name in found or name in SITES:
                raise SiteError(f"{file} describes {name}, and there is one already; rename it")
            found[name] = site
    return found
