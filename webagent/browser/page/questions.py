"""What a page is asked: our functions in its isolated world, expressions in its own."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from webagent.browser.page.line import ANSWER_SECONDS, Line
from webagent.browser.page.scripts import ISOLATED_WORLD
from webagent.errors import WorldError

_LOST_CONTEXT = (
    "Cannot find context",
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "uniqueContextId not found",
)
_NODES_BY_NUMBER = {
    "serialization": "deep",
    "maxDepth": 1,
    "additionalParameters": {"maxNodeDepth": 0, "includeShadowTree": "none"},
}
"""Elements are answered with their backend node ids, and without what is in them."""
_REPLACED_SECONDS = 2.0
"""How long the page after one that is being replaced may take to begin."""


class Questions:
    """Asks the top document of a page, whichever document that is by then."""

    def __init__(self, page: Page, line: Line) -> None:
        self.context: int | None = None
        """Our isolated world in the document, by the browser's number; None before the first."""
        self._page = page
        self._line = line
        self._is_ready = asyncio.Event()

    def created(self, context: Mapping[str, Any]) -> None:
        """An execution context has begun in the top document."""
        if context["name"] == ISOLATED_WORLD:
            self.context = context["id"]
            self._is_ready.set()

    def cleared(self) -> None:
        """The document is gone, and the next one has not begun."""
        self._is_ready.clear()

    async def evaluate(self, expression: str) -> Any:
        """The JSON value of an expression in the page's own world; of the next page's, where this
        one is just being replaced. Errors of the page are values of their own: `WorldError` says
        what the page threw."""
        answer = await self._evaluate(expression)
        if answer is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_REPLACED_SECONDS):
                    await self._line.alive(self._is_ready.wait())
            answer = await self._evaluate(expression)
        if answer is None:
            raise WorldError(f"the page was replaced time and again on {expression[:80]!r}")
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            thrown = details.get("exception", {}).get("description", details.get("text", ""))
            raise WorldError(f"the page threw {thrown[:300]!r} on {expression[:80]!r}")
        return answer["result"].get("value")

    async def ask(self, function: str, *arguments: Any) -> Any:
        """Call one of our own functions in the isolated world; waits out navigations."""
        return (await self._ask(_call(function, arguments), returnByValue=True)).get("value")

    async def ask_for_elements(self, function: str, *arguments: Any) -> tuple[str, list[int]]:
        """As `ask`, of a function that answers with a text and elements after it: the text, and the
        browser's own numbers for the elements (backend node ids)."""
        answer = await self._ask(_call(function, arguments), serializationOptions=_NODES_BY_NUMBER)
        text, *nodes = answer["deepSerializedValue"]["value"]
        return text["value"], [node["value"]["backendNodeId"] for node in nodes]

    async def ask_now(self, function: str, *arguments: Any) -> Any:
        """As `ask`, but None where the page is just being replaced."""
        answer = await self._try(_call(function, arguments), returnByValue=True)
        return answer.get("value") if answer is not None else None

    async def _evaluate(self, expression: str) -> dict[str, Any] | None:
        """The browser's answer; None where the page was replaced meanwhile."""
        try:
            return await self._line.send(
                "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
            )
        except WorldError as error:
            if self._page.is_closed() or not _has_lost_context(str(error)):
                raise
            return None

    async def _ask(self, call: str, **how: Any) -> dict[str, Any]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                while True:
                    await self._line.alive(self._is_ready.wait())
                    answer = await self._try(call, **how)
                    if answer is not None:
                        return answer
        except TimeoutError as error:
            raise WorldError(f"the page at {self._page.url} does not answer") from error

    async def _try(self, call: str, **how: Any) -> dict[str, Any] | None:
        context = self.context
        where = {"expression": call, "contextId": context, "awaitPromise": True, **how}
        try:
            answer = await self._line.alive(self._line.cdp.send("Runtime.evaluate", where))
        except PlaywrightError as error:
            if not _has_lost_context(error.message):
                raise WorldError(f"the browser failed: {error.message.splitlines()[0]}") from error
            if self.context == context:
                self._is_ready.clear()
            return None
        if "exceptionDetails" in answer:
            raise WorldError(f"our script failed on {call}: {answer['exceptionDetails']}")
        result: dict[str, Any] = answer["result"]
        return result


def _has_lost_context(message: str) -> bool:
    return any(phrase in message for phrase in _LOST_CONTEXT)


def _call(function: str, arguments: tuple[Any, ...]) -> str:
    return f"webagent.{function}({', '.join(json.dumps(each) for each in arguments)})"
