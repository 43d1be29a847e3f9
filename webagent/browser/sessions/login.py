"""Being logged in at a site: what a browser knows then, kept encrypted from one run to the next."""

import base64
import json
import logging
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tasks.task import Task
from webagent.errors import SetupError, WorldError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

logger = logging.getLogger(__name__)

StorageState: TypeAlias = Mapping[str, Any]
"""Cookies, local storage and databases, in Playwright's form."""

PASSPHRASE_VARIABLE = "WEBAGENT_LOGINS_PASSPHRASE"
FOLDER_VARIABLE = "WEBAGENT_LOGINS"
_FORMAT = 1
_SCRYPT_COST = 2**15
"""About 0.1 s and 32 MB for each try at a passphrase."""
_SITE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Login:
    """What a browser knew once a person had logged in."""

    site: str
    url: str
    """Where the person began."""
    storage: StorageState = field(repr=False)
    saved: float
    """Seconds since 1970."""

    def expiry(self, now: float) -> str:
        """Return in words what has run out by `now`; empty while nothing has.

        Cookies that last for a session say no date, and sites may end a login earlier.
        """
        ends = [cookie["expires"] for cookie in self.storage["cookies"] if cookie["expires"] > 0]
        over = sum(end < now for end in ends)
        if not over:
            return ""
        days = (now - self.saved) / 86_400
        return f"{over} of its {len(ends)} dated cookies have expired; it is {days:.0f} days old"


@dataclass(frozen=True, slots=True)
class LoginStore:
    """A folder of logins, each a file that only its owner may read and that says nothing without
    the key. The key comes from a passphrase, or lies in a file beside them."""

    folder: Path
    passphrase: str = field(default="", repr=False)

    @classmethod
    def default(cls) -> "LoginStore":
        """Return what `WEBAGENT_LOGINS` and `WEBAGENT_LOGINS_PASSPHRASE` name."""
        folder = os.environ.get(FOLDER_VARIABLE) or Path.home() / ".config" / "webagent" / "logins"
        return cls(Path(folder), os.environ.get(PASSPHRASE_VARIABLE, ""))

    def save(self, login: Login) -> Path:
        """Encrypt and write; a login saved earlier is replaced whole or not at all."""
        path = self._path(login.site)
        salt = os.urandom(16)
        clear = {"url": login.url, "storage": login.storage, "saved": login.saved}
        sealed = {
            "format": _FORMAT,
            "key": "passphrase" if self.passphrase else "file",
            "salt": base64.b64encode(salt).decode(),
            "sealed": self._cipher(salt).encrypt(json.dumps(clear).encode()).decode(),
        }
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write_private(path, json.dumps(sealed).encode())
        return path

    def load(self, site: str) -> Login:
        """Read and decrypt; warns of what has expired. Raises `SetupError` saying what to do."""
        from cryptography.fernet import InvalidToken

        sealed = self._sealed(site)
        if sealed["key"] == "passphrase" and not self.passphrase:
            raise SetupError(
                f"the login {site!r} was saved with a passphrase; give it in {PASSPHRASE_VARIABLE}"
            )
        if sealed["key"] == "file" and self.passphrase:
            raise SetupError(
                f"the login {site!r} was saved with the key file, not with a passphrase; "
                f"unset {PASSPHRASE_VARIABLE}, or log in again"
            )
        try:
            salt = base64.b64decode(sealed["salt"])
            clear = json.loads(self._cipher(salt).decrypt(sealed["sealed"].encode()))
        except InvalidToken as error:
            key = f"passphrase in {PASSPHRASE_VARIABLE}" if self.passphrase else "key file"
            raise SetupError(
                f"the login {site!r} does not open with this {key}: it is another one, or "
                f"{self._path(site)} is damaged"
            ) from error
        login = Login(site, clear["url"], clear["storage"], clear["saved"])
        if expiry := login.expiry(time.time()):
            renewal = f"webagent login {login.url} --site {site}"
            logger.warning("login %r may have expired: %s; renew it: %s", site, expiry, renewal)
        return login

    def sites(self) -> tuple[str, ...]:
        """Return names of the logins there are, in order."""
        return tuple(sorted(path.stem for path in self.folder.glob("*.login")))

    def _path(self, site: str) -> Path:
        if not _SITE.fullmatch(site):
            raise SetupError(f"a site is named by letters, digits, . _ and -; found {site!r}")
        return self.folder / f"{site}.login"

    def _sealed(self, site: str) -> dict[str, Any]:
        path = self._path(site)
        if not path.is_file():
            saved = f"saved: {', '.join(self.sites()) or 'none'}"
            remedy = f"make one with: webagent login URL --site {site}"
            raise SetupError(f"no login is saved for {site!r} ({saved}); {remedy}")
        try:
            sealed = json.loads(path.read_bytes())
        except ValueError as error:
            raise SetupError(f"{path} is damaged: {error}") from error
        if not isinstance(sealed, dict) or sealed.get("format") != _FORMAT:
            raise SetupError(f"{path} is not a login of this version; log in again")
        return sealed

    def _cipher(self, salt: bytes) -> "Fernet":
        from cryptography.fernet import Fernet
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

        secret = self.passphrase.encode()
        if not secret:
            path = self.folder / "key"
            if not path.is_file():
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                _write_private(path, base64.b64encode(os.urandom(32)))
            if path.stat().st_mode & 0o077:
                raise SetupError(f"others may read {path}; close it with: chmod 600 {path}")
            secret = path.read_bytes()
        kdf = Scrypt(salt=salt, length=32, n=_SCRYPT_COST, r=8, p=1)
        return Fernet(base64.urlsafe_b64encode(kdf.derive(secret)))


def read_storage_state(path: Path) -> StorageState:
    """Return what Playwright's `storage_state` wrote to a file. Raises `SetupError`."""
    try:
        state = json.loads(path.read_bytes())
    except OSError as error:
        raise SetupError(f"the storage state {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SetupError(f"the storage state {path} is not JSON: {error}") from error
    if not isinstance(state, dict) or not {"cookies", "origins"} <= state.keys():
        raise SetupError(f"{path} is not a storage state; expected `cookies` and `origins`")
    return state


def _write_private(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and never readable by others."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


LoginsOf: TypeAlias = Callable[[Task], StorageState | None]
"""What the browser is to know when the task's `login` has logged in; None: nobody has."""


@dataclass(frozen=True, slots=True)
class Logins:
    """Saved logins by name: `NAME.json`, a storage state of Playwright's, in a folder, or what
    `webagent login URL --site NAME` has saved. Each is read once.

    A name such as `gitlab.reddit` that is not saved itself is a session logged in at both.
    """

    folder: Path | None = None
    """None: the logins of the environment only."""
    store: LoginStore = field(default_factory=LoginStore.default)
    _read: dict[str, StorageState] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, task: Task) -> StorageState:
        """Return the login that the task wants. Raises `WorldError` where it is not to be had."""
        try:
            return self.named(task.login)
        except SetupError as error:
            raise WorldError(f"{task.id} needs the login {task.login!r}: {error}") from error

    def named(self, name: str) -> StorageState:
        """Return the login of this name. Raises `SetupError` saying how to save one."""
        if name not in self._read:
            parts = [part for part in name.split(".") if part]
            try:
                self._read[name] = self._find(name)
            except SetupError:
                if len(parts) < 2:
                    raise
                self._read[name] = reduce(join_states, map(self.named, parts))
        return self._read[name]

    def _find(self, name: str) -> StorageState:
        if self.folder is None:
            return self.store.load(name).storage
        file = self.folder / f"{name}.json"
        if Path(name).name == name and file.is_file():
            return read_storage_state(file)
        own = replace(self.store, folder=self.folder)
        if name in own.sites():
            return own.load(name).storage
        try:
            return self.store.load(name).storage
        except SetupError as error:
            raise SetupError(f"there is no {file}, and {error}") from error


def join_states(below: StorageState, above: StorageState) -> StorageState:
    """Return both, the second where they speak of the same cookie or of the same site's storage."""
    of_cookie = ("name", "domain", "path", "url")
    cookies: dict[object, Any] = {}
    origins: dict[str, Any] = {}
    for state in (below, above):
        cookies |= {tuple(map(each.get, of_cookie)): each for each in state["cookies"]}
        origins |= {each["origin"]: each for each in state["origins"]}
    return {"cookies": [*cookies.values()], "origins": [*origins.values()]}
