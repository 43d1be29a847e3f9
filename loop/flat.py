"""Settings composed of groups, named on a command line as if each command had defined them."""

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Config = TypeVar("Config", bound="DataclassInstance")
Value = TypeVar("Value")

IMPORTANT = "important"
"""Mark of a setting that the short help shows."""
Important: TypeAlias = Annotated[Value, IMPORTANT]


def hints_of(config: type) -> dict[str, Any]:
    """Return the type of every setting by name, including those of groups."""
    hints = get_type_hints(config)
    found: dict[str, Any] = {}
    for name, hint in hints.items():
        found |= hints_of(hint) if name in _groups(config) else {name: hint}
    return found


def flat(config: "DataclassInstance") -> dict[str, Any]:
    """Return every setting by name, as plain values."""
    groups = _groups(type(config))
    found: dict[str, Any] = {}
    for field in fields(config):
        value = getattr(config, field.name)
        if field.name in groups:
            found |= flat(value)
        else:
            found[field.name] = (
                asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
            )
    return found


def nested(config: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by name, with those of groups under the fields that contain them."""
    groups = _groups(config)
    known = {name: hints_of(kind) for name, kind in groups.items()}
    inside = {name for hints in known.values() for name in hints}
    found = {name: value for name, value in values.items() if name not in inside}
    for group, kind in groups.items():
        if given := {name: values[name] for name in known[group] if name in values}:
            found[group] = nested(kind, given)
    return found


def compose(config: type[Config], **values: Any) -> Config:
    """Return the settings with these values, by the names that a command line uses."""
    return laid_upon(config(), values)


def laid_upon(base: Config, values: Mapping[str, Any]) -> Config:
    """Return the settings with the named values replaced, at any depth."""
    groups = _groups(type(base))
    known = {name: hints_of(kind) for name, kind in groups.items()}
    inside = {name for hints in known.values() for name in hints}
    changed: dict[str, Any] = {name: v for name, v in values.items() if name not in inside}
    for group, hints in known.items():
        if given := {name: values[name] for name in hints if name in values}:
            changed[group] = laid_upon(getattr(base, group), given)
    return replace(base, **changed)


def _groups(config: type) -> dict[str, type]:
    """Return the groups of settings by the field that contains them."""
    from tyro.conf import OmitArgPrefixes

    return {
        name: get_args(hint)[0]
        for name, hint in get_type_hints(config, include_extras=True).items()
        if get_origin(hint) is Annotated and OmitArgPrefixes in get_args(hint)[1:]
    }
