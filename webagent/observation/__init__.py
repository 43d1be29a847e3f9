"""Turning a page into what the agent sees."""

from webagent.observation.frames import FramePath, numbered, splice
from webagent.observation.page import PageView, listener_script, page_script, read_view
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
