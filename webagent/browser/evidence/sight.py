"""A page as a probe sees it: it is asked in its own world, and its time passes if it must."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError

from tasks.task import Json
from webagent.browser.evidence.missing import Uncaptured
from webagent.browser.page.clock import in_step
from webagent.browser.page.tab import Tab
from webagent.errors import WorldError

MOST_CHARACTERS = 2_000_000
"""Of a page's source, and of a value as JSON."""
_STILL_SECONDS = 0.3
"""So long a page that stands still may take over an answer before its time is let pass."""


@dataclass(frozen=True, slots=True)
class Sight:
    """The page in a tab. Methods raise `Uncaptured` for what cannot be had, `WorldError` when the
    page crashed, was closed or does not answer."""

    tab: Tab
    stands_still: bool
    """Whether the page has a virtual clock, which then passes only while an answer needs it to."""

    async def value(self, script: str) -> Json:
        """An expression's value, null where it threw."""
        answer = await self.evaluate(
            f"(() => {{ try {{ return (\n{script}\n); }} catch (error) {{ return null; }} }})()",
            returnByValue=True,
        )
        value: Json = answer.get("value")
        length = len(json.dumps(value))
        if length > MOST_CHARACTERS:
            raise Uncaptured(f"the value has {length} characters, more than {MOST_CHARACTERS}")
        return value

    async def source(self) -> str:
        """The page as HTML, as it is by now."""
        try:
            source = await self.tab.alive(self.tab.page.content())
        except PlaywrightError as error:
            raise Uncaptured(
                f"its source cannot be had: {error.message.splitlines()[0]}"
            ) from error
        if len(source) > MOST_CHARACTERS:
            raise Uncaptured(
                f"the source has {len(source)} characters, more than {MOST_CHARACTERS}"
            )
        return source

    async def prepare(self, script: str) -> None:
        """Run statements; what they throw is passed over, as in the published scorers."""
        await self._answer("Runtime.evaluate", expression=script, awaitPromise=True)

    async def evaluate(self, expression: str, **how: Any) -> dict[str, Any]:
        """What the browser says of an expression's result; a promise is awaited."""
        return await self._result("Runtime.evaluate", expression=expression, **how)

    async def call(self, function: str, on: str, *given: Any, **how: Any) -> dict[str, Any]:
        """Call a function with an object of the page as its `this`."""
        arguments = [{"value": each} for each in given]
        return await self._result(
            "Runtime.callFunctionOn",
            functionDeclaration=function,
            objectId=on,
            arguments=arguments,
            **how,
        )

    async def _result(self, method: str, **how: Any) -> dict[str, Any]:
        answer = await self._answer(method, awaitPromise=True, **how)
        details = answer.get("exceptionDetails")
        if details is None:
            result: dict[str, Any] = answer["result"]
            return result
        if "in promise" in str(details.get("text", "")):
            return {}
        thrown = details.get("exception", {}).get("description", details.get("text", ""))
        raise Uncaptured(f"the script cannot be run: {str(thrown).splitlines()[0][:200]}")

    async def _answer(self, method: str, **how: Any) -> dict[str, Any]:
        asking = asyncio.ensure_future(self.tab.send(method, **how))
        try:
            if self.stands_still:
                await asyncio.wait({asking}, timeout=_STILL_SECONDS)
            if self.stands_still and not asking.done():
                async with in_step(self.tab):
                    await asyncio.wait({asking})
            return await asking
        except WorldError as error:
            if "reference chain" in str(error):
                raise Uncaptured("the value is no JSON: an object that leads on and on") from error
            raise
        finally:
            asking.cancel()
