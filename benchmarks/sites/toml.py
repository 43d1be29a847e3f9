"""Sites that a TOML file describes: a command that serves them here, or where they are hosted."""

import os
import re
import shlex
import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from benchmarks.sites.command import CommandSite
from benchmarks.sites.form import LoginForm
from benchmarks.sites.remote import RemoteSite
from benchmarks.sites.site import Account, SiteError

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


def named_files() -> tuple[Path, ...]:
    """The files that the environment variable lists, separated as paths are."""
    listed = os.environ.get(FILES_VARIABLE, "")
    return tuple(Path(name) for name in listed.split(os.pathsep) if name)


def _site(name: str, table: object, file: Path) -> TomlSite:
    where = f'{file} [sites."{name}"]'
    if not _ID.fullmatch(name):
        raise SiteError(f"{where}: a site is called as kanboard@1, a name and a version")
    if not isinstance(table, dict):
        raise SiteError(f"{where} should be a table")
    is_hosted = "hosted" in table
    _check_keys(table, (*_BOTH, *(_HOSTED if is_hosted else _LOCAL)), where)
    both: dict[str, Any] = {
        "id": name,
        "ready": _text(table, "ready", where, "/"),
        "accounts": _accounts(table.get("accounts", {}), where),
        "login": _login(table["login"], where) if "login" in table else None,
        "passing": _passing(table.get("passing", {}), where),
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
    hosted = _text(table, "hosted", where)
    if table.get("reset") == NEVER and "reset_url" not in table:
        command: tuple[str, ...] = ()
    elif "reset" in table:
        command = _command(table, "reset", where)
    elif "reset_url" in table:
        command = ()
    else:
        raise SiteError(
            f"{where} does not say how it is reset: give a command in reset, an address to post to"
            f' in reset_url, or reset = "{NEVER}" where every episode may find what others left'
        )
    seconds = table.get("reset_seconds", 600)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
        raise SiteError(f"{where}: reset_seconds is {seconds!r}; expected seconds")
    address = _text(table, "address", where, hosted)
    if address.rstrip("/") != hosted.rstrip("/"):
        _address(address, "address", where)
        _address(hosted, "hosted", where)
    return RemoteSite(
        **both,
        address=address,
        hosted=hosted,
        reset_command=command,
        reset_url=_text(table, "reset_url", where, ""),
        reset_seconds=float(seconds),
    )


def _accounts(value: object, where: str) -> dict[str, Account]:
    accounts = {}
    for role, table in _table(value, f"{where} accounts").items():
        place = f"{where} accounts.{role}"
        table = _table(table, place)
        _check_keys(table, ("name", "password", "can"), place)
        name, password = _text(table, "name", place), _text(table, "password", place)
        accounts[role] = Account(name, password, _text(table, "can", place, ""))
    return accounts


def _login(value: object, where: str) -> LoginForm:
    place = f"{where} login"
    table = _table(value, place)
    _check_keys(table, ("path", "name", "password", "more"), place)
    usual = LoginForm()
    return LoginForm(
        _text(table, "path", place, usual.path),
        _text(table, "name", place, usual.name),
        _text(table, "password", place, usual.password),
        _texts(table.get("more", {}), f"{place} more"),
    )


def _passing(value: object, where: str) -> dict[str, tuple[str, ...]]:
    tables = _table(value, f"{where} passing")
    return {name: _list(columns, f"{where} passing.{name}") for name, columns in tables.items()}


def _check_keys(table: Mapping[str, Any], known: Collection[str], where: str) -> None:
    for name in table:
        if name not in known:
            close = get_close_matches(name, known, n=3, cutoff=0.5) or sorted(known)
            raise SiteError(f"{where} has an unknown key {name!r}; expected {', '.join(close)}")


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
    """A list of words, or one text that is split as a shell would; no shell runs it."""
    value = table.get(key)
    if isinstance(value, str):
        value = shlex.split(value)
    words = _list(value, f"{where} {key}")
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
