"""Doing an action in a tab: one function for each action class.

Each answers with the reason why the action could not be done, or with nothing.
"""

from webagent.browser.perform import elements, files, keyboard, lists, pages, points
from webagent.browser.perform.dispatch import perform

__all__ = ["elements", "files", "keyboard", "lists", "pages", "perform", "points"]
