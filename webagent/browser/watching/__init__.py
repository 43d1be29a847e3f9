"""Watching a person use the browser: what they saw, and what they did about it."""

from webagent.browser.watching.told import Told
from webagent.browser.watching.watch import Watch

__all__ = ["Told", "Watch"]
