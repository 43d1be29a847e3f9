"""Keys and combinations, on an element or where the keyboard focus is."""

from webagent.action import actions as act
from webagent.browser.perform import input as hand
from webagent.browser.perform.dispatch import ask, perform
from webagent.browser.perform.keys import press, read_keys, turn
from webagent.browser.tabs import Tabs


@perform.register
async def _(action: act.Press, tabs: Tabs) -> str:
    keys = read_keys(action.key)
    if isinstance(keys, str):
        return keys
    reason = await ask(tabs, "focusOn", action.mark)
    if not reason:
        await press(tabs.active, keys)
    return reason


@perform.register
async def _(action: act.KeyboardDown, tabs: Tabs) -> str:
    return await _turn(tabs, action.key, True)


@perform.register
async def _(action: act.KeyboardUp, tabs: Tabs) -> str:
    return await _turn(tabs, action.key, False)


@perform.register
async def _(action: act.KeyboardType, tabs: Tabs) -> str:
    if action.text:
        await hand.type_text(tabs.active, action.text)
    return ""


@perform.register
async def _(action: act.KeyboardInsertText, tabs: Tabs) -> str:
    await tabs.active.send("Input.insertText", text=action.text)
    return ""


async def _turn(tabs: Tabs, text: str, down: bool) -> str:
    keys = read_keys(text)
    if isinstance(keys, str):
        return keys
    for key in keys if down else reversed(keys):
        await turn(tabs.active, key, down)
    return ""
