"""The JSON schema of a dataclass's fields: what a tool is called with."""

from collections.abc import Container
from typing import Any

from pydantic import TypeAdapter


def describe_arguments(cls: type[Any], *, without: Container[str] = ("title",)) -> dict[str, Any]:
    """Return the schema of its fields, each without these keywords."""
    made = TypeAdapter(cls).json_schema()
    properties = {
        name: {key: value for key, value in each.items() if key not in without}
        for name, each in made.get("properties", {}).items()
    }
    required = {"required": made["required"]} if "required" in made else {}
    return {"type": "object", "properties": properties, **required}
