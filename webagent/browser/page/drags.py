"""The native drags that the browser takes out of the mouse's hand."""

import asyncio
from typing import Any

from webagent.browser.page.line import Line

DRAG_SECONDS = 2.0
"""How long the browser may take to hand over a native drag."""


class Drags:
    """What is being dragged on one page, once the page has let a native drag begin."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._taken: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def intercept(self) -> None:
        """Have the browser hand native drags over from here on."""
        self._line.on("Input.dragIntercepted", lambda event: self._taken.put_nowait(event["data"]))
        await self._line.send("Input.setInterceptDrags", enabled=True)

    @property
    def has_begun(self) -> bool:
        """Whether the browser has taken a native drag out of the mouse's hand."""
        return not self._taken.empty()

    async def data(self) -> dict[str, Any] | None:
        """What the drag that has just begun carries; None when the browser says nothing."""
        try:
            async with asyncio.timeout(DRAG_SECONDS):
                return await self._line.alive(self._taken.get())
        except TimeoutError:
            return None

    def forget(self) -> None:
        """What was dragged before and never dropped is no part of the next drag."""
        while self.has_begun:
            self._taken.get_nowait()
