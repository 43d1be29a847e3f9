"""Actions on pages and tabs as a whole, and those that touch no page."""

from webagent.action import Answer, GiveUp, Wait
from webagent.action import actions as act
from webagent.browser.perform.dispatch import perform
from webagent.browser.tabs import Tabs

_LONGEST_WAIT_MS = 60_000


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
async def _(action: act.AnswerDialog, tabs: Tabs) -> str:
    return await tabs.active.dialogs.answer(action.reply == "accept", action.text)


@perform.register
async def _(action: Wait, tabs: Tabs) -> str:
    return await tabs.clock.wait(tabs.active, min(max(0, action.milliseconds), _LONGEST_WAIT_MS))


@perform.register
async def _(action: Answer | GiveUp, tabs: Tabs) -> str:
    return ""
