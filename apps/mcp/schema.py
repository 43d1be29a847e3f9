"""What a tool takes, as JSON Schema, from the class that its arguments become."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from webagent.errors import CallError

Arguments = TypeVar("Arguments")
SESSION = {"type": "string", "description": "As open_session gave it."}


def schema_of(cls: type[Any], *, in_session: bool = False) -> dict[str, Any]:
    """The schema of a frozen dataclass; with `in_session` a session is asked for besides."""
    made = TypeAdapter(cls).json_schema()
    fields = {
        name: {name: value for name, value in schema.items() if name != "title"}
        for name, schema in made.get("properties", {}).items()
    }
    properties = {**({"session": SESSION} if in_session else {}), **fields}
    required = [*(["session"] if in_session else []), *made.get("required", [])]
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def read_arguments(tool: str, cls: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """The arguments of a call as a value of the class. Raises `CallError` naming what is wrong."""
    if unknown := sorted(set(given) - set(TypeAdapter(cls).json_schema()["properties"])):
        raise CallError(f"{tool} has no argument {', '.join(unknown)}")
    try:
        return TypeAdapter(cls).validate_python(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise CallError(f"{tool}: {place}: {first['msg']}") from error
