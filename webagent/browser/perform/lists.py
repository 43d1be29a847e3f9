"""Choosing from lists: the browser's own drop-downs, and those that a page builds itself."""

from difflib import get_close_matches
from typing import Any

from webagent.action import actions as act
from webagent.browser.perform.dispatch import ask, click_on, perform, reason_of
from webagent.browser.perform.elements import fill
from webagent.browser.tabs import Tabs

_OPEN_MS = 1000
"""Virtual milliseconds that a list gets to open or to filter itself."""


@perform.register
async def _(action: act.SelectOption, tabs: Tabs) -> str:
    reason = await ask(tabs, "choose", action.mark, action.option)
    if reason.endswith("is not a drop-down list"):
        return await _choose_built(tabs, action.mark, action.option) or ""
    if "has no option" in reason:
        return reason + await _hint(tabs, action.mark, action.option)
    return reason


@perform.register
async def _(action: act.SelectOptions, tabs: Tabs) -> str:
    answer = await tabs.active.ask_about(action.mark, "chooseExactly", action.options)
    if "missing" in answer:
        return reason_of(answer) + await _hint(tabs, action.mark, answer["missing"])
    return reason_of(answer)


async def _choose_built(tabs: Tabs, mark: int, label: str) -> str:
    """Choose from a list that a page builds: open it, look for the label, click what bears it."""
    found = await tabs.active.ask_about(mark, "optionNamed", label)
    if "error" in found:
        return reason_of(found)
    if "mark" not in found and not found["open"]:
        reason = await click_on(tabs, mark)
        if reason:
            return reason
        found = await _after_settling(tabs, mark, label)
    if "mark" not in found and found.get("filters"):
        await fill(tabs, mark, label)
        found = await _after_settling(tabs, mark, label)
    if "mark" in found:
        return await click_on(tabs, found["mark"])
    return reason_of(found) or f"element {mark} has no option {label!r}" + await _hint(
        tabs, mark, label
    )


async def _after_settling(tabs: Tabs, mark: int, label: str) -> dict[str, Any]:
    await tabs.settle(_OPEN_MS)
    found: dict[str, Any] = await tabs.active.ask_about(mark, "optionNamed", label)
    return found


async def _hint(tabs: Tabs, mark: int, label: str) -> str:
    """What a wrong label comes near to, or why it cannot be had."""
    labels = await tabs.active.ask_about(mark, "labelsOf")
    if label in labels["disabled"]:
        return " that can be chosen: it is disabled"
    lower = {each.lower(): each for each in labels["enabled"]}
    close = get_close_matches(label.lower(), lower, n=3, cutoff=0.5)
    return f"; did you mean {', '.join(repr(lower[each]) for each in close)}?" if close else ""
