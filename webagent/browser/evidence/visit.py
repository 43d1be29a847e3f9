"""A probe's own page in the agent's session, opened and given time to become what it shows."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from webagent.browser.evidence.missing import Uncaptured
from webagent.browser.evidence.sight import Sight
from webagent.browser.page.clock import RealClock
from webagent.browser.page.tab import Tab
from webagent.browser.tabs import Tabs

_CLOSE_SECONDS = 2.0
_LOAD_SECONDS = 6.0
"""A page that loads for longer is stopped and taken as far as it has come."""
_NO_SUCH_PAGE = (404, 410)
"""These answers say what the task wants to know: that nothing is there."""


@asynccontextmanager
async def visit(
    tabs: Tabs, url: str, own_addresses: Iterable[str], init: str
) -> AsyncIterator[Sight]:
    """The page at an address, in a tab that is closed afterwards; its time is the wall clock's.

    The guard lets the tab get to `own_addresses`' servers. Raises `Uncaptured` where the page
    cannot be opened, `WorldError` when it breaks.
    """
    page = await tabs.blank_page()
    try:
        guarding: AbstractContextManager[list[str]] = nullcontext([])
        if tabs.guard:
            guarding = tabs.guard.probing(page, own_addresses)
        with guarding as refusals:
            yield await _opened(page, url, refusals, init)
    finally:
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await page.close()


async def _opened(page: Page, url: str, refusals: list[str], init: str) -> Sight:
    clock = RealClock()
    tab = await Tab.open(page, clock.script + init, is_blank=True)
    await clock.follow(tab)
    frame = (await tab.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    statuses: list[int] = []

    def hear(event: dict[str, Any]) -> None:
        if event.get("type") == "Document" and event.get("frameId") == frame:
            statuses.append(event["response"]["status"])

    tab.on("Network.responseReceived", hear)
    failure = await tab.goto(url)
    if failure and refusals:
        raise Uncaptured(f"the guard refused {url}: {refusals[-1]}")
    if failure:
        raise Uncaptured(failure)
    with suppress(TimeoutError):
        async with asyncio.timeout(_LOAD_SECONDS):
            await clock.load(tab)
    if tab.loading:
        await tab.stop_loading()
    await clock.settle(tab, 0)
    if statuses and statuses[-1] >= 400 and statuses[-1] not in _NO_SUCH_PAGE:
        raise Uncaptured(f"{url} was answered with status {statuses[-1]}")
    return Sight(tab, stands_still=False)
