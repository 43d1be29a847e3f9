"""Doing an action in a tab: one function for each action class.

Each answers with the reason why the action could not be done, or with nothing.
"""

from functools import singledispatch
from pathlib import Path
from typing import Any

from webagent.action import Answer, GiveUp, Wait
from webagent.action import actions as act
from webagent.browser import input as hand
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError

_LONGEST_WAIT_MS = 60_000
_HOVER_MS = 200


@singledispatch
async def perform(action: object, tabs: Tabs) -> str:
    """Do the action; the reason when it could not be done, else nothing."""
    raise WorldError(f"a browser does not know how to do {action!r}")


@perform.register
async def _(action: act.Click, tabs: Tabs) -> str:
    return await _click(tabs, action.mark, action.button)


@perform.register
async def _(action: act.DoubleClick, tabs: Tabs) -> str:
    return await _click(tabs, action.mark, count=2)


@perform.register
async def _(action: act.Hover, tabs: Tabs) -> str:
    place = await _place(tabs, action.mark)
    if "error" not in place:
        await hand.move(tabs.active, (place["x"], place["y"]))
    return _reason(place)


@perform.register
async def _(action: act.Focus, tabs: Tabs) -> str:
    return await _ask(tabs, "focusOn", action.mark)


@perform.register
async def _(action: act.Fill, tabs: Tabs) -> str:
    ready = await tabs.active.ask_about(action.mark, "readyToFill", action.text)
    if ready.get("typing") and (action.text or not ready["empty"]):
        await hand.type_text(tabs.active, action.text)
    return _reason(ready)


@perform.register
async def _(action: act.SelectOption, tabs: Tabs) -> str:
    return await _ask(tabs, "choose", action.mark, action.option)


@perform.register
async def _(action: act.Press, tabs: Tabs) -> str:
    reason = await _ask(tabs, "focusOn", action.mark)
    if reason:
        return reason
    try:
        await hand.press(tabs.active, action.key)
    except WorldError as error:
        if "Unknown key" not in str(error):
            raise
        return f"there is no key {action.key!r}"
    return ""


@perform.register
async def _(action: act.Scroll, tabs: Tabs) -> str:
    reason = await _ask(tabs, "scrollOn", action.mark, action.dx, action.dy)
    if not reason:
        await tabs.active.next_frame()
    return reason


@perform.register
async def _(action: act.DragAndDrop, tabs: Tabs) -> str:
    start = await _place(tabs, action.source)
    end = await tabs.active.ask_about(action.target, "middleOf")
    if "error" in start or "error" in end:
        return _reason(start) or _reason(end)
    await hand.drag(tabs.active, (start["x"], start["y"]), (end["x"], end["y"]))
    return ""


@perform.register
async def _(action: act.MouseClick, tabs: Tabs) -> str:
    reason = _outside(tabs, action.x, action.y)
    if not reason:
        await hand.click(tabs.active, (action.x, action.y), action.button)
    return reason


@perform.register
async def _(action: act.MouseDrag, tabs: Tabs) -> str:
    reason = _outside(tabs, action.x, action.y)
    if not reason:
        await hand.drag(tabs.active, (action.x, action.y), (action.to_x, action.to_y))
    return reason


@perform.register
async def _(action: act.UploadFile, tabs: Tabs) -> str:
    path = Path(action.path).expanduser()
    if not path.is_file():
        return f"there is no file {action.path}"
    return await tabs.active.upload(action.mark, path)


@perform.register
async def _(action: act.Goto, tabs: Tabs) -> str:
    return await tabs.goto(action.url)


@perform.register
async def _(action: act.GoBack, tabs: Tabs) -> str:
    return await tabs.active.go_in_history(-1)


@perform.register
async def _(action: act.GoForward, tabs: Tabs) -> str:
    return await tabs.active.go_in_history(1)


@perform.register
async def _(action: act.NewTab, tabs: Tabs) -> str:
    await tabs.new()
    return ""


@perform.register
async def _(action: act.TabFocus, tabs: Tabs) -> str:
    return await tabs.focus(action.index)


@perform.register
async def _(action: act.TabClose, tabs: Tabs) -> str:
    await tabs.close_active()
    return ""


@perform.register
async def _(action: Wait, tabs: Tabs) -> str:
    return await tabs.clock.wait(tabs.active, min(max(0, action.milliseconds), _LONGEST_WAIT_MS))


@perform.register
async def _(action: Answer | GiveUp, tabs: Tabs) -> str:
    return ""


async def _click(tabs: Tabs, mark: int, button: act.Button = "left", count: int = 1) -> str:
    place = await tabs.active.ask_about(mark, "locate")
    if "option" in place:
        return await _ask(tabs, "choose", mark, place["option"])
    if place.get("isPicture"):
        place = await _hovered(tabs, mark, place)
    if "error" not in place:
        await hand.click(tabs.active, (place["x"], place["y"]), button, count)
    return _reason(place)


async def _hovered(tabs: Tabs, mark: int, before: dict[str, Any]) -> dict[str, Any]:
    """Where a picture is once the mouse is over it: a hovered style may load another one, and until
    that has come there is nothing to click."""
    await hand.move(tabs.active, (before["x"], before["y"]))
    place: dict[str, Any] = await tabs.active.ask_about(mark, "locate")
    if place != before:
        await tabs.settle(_HOVER_MS)
        place = await tabs.active.ask_about(mark, "locate")
    return place


async def _place(tabs: Tabs, mark: int) -> dict[str, Any]:
    place: dict[str, Any] = await tabs.active.ask_about(mark, "locate")
    if "option" in place:
        return {"error": f"element {mark} is an option of a list; choose it or act on the list"}
    return place


async def _ask(tabs: Tabs, function: str, mark: int, *arguments: Any) -> str:
    return _reason(await tabs.active.ask_about(mark, function, *arguments))


def _reason(answer: dict[str, Any]) -> str:
    return str(answer.get("error", ""))


def _outside(tabs: Tabs, x: int, y: int) -> str:
    size = tabs.active.page.viewport_size
    if size and not (0 <= x < size["width"] and 0 <= y < size["height"]):
        return f"the point {x},{y} is outside the {size['width']}x{size['height']} viewport"
    return ""
