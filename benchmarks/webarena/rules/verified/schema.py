"""Values read by a JSON schema: each leaf becomes a value of its kind."""

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.webarena.rules.verified.kinds import KINDS, STRING, Kind, Manner, Value, value_of
from benchmarks.webarena.rules.verified.text import data_in
from tasks.task import Json

Schema = Mapping[str, Any]


def kind_of(schema: Schema) -> Kind:
    """The kind that a leaf's schema names, text where it names none. Raises `ValueError`."""
    name = schema.get("format") or schema.get("type", "string")
    if name not in KINDS:
        raise ValueError(f"unknown type {name!r} in a schema; known: {', '.join(sorted(KINDS))}")
    return KINDS[name]


def read_results(values: list[Json], schema: Schema, manner: Manner, *, strict: bool) -> list[Any]:
    """An answer's data, item by item. Raises `ValueError` for a schema that is not of a list.

    With `strict`, as for expected data, also for an item that is not of its kind; without, such an
    item stays as it is and equals nothing.
    """
    if schema.get("type", "array") != "array":
        raise ValueError(f"the schema is of {schema.get('type')!r}, expected a list")
    items = schema.get("items", {})
    if items.get("type") == "object":
        return [_read_item(value, items, manner, strict) for value in values]
    kind = kind_of(items)
    return [_leaf(value, kind, manner, strict) for value in values]


def read_fields(
    fields: Mapping[str, Any], schema: Schema, manner: Manner, *, strict: bool
) -> dict[str, Any]:
    """An object's fields; those that the schema does not name are text. Raises `ValueError`."""
    properties = schema.get("properties", {})
    return {
        name: _read_field(value, properties.get(name), manner, strict)
        for name, value in fields.items()
    }


def _read_item(value: Json, schema: Schema, manner: Manner, strict: bool) -> Any:
    if isinstance(value, list):
        return [_read_object(one, schema, manner, strict) for one in value]
    return _read_object(value, schema, manner, strict)


def _read_object(value: Json, schema: Schema, manner: Manner, strict: bool) -> Any:
    value = _parsed(value, dict)
    if isinstance(value, dict):
        return read_fields(value, schema, manner, strict=strict)
    if strict:
        raise ValueError(f"expected an object, found {value!r}")
    return value


def _read_field(value: Any, schema: Schema | None, manner: Manner, strict: bool) -> Any:
    if value is None:
        return None
    if schema is None:
        return _leaf(value, STRING, manner, strict)
    if schema.get("type") == "array":
        items = schema.get("items", {})
        value = _parsed(value, list)
        if not isinstance(value, list | tuple):
            if strict:
                raise ValueError(f"expected a list, found {value!r}")
            return value
        if items.get("type") == "object":
            return [_read_object(one, items, manner, strict) for one in value]
        kind = kind_of(items)
        return [_leaf(one, kind, manner, strict) for one in value]
    if schema.get("type") == "object":
        return _kept_unless_strict(
            lambda: _read_object(value, schema, manner, strict), value, strict
        )
    return _leaf(value, kind_of(schema), manner, strict)


def _leaf(value: Any, kind: Kind, manner: Manner, strict: bool) -> Value | Any:
    return _kept_unless_strict(lambda: value_of(value, kind, manner), value, strict)


def _kept_unless_strict(read: Callable[[], Any], value: Any, strict: bool) -> Any:
    """What is read, or the value itself where it cannot be and need not."""
    try:
        return read()
    except (ValueError, TypeError):
        if strict:
            raise
        return value


def _parsed(value: Any, wanted: type) -> Any:
    """Text that is JSON of the wanted type as that, anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        found = data_in(value)
    except ValueError:
        return value
    return found if isinstance(found, wanted) else value
