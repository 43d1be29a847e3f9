"""The dialogs that a page opens: dismissed at once, or held open for the agent to answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Dialog, Page
from playwright.async_api import Error as PlaywrightError

from webagent.errors import WorldError

DIALOG_SECONDS = 5.0
"""How long the browser may take to close a dialog."""


class DialogWaits(WorldError):
    """A dialog is open: until it is answered the page's scripts stand still and answer nothing."""


class Dialogs:
    """The dialogs of one tab. By default Playwright dismisses each as it comes."""

    def __init__(self, page: Page) -> None:
        self.open: Dialog | None = None
        self.waiting = self._fresh()
        """Done while a dialog is open."""
        self.are_held = False
        self._page = page

    def hold(self) -> None:
        """From here on dialogs stay open until they are answered."""
        if not self.are_held:
            self.are_held = True
            self._page.on("dialog", self._opened)

    @asynccontextmanager
    async def let_go(self) -> AsyncIterator[None]:
        """Meanwhile dialogs are dismissed as they come, and so is one that is open."""
        was_held, self.are_held = self.are_held, False
        if was_held:
            self._page.remove_listener("dialog", self._opened)
        if self.open is not None:
            await self.answer(accept=False)
        try:
            yield
        finally:
            if was_held:
                self.hold()

    def said(self) -> str:
        """What the open dialog says, and how it is answered; nothing when none is open."""
        if self.open is None:
            return ""
        return said_of(self.open.type, self.open.message, self.open.default_value)

    async def answer(self, accept: bool, text: str = "") -> str:
        """Close the open dialog; the reason when there is none."""
        dialog = self.open
        if dialog is None:
            return "no dialog is open"
        self.closed()
        try:
            async with asyncio.timeout(DIALOG_SECONDS):
                if accept and dialog.type == "prompt":
                    await dialog.accept(text or dialog.default_value)
                else:
                    await (dialog.accept() if accept else dialog.dismiss())
        except PlaywrightError as error:
            return f"the dialog was gone already ({error.message.splitlines()[0]})"
        except TimeoutError as error:
            raise WorldError("the browser does not close its dialog") from error
        return ""

    def closed(self) -> None:
        """The dialog is gone, answered or with its page."""
        self.open = None
        if self.waiting.done():
            self.waiting = self._fresh()

    def _opened(self, dialog: Dialog) -> None:
        self.open = dialog
        if not self.waiting.done():
            self.waiting.set_result(None)

    def _fresh(self) -> "asyncio.Future[None]":
        return asyncio.get_running_loop().create_future()


def said_of(kind: str, message: str, filled_in: str) -> str:
    """A dialog in words."""
    asks = f"the page opened a dialog ({kind})"
    if kind == "beforeunload":
        return f"{asks}: leave this page and lose what was not saved?"
    given = f", with {filled_in!r} filled in" if filled_in else ""
    return f"{asks}: {message}{given}"
