"""The one function that does actions, and what the functions behind it share."""

from functools import singledispatch
from typing import Any

from webagent.action.actions import Button
from webagent.browser.perform import input as hand
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError

_HOVER_MS = 200


@singledispatch
async def perform(action: object, tabs: Tabs) -> str:
    """Do the action; the reason when it could not be done, else nothing."""
    raise WorldError(f"a browser does not know how to do {action!r}")


def reason_of(answer: dict[str, Any]) -> str:
    """What the page's side says against it."""
    return str(answer.get("error", ""))


async def ask(tabs: Tabs, function: str, mark: int, *arguments: Any) -> str:
    """Have the page's side do something; the reason when it cannot."""
    return reason_of(await tabs.active.ask_about(mark, function, *arguments))


async def place_of(tabs: Tabs, mark: int) -> dict[str, Any]:
    """The point of an element that a mouse would hit."""
    place: dict[str, Any] = await tabs.active.ask_about(mark, "locate")
    if "option" in place:
        return {"error": f"element {mark} is an option of a list; choose it or act on the list"}
    return place


async def click_on(tabs: Tabs, mark: int, button: Button = "left", count: int = 1) -> str:
    """Click an element; an option of a drop-down list is chosen."""
    place = await tabs.active.ask_about(mark, "locate")
    if "option" in place:
        return await ask(tabs, "choose", mark, place["option"])
    if place.get("isPicture"):
        place = await _hovered(tabs, mark, place)
    if "error" not in place:
        await hand.click(tabs.active, (place["x"], place["y"]), button, count)
    return reason_of(place)


async def _hovered(tabs: Tabs, mark: int, before: dict[str, Any]) -> dict[str, Any]:
    """Where a picture is once the mouse is over it: a hovered style may load another one, and until
    that has come there is nothing to click."""
    await hand.move(tabs.active, (before["x"], before["y"]))
    place: dict[str, Any] = await tabs.active.ask_about(mark, "locate")
    if place != before:
        await tabs.settle(_HOVER_MS)
        place = await tabs.active.ask_about(mark, "locate")
    return place


def outside(tabs: Tabs, x: int, y: int) -> str:
    """The reason when a point is not in the viewport."""
    size = tabs.active.page.viewport_size
    if size and not (0 <= x < size["width"] and 0 <= y < size["height"]):
        return f"the point {x},{y} is outside the {size['width']}x{size['height']} viewport"
    return ""
