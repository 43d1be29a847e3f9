"""Whose login an episode begins with: saved logins, handed out by the name that a task gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias

from tasks.task import Task
from webagent.browser.sessions.login import LoginStore, StorageState, read_storage_state
from webagent.browser.sessions.profile import Profile
from webagent.errors import SetupError, WorldError

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
        """The login that the task wants. Raises `WorldError` where it is not to be had."""
        try:
            return self.named(task.login)
        except SetupError as error:
            raise WorldError(f"{task.id} wants the login {task.login!r}: {error}") from error

    def named(self, name: str) -> StorageState:
        """The login of this name. Raises `SetupError` saying how to save one."""
        if name not in self._read:
            self._read[name] = self._found(name)
        return self._read[name]

    def _found(self, name: str) -> StorageState:
        parts = [part for part in name.split(".") if part]
        try:
            is_plain = self.folder is not None and Path(name).name == name
            file = self.folder / f"{name}.json" if self.folder and is_plain else None
            return read_storage_state(file) if file and file.is_file() else self._saved(name)
        except SetupError:
            if len(parts) < 2:
                raise
        return reduce(_joined, map(self.named, parts))

    def _saved(self, name: str) -> StorageState:
        if self.folder and name in (own := replace(self.store, folder=self.folder)).sites():
            return own.load(name).storage
        try:
            return self.store.load(name).storage
        except SetupError as error:
            if self.folder is None:
                raise
            raise SetupError(f"there is no {self.folder / f'{name}.json'}, and {error}") from error


def logged_in(profile: Profile, task: Task, logins: LoginsOf | None) -> Profile:
    """The profile that the task is played with: what its login knows on top of its own.

    Raises `WorldError` where nobody can log in.
    """
    if not task.login:
        return profile
    storage = logins(task) if logins else None
    if storage is None:
        raise WorldError(
            f"{task.id} wants to be logged in as {task.login!r}, and no such login is known; save "
            f"one with: webagent login {task.start_url} --site {task.login}"
        )
    both = _joined(profile.storage, storage) if profile.storage is not None else storage
    return replace(profile, storage=both)


def _joined(below: StorageState, above: StorageState) -> StorageState:
    """Both, the second where they speak of the same cookie or of the same site's storage."""
    cookies = {_cookie(each): each for state in (below, above) for each in state["cookies"]}
    origins = {each["origin"]: each for state in (below, above) for each in state["origins"]}
    return {"cookies": [*cookies.values()], "origins": [*origins.values()]}


def _cookie(cookie: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(cookie.get(name) for name in ("name", "domain", "path", "url"))
