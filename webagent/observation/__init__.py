"""Turning a page into what the agent sees."""

from webagent.observation.page import (
    FramePath,
    PageView,
    listener_script,
    numbered,
    page_script,
    read_view,
    splice,
)
from webagent.observation.render import render, render_node

__all__ = [
    "FramePath",
    "PageView",
    "listener_script",
    "numbered",
    "page_script",
    "read_view",
    "render",
    "render_node",
    "splice",
]
