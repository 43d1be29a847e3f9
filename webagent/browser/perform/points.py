"""The mouse at points of the viewport, for policies that look at pictures."""

from webagent.action import actions as act
from webagent.browser.perform import input as hand
from webagent.browser.perform.dispatch import outside, perform
from webagent.browser.tabs import Tabs


@perform.register
async def _(action: act.MouseClick, tabs: Tabs) -> str:
    reason = outside(tabs, action.x, action.y)
    if not reason:
        await hand.click(tabs.active, (action.x, action.y), action.button)
    return reason


@perform.register
async def _(action: act.MouseDoubleClick, tabs: Tabs) -> str:
    reason = outside(tabs, action.x, action.y)
    if not reason:
        await hand.click(tabs.active, (action.x, action.y), action.button, 2)
    return reason


@perform.register
async def _(action: act.MouseDrag, tabs: Tabs) -> str:
    reason = outside(tabs, action.x, action.y)
    if not reason:
        await hand.drag(tabs.active, (action.x, action.y), (action.to_x, action.to_y))
    return reason


@perform.register
async def _(action: act.MouseMove, tabs: Tabs) -> str:
    reason = outside(tabs, action.x, action.y)
    if not reason:
        await hand.move(tabs.active, (action.x, action.y))
    return reason


@perform.register
async def _(action: act.MouseDown, tabs: Tabs) -> str:
    reason = outside(tabs, action.x, action.y)
    if not reason:
        await hand.hold_button(tabs.active, (action.x, action.y), action.button)
    return reason


@perform.register
async def _(action: act.MouseUp, tabs: Tabs) -> str:
    reason = outside(tabs, action.x, action.y)
    if not reason:
        await hand.let_go(tabs.active, (action.x, action.y), action.button)
    return reason


@perform.register
async def _(action: act.ScrollAt, tabs: Tabs) -> str:
    reason = outside(tabs, action.x, action.y)
    if not reason:
        await hand.turn_wheel(tabs.active, (action.x, action.y), action.dx, action.dy)
        await tabs.active.next_frame()
    return reason
