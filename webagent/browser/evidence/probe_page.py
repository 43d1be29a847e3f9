"""The page that a probe asks: expressions, source and pictures, in the page's own world."""

import asyncio
import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError

from tasks.task import Json
from webagent.browser.page.clock import run_in_real_time
from webagent.browser.page.tab import Tab
from webagent.browser.pictures import MOST_PIXELS, decode_data_url, to_png
from webagent.errors import WorldError


class Uncaptured(Exception):
    """What was to be captured could not be; the text says why. Ends in the evidence, not above."""


MOST_CHARACTERS = 2_000_000
"""Of a page's source, and of a value as JSON."""
_STILL_SECONDS = 0.3
"""So long a page that stands still may take over an answer before its time is let pass."""


@dataclass(frozen=True, slots=True)
class ProbePage:
    """The page in a tab. Methods raise `Uncaptured` for what cannot be had, `WorldError` when the
    page crashed, was closed or does not answer."""

    tab: Tab
    stands_still: bool
    """Whether the page has a virtual clock, which then passes only while an answer needs it to."""

    async def value(self, script: str) -> Json:
        """Return an expression's value, null where it threw."""
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
        """Return the page as HTML, as it is by now."""
        try:
            source = await self.tab.alive(self.tab.page.content())
        except PlaywrightError as error:
            reason = error.message.splitlines()[0]
            raise Uncaptured(f"its source cannot be read: {reason}") from error
        length = len(source)
        if length > MOST_CHARACTERS:
            raise Uncaptured(f"the source has {length} characters, more than {MOST_CHARACTERS}")
        return source

    async def prepare(self, script: str) -> None:
        """Run statements; what they throw is passed over, as in the published scorers."""
        await self._answer("Runtime.evaluate", expression=script, awaitPromise=True)

    async def evaluate(self, expression: str, **how: Any) -> dict[str, Any]:
        """Return what the browser says of an expression's result; a promise is awaited."""
        return await self._result("Runtime.evaluate", expression=expression, **how)

    async def call(self, function: str, on: str, *given: Any, **how: Any) -> dict[str, Any]:
        """Call a function with an object of the page as its `this`."""
        call = {"functionDeclaration": function, "objectId": on}
        arguments = [{"value": each} for each in given]
        return await self._result("Runtime.callFunctionOn", arguments=arguments, **call, **how)

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
                async with run_in_real_time(self.tab):
                    await asyncio.wait({asking})
            return await asking
        except WorldError as error:
            if "reference chain" in str(error):
                raise Uncaptured("the value is not JSON: it is circular or too deep") from error
            raise
        finally:
            asking.cancel()


MOST_PICTURES = 200
_COLLECT = """async function (mostMs) {
  const isNode = (each) => each && each.nodeType;
  const given = isNode(this) ? [this] : Array.from(this).filter(isNode);
  const all = new Set();
  for (const each of given) {
    if (each.nodeType === Node.ELEMENT_NODE) all.add(each);
    if (each.querySelectorAll) each.querySelectorAll("*").forEach((inner) => all.add(inner));
  }
  const pictures = [];
  for (const element of all) {
    if (element instanceof HTMLImageElement || element.matches("input[type=image]")) {
      pictures.push([element, ""]);
    }
    const background = getComputedStyle(element).backgroundImage;
    for (const [, , url] of background.matchAll(/url\\((["']?)(.*?)\\1\\)/g)) {
      pictures.push([element, url]);
    }
  }
  const images = pictures.map(([element]) => element).filter((each) => each.decode);
  for (const image of images) image.loading = "eager";
  const decoded = Promise.allSettled(images.map((image) => image.decode()));
  await Promise.race([decoded, new Promise((resolve) => setTimeout(resolve, mostMs))]);
  return pictures.filter(([element, url]) => url || !element.decode || element.naturalWidth);
}"""
"""Of an element or a list of them: pairs of an element and, for a background, its address. Pictures
that could not be loaded show nothing and are left out."""
_ADDRESSES = "function () { return this.map(([e, url]) => url || e.currentSrc || e.src); }"
_PLACE = """function (index) {
  const element = this[index][0];
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const box = element.getBoundingClientRect();
  return { x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: box.height };
}"""
_LOADING_MS = 3000


async def collect_pictures(
    sight: ProbePage, script: str, keep: Callable[[bytes], str]
) -> list[Json]:
    """Return references to the pictures, each once and in the order of the page; what is an `<img>`
    or a background in the elements that the script gives, or in the whole page without a script.

    Their bytes are those the page has loaded; where these cannot be had, what is seen of the
    element. Raises `Uncaptured`, or `WorldError` when the page breaks.
    """
    given = await sight.evaluate(script or "document")
    if "objectId" not in given:
        return []
    found = await sight.call(_COLLECT, given["objectId"], _LOADING_MS)
    if "objectId" not in found:
        raise Uncaptured("the script gives no element and no list of elements")
    addresses = (await sight.call(_ADDRESSES, found["objectId"], returnByValue=True))["value"]
    if len(addresses) > MOST_PICTURES:
        raise Uncaptured(f"there are {len(addresses)} pictures, more than {MOST_PICTURES}")
    frame = (await sight.tab.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
    by_address: dict[str, str] = {}
    for index, address in enumerate(addresses):
        if address in by_address:
            continue
        png = to_png(await _read_picture(sight.tab, frame, address))
        if not png:
            answer = await sight.call(_PLACE, found["objectId"], index, returnByValue=True)
            place: dict[str, Any] = answer["value"]
            if not 1 <= place["width"] * place["height"] <= MOST_PIXELS:
                raise Uncaptured(f"picture {index + 1} has neither data nor a visible position")
            shot = await sight.tab.send(
                "Page.captureScreenshot",
                format="png",
                captureBeyondViewport=True,
                clip={**place, "scale": 1},
            )
            png = base64.b64decode(shot["data"])
        by_address[address] = keep(png)
    return list(dict.fromkeys(by_address.values()))


async def _read_picture(tab: Tab, frame: str, address: str) -> bytes:
    """Return the bytes of a picture that the page has loaded; empty where there are none."""
    if address.startswith("data:"):
        return decode_data_url(address)
    try:
        answer = await tab.send("Page.getResourceContent", frameId=frame, url=address)
    except WorldError:
        if tab.is_closed:
            raise
        return b""
    content: str = answer["content"]
    return base64.b64decode(content) if answer["base64Encoded"] else content.encode()
