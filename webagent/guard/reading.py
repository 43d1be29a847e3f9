"""A policy file in TOML as a policy, with every mistake named."""

import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webagent.errors import SetupError, unknown_name
from webagent.guard.policy import (
    ActionRule,
    Downloads,
    GuardPolicy,
    Secret,
    SiteRule,
    Uploads,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_TABLES: dict[str, type[Any]] = {
    "sites": SiteRule,
    "actions": ActionRule,
    "downloads": Downloads,
    "uploads": Uploads,
    "secrets": Secret,
}


def read_policy(path: Path) -> GuardPolicy:
    """The policy a file holds. Raises `SetupError` naming the file, the key and what is wrong.

    Relative folders and files are meant from the folder of the policy file.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SetupError(f"the guard policy {path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SetupError(f"{path} is not TOML: {error}") from error
    return make_policy(table, str(path), path.resolve().parent)


def make_policy(table: dict[str, Any], source: str, base: Path) -> GuardPolicy:
    """The policy a table spells out; `source` names it in errors. Raises `SetupError`."""
    from pydantic import TypeAdapter, ValidationError

    try:
        policy = TypeAdapter(GuardPolicy).validate_python(table)
    except ValidationError as error:
        raise _explained(error.errors(), source) from error
    _check_conditions(policy, source)
    uploads, downloads = policy.uploads, policy.downloads
    return replace(
        policy,
        open_folders=_absolute(policy.open_folders, base),
        authorities=policy.authorities and base / policy.authorities.expanduser(),
        uploads=replace(
            uploads, folders=_absolute(uploads.folders, base), types=_lower(uploads.types)
        ),
        downloads=replace(downloads, types=_lower(downloads.types)),
        secrets={
            name: replace(secret, file=secret.file and base / secret.file.expanduser())
            for name, secret in policy.secrets.items()
        },
    )


def _explained(errors: "list[ErrorDetails]", source: str) -> SetupError:
    """The first mistake; a misspelt key goes before what is missing because of it."""
    misspelt = (each for each in errors if each["type"] == "unexpected_keyword_argument")
    error = next(misspelt, errors[0])
    *table, key = [str(part) for part in error["loc"]] or [""]
    where = f"{source} [{'.'.join(table)}]" if table else source
    if error["type"] == "unexpected_keyword_argument":
        shape = _TABLES[table[0]] if table else GuardPolicy
        return unknown_name(f"key in {where}", key, [field.name for field in fields(shape)])
    message = error["msg"].removeprefix("Value error, ")
    return SetupError(f"{where}: {key}: {message}" if key else f"{where}: {message}")


def _check_conditions(policy: GuardPolicy, source: str) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    for index, rule in enumerate(policy.actions):
        try:
            Draft202012Validator.check_schema(rule.when)
        except SchemaError as error:
            raise SetupError(
                f"{source}: actions.{index}.when is no JSON Schema: {error.message}"
            ) from error


def _absolute(folders: tuple[Path, ...], base: Path) -> tuple[Path, ...]:
    return tuple((base / folder.expanduser()).resolve() for folder in folders)


def _lower(endings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(ending.lower() for ending in endings)
