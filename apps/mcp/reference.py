"""The tools as Markdown, for the documentation: made from what clients are told."""

import json
from typing import Any

from mcp_types import Tool

from apps.mcp.settings import McpConfig
from apps.mcp.tools import offers


def reference(config: McpConfig) -> str:
    """A table of the tools with these settings."""
    tools = [offer.tool for offer in offers(config).values()]
    rows = [f"| `{tool.name}` | {_arguments(tool)} | {tool.description} |" for tool in tools]
    return "\n".join(["| tool | arguments | what it does |", "| --- | --- | --- |", *rows])


def _arguments(tool: Tool) -> str:
    schema = tool.input_schema
    names = schema["properties"]
    return ", ".join(_argument(name, names[name], schema.get("required", ())) for name in names)


def _argument(name: str, schema: dict[str, Any], required: tuple[str, ...]) -> str:
    if name in required:
        return f"`{name}`"
    return f"`{name}={json.dumps(schema.get('default'), ensure_ascii=False)}`"
