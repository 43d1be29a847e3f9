"""Stored proposals read back as records, by the types of their fields."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


class NoRecord(ValueError):
    """Data that is not of the record's fields; the message names the field."""


def read_record(cls: type[Record], data: Any, place: str = "") -> Record:
    """The record of a JSON object; missing fields take their defaults. Raises `NoRecord`."""
    if not isinstance(data, dict):
        raise NoRecord(f"{place or cls.__name__}: expected an object, found {data!r:.80}")
    hints = _hints(cast(Any, cls))
    known = {each.name: each for each in fields(cast(Any, cls)) if each.init}
    for name in data.keys() - known.keys():
        raise NoRecord(f"{place}{'.' * bool(place)}{name}: there is no such field")
    for name, each in known.items():
        if name not in data and each.default is MISSING and each.default_factory is MISSING:
            raise NoRecord(f"{place}{'.' * bool(place)}{name}: it is missing")
    given = {
        name: _read(hints[name], value, f"{place}{'.' * bool(place)}{name}")
        for name, value in data.items()
    }
    return cls(**given)


@cache
def _hints(cls: type[Any]) -> dict[str, Any]:
    return get_type_hints(cls)


def _read(hint: Any, value: Any, place: str) -> Any:
    if get_origin(hint) is Union:  # the one there is: any JSON value
        return value
    if is_dataclass(hint):
        return read_record(cast(type[Any], hint), value, place)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is tuple and isinstance(value, list):
        kinds = [parts[0]] * len(value) if parts[-1] is Ellipsis else list(parts)
        if len(kinds) == len(value):
            return tuple(
                _read(k, v, f"{place}.{n}")
                for n, (k, v) in enumerate(zip(kinds, value, strict=True))
            )
    if origin is Mapping and isinstance(value, dict):
        return {key: _read(parts[1], each, f"{place}.{key}") for key, each in value.items()}
    if origin is None and isinstance(hint, type) and type(value) is hint:
        return value
    raise NoRecord(f"{place}: expected {hint!r}, found {value!r:.80}")
