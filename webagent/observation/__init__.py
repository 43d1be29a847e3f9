"""Turning a page into what the agent sees."""

from webagent.observation.page import PageView, listener_script, page_script, read_view
from webagent.observation.render import render, render_node

__all__ = [
    "PageView",
    "listener_script",
    "page_script",
    "read_view",
    "render",
    "render_node",
]
