"""Actions on one element: clicking, filling, ticking, dragging."""

from webagent.action import actions as act
from webagent.browser.perform import input as hand
from webagent.browser.perform.dispatch import ask, click_on, perform, place_of, reason_of
from webagent.browser.perform.keys import held, read_keys
from webagent.browser.tabs import Tabs

_MOST_CLICKS = 3


@perform.register
async def _(action: act.Click, tabs: Tabs) -> str:
    return await click_on(tabs, action.mark, action.button)


@perform.register
async def _(action: act.DoubleClick, tabs: Tabs) -> str:
    return await click_on(tabs, action.mark, count=2)


@perform.register
async def _(action: act.ClickWith, tabs: Tabs) -> str:
    if not 1 <= action.count <= _MOST_CLICKS:
        return f"one can click 1 to {_MOST_CLICKS} times, not {action.count}"
    keys = read_keys(action.keys) if action.keys else ()
    if isinstance(keys, str):
        return keys
    async with held(tabs.active, keys):
        return await click_on(tabs, action.mark, action.button, action.count)


@perform.register
async def _(action: act.Hover, tabs: Tabs) -> str:
    place = await place_of(tabs, action.mark)
    if "error" not in place:
        await hand.move(tabs.active, (place["x"], place["y"]))
    return reason_of(place)


@perform.register
async def _(action: act.Focus, tabs: Tabs) -> str:
    return await ask(tabs, "focusOn", action.mark)


@perform.register
async def _(action: act.Fill, tabs: Tabs) -> str:
    return await fill(tabs, action.mark, action.text)


@perform.register
async def _(action: act.Clear, tabs: Tabs) -> str:
    return await fill(tabs, action.mark, "")


@perform.register
async def _(action: act.Check, tabs: Tabs) -> str:
    return await _tick(tabs, action.mark, True)


@perform.register
async def _(action: act.Uncheck, tabs: Tabs) -> str:
    return await _tick(tabs, action.mark, False)


@perform.register
async def _(action: act.Scroll, tabs: Tabs) -> str:
    reason = await ask(tabs, "scrollOn", action.mark, action.dx, action.dy)
    if not reason:
        await tabs.active.next_frame()
    return reason


@perform.register
async def _(action: act.DragAndDrop, tabs: Tabs) -> str:
    start = await place_of(tabs, action.source)
    end = await tabs.active.ask_about(action.target, "middleOf")
    if "error" in start or "error" in end:
        return reason_of(start) or reason_of(end)
    await hand.drag(tabs.active, (start["x"], start["y"]), (end["x"], end["y"]))
    return ""


async def fill(tabs: Tabs, mark: int, text: str) -> str:
    """Replace the text of a field; the reason when it takes none."""
    ready = await tabs.active.ask_about(mark, "readyToFill", text)
    if ready.get("typing") and (text or not ready["empty"]):
        await hand.type_text(tabs.active, text)
    return reason_of(ready)


async def _tick(tabs: Tabs, mark: int, wanted: bool) -> str:
    tick = await tabs.active.ask_about(mark, "tickOf")
    if "error" in tick:
        return reason_of(tick)
    if tick["ticked"] == wanted:
        return f"element {mark} is {'checked' if wanted else 'unchecked'} already"
    if tick["isRadio"] and not wanted:
        return f"element {mark} is a radio button; choose another one instead"
    return await click_on(tabs, mark)
