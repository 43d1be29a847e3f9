"""Browser contexts as a profile asks for them, with what they keep of their episode."""

from contextlib import AsyncExitStack, suppress

from playwright.async_api import Browser as Chrome
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from tasks.task import Task
from webagent.browser.enforcement.dial import dial_through
from webagent.browser.enforcement.enforce import Enforcer
from webagent.browser.page.clock import clock_named
from webagent.browser.page.line import world_failures
from webagent.browser.sessions.downloads import Downloads
from webagent.browser.sessions.frozen import FrozenSite
from webagent.browser.sessions.har import read_traffic
from webagent.browser.sessions.profile import Profile
from webagent.browser.sessions.recording import Recording
from webagent.browser.tabs import Tabs
from webagent.guard import Guard


async def open_context(
    chrome: Chrome, task: Task, profile: Profile, guard: Guard | None = None
) -> Tabs:
    """A fresh context for the task, with one empty tab; `Tabs.leave` gives all of it back.

    Raises `WorldError`.
    """
    options = profile.context_options(task.viewport)
    recording = Recording(profile, "network" in task.records)
    async with AsyncExitStack() as undo:
        enforcer = await Enforcer.open(guard, dial_through(profile.proxy)) if guard else None
        if enforcer:
            undo.push_async_callback(enforcer.close)
            options |= enforcer.context_options
        undo.push_async_callback(recording.sort)
        replay = read_traffic(profile.har_replay).replay() if profile.har_replay else None
        if replay:
            frozen = await FrozenSite.open(replay)
            undo.push_async_callback(frozen.close)
            options |= {"proxy": {"server": frozen.address}, "ignore_https_errors": True}
        async with world_failures():
            context = await chrome.new_context(**options, **recording.options)
            undo.push_async_callback(_close, context)
            await recording.start(context)
        undo.push_async_callback(recording.stop, context)
        if enforcer:
            await enforcer.watch(context)
        tabs = await Tabs.open(context, clock_named(task.clock), task.hooks.init)
        tabs.recording, tabs.replay, tabs.guard = recording, replay, enforcer
        if profile.downloads:
            tabs.downloads = await Downloads.open(
                chrome, tabs.first, profile.downloads, profile.max_download_mb
            )
            undo.push_async_callback(tabs.downloads.close)
            if enforcer:
                tabs.downloads.judge = enforcer.judge_download
        tabs.leaving = undo.pop_all()
    return tabs


async def _close(context: BrowserContext) -> None:
    with suppress(PlaywrightError):
        await context.close()
