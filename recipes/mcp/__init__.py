"""The browser as tools for assistants, over the Model Context Protocol."""

from recipes.mcp.command import main

__all__ = ["main"]
