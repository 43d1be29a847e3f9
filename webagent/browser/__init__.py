"""Real pages as worlds to act in."""

from webagent.browser.browser import Browser
from webagent.browser.chromium import Chromium, find_chromium
from webagent.browser.pool import BrowserLimits
from webagent.browser.world import BrowserWorld

__all__ = ["Browser", "BrowserLimits", "BrowserWorld", "Chromium", "find_chromium"]
