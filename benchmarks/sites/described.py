"""Sites that a TOML file describes: served here by a command, or hosted elsewhere."""

import http.client
import os
import re
import shlex
import shutil
import time
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from benchmarks.discovery import Registry, collect
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
        """The command, with state and port filled in."""
        return self._fill(self.serve_command, self.environment, state, port)

    def log_in(self, base: str, account: Account) -> list[dict[str, object]]:
        """By its form."""
        if self.login is None:
            raise SiteError(f"{self.id} has accounts and no [login] that says how they log in")
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
        """Whether it answers."""
        return not self.site.missing()

    def stop(self) -> None:
        """It goes on where it is."""


_UNREACHABLE = 1000


def _status(address: str, seconds: float, data: bytes | None = None) -> int:
    """Return the status of the answer, redirects followed; a number above all of them where there
    is none."""
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
_LOCAL = ("build", "serve", "environment", "database", "needs")
_HOSTED = ("hosted", "reset", "reset_url", "reset_seconds")
_BOTH = ("address", "ready", "accounts", "passing", "login")


def read_sites(file: Path) -> dict[str, TomlSite]:
    """The sites of the tables `[sites."NAME@VERSION"]`, by id. Raises `SiteError` naming the file,
    the key and what was expected."""
    try:
        whole = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SiteError(f"{file} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SiteError(f"{file} is not TOML: {error}") from error
    sites = whole.get("sites")
    if not isinstance(sites, dict) or not sites or len(whole) > 1:
        others = ", ".join(sorted(whole.keys() - {"sites"})) or "none"
        raise SiteError(f'{file} should have tables [sites."NAME@VERSION"], found also {others}')
    return {name: _site(name, table, file) for name, table in sites.items()}


def _site(name: str, table: object, file: Path) -> TomlSite:
    where = f'{file} [sites."{name}"]'
    if not _ID.fullmatch(name):
        raise SiteError(f"{where}: a site is called as kanboard@1, a name and a version")
    table = _table(table, where)
    is_hosted = "hosted" in table
    _check_keys(table, (*_BOTH, *(_HOSTED if is_hosted else _LOCAL)), where)
    passing = _table(table.get("passing", {}), f"{where} passing")
    both: dict[str, Any] = {
        "id": name,
        "ready": _text(table, "ready", where, "/"),
        "accounts": _accounts(table.get("accounts", {}), f"{where} accounts"),
        "login": _login(table["login"], f"{where} login") if "login" in table else None,
        "passing": {key: _list(each, f"{where} passing.{key}") for key, each in passing.items()},
    }
    if both["accounts"] and both["login"] is None:
        raise SiteError(f"{where} has accounts and no [login] that says how they log in")
    if is_hosted:
        return _hosted(table, where, both)
    return CommandSite(
        **both,
        address=_address(_text(table, "address", where), "address", where),
        serve_command=_command(table, "serve", where, ("{port}",)),
        build_command=_command(table, "build", where) if "build" in table else (),
        environment=_texts(table.get("environment", {}), f"{where} environment"),
        database=_text(table, "database", where, ""),
        needs=_list(table.get("needs", []), f"{where} needs"),
        folder=file.absolute().parent,
    )


def _hosted(table: Mapping[str, Any], where: str, both: Mapping[str, Any]) -> RemoteSite:
    is_never = table.get("reset") == NEVER and "reset_url" not in table
    if "reset" not in table and "reset_url" not in table:
        raise SiteError(
            f"{where} does not say how it is reset: give a command in reset, an address to post to"
            f' in reset_url, or reset = "{NEVER}" where every episode may find what others left'
        )
    seconds = table.get("reset_seconds", 600)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
        raise SiteError(f"{where}: reset_seconds is {seconds!r}; expected seconds")
    hosted = _text(table, "hosted", where)
    address = _text(table, "address", where, hosted)
    if address.rstrip("/") != hosted.rstrip("/"):
        _address(address, "address", where)
        _address(hosted, "hosted", where)
    return RemoteSite(
        **both,
        address=address,
        hosted=hosted,
        reset_command=() if is_never or "reset" not in table else _command(table, "reset", where),
        reset_url=_text(table, "reset_url", where, ""),
        reset_seconds=float(seconds),
    )


def _accounts(value: object, where: str) -> dict[str, Account]:
    accounts = {}
    for role, table in _table(value, where).items():
        place = f"{where}.{role}"
        table = _table(table, place)
        _check_keys(table, ("name", "password", "can"), place)
        name, password = _text(table, "name", place), _text(table, "password", place)
        accounts[role] = Account(name, password, _text(table, "can", place, ""))
    return accounts


def _login(value: object, where: str) -> LoginForm:
    table, usual = _table(value, where), LoginForm()
    _check_keys(table, ("path", "name", "password", "more"), where)
    return LoginForm(
        _text(table, "path", where, usual.path),
        _text(table, "name", where, usual.name),
        _text(table, "password", where, usual.password),
        _texts(table.get("more", {}), f"{where} more"),
    )


def _check_keys(table: Mapping[str, Any], known: Collection[str], where: str) -> None:
    if unknown := [name for name in table if name not in known]:
        close = get_close_matches(unknown[0], known, n=3, cutoff=0.5) or sorted(known)
        raise SiteError(f"{where} has an unknown key {unknown[0]!r}; expected {', '.join(close)}")


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SiteError(f"{where} is {value!r}; expected a table")
    return value


def _text(table: Mapping[str, Any], key: str, where: str, usual: str | None = None) -> str:
    value = table.get(key, usual)
    if value is None:
        raise SiteError(f"{where} lacks the key {key!r}")
    if not isinstance(value, str):
        raise SiteError(f"{where}: {key} is {value!r}; expected text")
    return value


def _texts(value: object, where: str) -> dict[str, str]:
    table = _table(value, where)
    return {name: _text(table, name, where) for name in table}


def _list(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise SiteError(f"{where} is {value!r}; expected a list of texts")
    return tuple(value)


def _command(
    table: Mapping[str, Any], key: str, where: str, slots: Collection[str] = ()
) -> tuple[str, ...]:
    """Return a list of words, or one text split as a shell would; no shell runs it."""
    value = table.get(key)
    words = _list(shlex.split(value) if isinstance(value, str) else value, f"{where} {key}")
    if not words:
        raise SiteError(f"{where}: {key} is empty; expected a command")
    for slot in slots:
        if not any(slot in word for word in words):
            raise SiteError(f"{where}: {key} does not say {slot}, found {shlex.join(words)}")
    return words


def _address(value: str, key: str, where: str) -> str:
    parts = urlsplit(value)
    is_whole = parts.scheme in ("http", "https") and parts.hostname
    if not is_whole or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise SiteError(f"{where}: {key} is {value!r}; expected one such as http://kanboard.test")
    return value


AnySite: TypeAlias = Site | RemoteSite

SITES: Registry[str] = Registry(lambda: collect("SITES"))
"""Id to the module whose function `site` makes it, as benchmarks declare them."""


def find_site(name: str, files: Sequence[Path] = ()) -> AnySite:
    """The site of this id, one of ours or of the files', among them those that
    `WEBAGENT_SITE_FILES` lists. Its version may be left out where only one is known. Raises
    `UnknownSiteError`, and `SiteError` for files that cannot be read."""
    described = described_sites(files)
    known = [*SITES, *described]
    versions = [each for each in known if each.partition("@")[0] == name]
    whole = versions[0] if len(versions) == 1 else name
    if whole in described:
        return described[whole]
    if whole not in SITES:
        close = get_close_matches(name, known, n=3, cutoff=0.5) or sorted(known)
        raise UnknownSiteError(f"no site is called {name!r}; there is {', '.join(close)}")
    make: Callable[[], Site] = import_module(SITES[whole]).site
    return make()


def described_sites(files: Sequence[Path] = ()) -> dict[str, TomlSite]:
    """Return the sites of these files and of those that `WEBAGENT_SITE_FILES` lists, separated as
    paths are. Raises `SiteError` where two have one id."""
    found: dict[str, TomlSite] = {}
    named = map(Path, filter(None, os.environ.get(FILES_VARIABLE, "").split(os.pathsep)))
    for file in (*files, *named):
        for name, site in read_sites(file).items():
            if name in found or name in SITES:
                raise SiteError(f"{file} describes {name}, and there is one already; rename it")
            found[name] = site
    return found
