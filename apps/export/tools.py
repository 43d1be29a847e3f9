"""The actions as tool schemas, for readers that think of an agent as calling tools."""

import dataclasses
import json
import types
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from webagent.action import ACTIONS

_KINDS = {int: "integer", str: "string", bool: "boolean", float: "number"}


def tool_schemas() -> list[dict[str, Any]]:
    """One function for each action, as the chat templates of Hugging Face models take them."""
    return [_schema(name, cls) for name, cls in ACTIONS.items()]


def tools_text() -> str:
    """The same as JSON."""
    return json.dumps(tool_schemas())


def _schema(name: str, cls: Any) -> dict[str, Any]:
    hints = get_type_hints(cls)
    fields = dataclasses.fields(cls)
    parameters = {
        "type": "object",
        "properties": {field.name: _kind(hints[field.name]) for field in fields},
        "required": [field.name for field in fields if field.default is dataclasses.MISSING],
    }
    function = {"name": name, "description": cls.__doc__, "parameters": parameters}
    return {"type": "function", "function": function}


def _kind(hint: Any) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return _kind(next(each for each in arguments if each is not type(None)))
    if origin in (tuple, list):
        return {"type": "array", "items": _kind(arguments[0])}
    return {"type": _KINDS[hint]}
