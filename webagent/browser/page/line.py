"""One line to the browser, on which every question ends: answered, or failed for a reason."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from webagent.browser.page.dialogs import Dialogs, DialogWaits
from webagent.errors import WorldError

ANSWER_SECONDS = 15.0
"""How long the browser may take over one question before the page counts as hung."""
_Result = TypeVar("_Result")


class Line:
    """A page's session of the DevTools protocol, for as long as the page lives.

    Every method that waits raises `WorldError` when the page crashed, was closed or does not
    answer, and `DialogWaits` while one of its dialogs is open.
    """

    def __init__(self, page: Page, cdp: CDPSession, dialogs: Dialogs) -> None:
        self.cdp = cdp
        self._page = page
        self._dialogs = dialogs
        self._dead: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        page.on("crash", lambda _: self._die("the page crashed"))
        page.on("close", lambda _: self._die("the page was closed"))

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol."""
        async with world_failures():
            answer: dict[str, Any] = await self.alive(self.cdp.send(method, params))
        return answer

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        """Be told about an event of the protocol."""
        self.cdp.on(event, handler)

    async def alive(self, work: Awaitable[_Result]) -> _Result:
        """The result of the work, unless the page dies or hangs first."""
        task = asyncio.ensure_future(work)
        both: set[asyncio.Future[Any]] = {task, self._dead, self._dialogs.waiting}
        try:
            await asyncio.wait(both, timeout=ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if self._dead.done():
                raise WorldError(self._dead.result())
            if self._dialogs.open is not None:
                raise DialogWaits(self._dialogs.said())
            raise WorldError(f"the page at {self._page.url} gave no answer in {ANSWER_SECONDS:g} s")
        finally:
            task.cancel()

    def _die(self, reason: str) -> None:
        if not self._dead.done():
            self._dead.set_result(reason)


@asynccontextmanager
async def world_failures() -> AsyncIterator[None]:
    """Whatever the browser throws at us, as the one error that says the world failed."""
    try:
        yield
    except PlaywrightError as error:
        raise WorldError(f"the browser failed: {error.message.splitlines()[0]}") from error
    except TimeoutError as error:
        raise WorldError("the browser did not answer in time") from error
