"""Turning a page into what the agent sees."""

from webagent.observation.page import (
    FramePath,
    PageView,
    insert_frames,
    listener_script,
    number_marks,
    page_script,
    read_view,
)
from webagent.observation.render import render, render_node

__all__ = [
    "FramePath",
    "PageView",
    "insert_frames",
    "listener_script",
    "number_marks",
    "page_script",
    "read_view",
    "render",
    "render_node",
]
