"""Shared settings of recipes, named on a command line as if each recipe had defined them."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Config = TypeVar("Config", bound="DataclassInstance")


def hints_of(config: type) -> dict[str, Any]:
    """Return the type of every setting by name, including nested ones."""
    parts = _parts(config)
    hints = get_type_hints(config)
    shared = {name: hint for part in parts for name, hint in get_type_hints(hints[part]).items()}
    return {name: hint for name, hint in hints.items() if name not in parts} | shared


def flat(config: "DataclassInstance") -> dict[str, Any]:
    """Return every setting by name, as plain values."""
    values = asdict(config)
    for part in _parts(type(config)):
        values |= values.pop(part)
    return values


def nested(config: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by name, with shared ones gathered under the fields that contain them."""
    found = dict(values)
    for part, names in _parts(config).items():
        if given := {name: found.pop(name) for name in names if name in found}:
            found[part] = given
    return found


def laid_upon(base: Config, values: Mapping[str, Any]) -> Config:
    """Return the settings with the named values replaced."""
    parts = _parts(type(base))
    found = nested(type(base), values)
    changed = {
        name: replace(getattr(base, name), **value) if name in parts else value
        for name, value in found.items()
    }
    return replace(base, **changed)


def _parts(config: type) -> dict[str, tuple[str, ...]]:
    """Return the names of shared settings by the field that contains them."""
    from tyro.conf import OmitArgPrefixes

    marked = get_type_hints(config, include_extras=True)
    return {
        name: tuple(get_type_hints(hint.__origin__))
        for name, hint in marked.items()
        if OmitArgPrefixes in getattr(hint, "__metadata__", ())
    }
