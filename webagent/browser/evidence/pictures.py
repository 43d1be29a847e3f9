"""The pictures in a page, or in parts of it, as PNG files."""

import base64
import io
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from tasks.task import Json
from webagent.browser.evidence.missing import Uncaptured
from webagent.browser.evidence.sight import Sight
from webagent.browser.page.tab import Tab
from webagent.errors import WorldError

MOST_PICTURES = 200
_MOST_PIXELS = 25_000_000
_MOST_BYTES = 20_000_000
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


async def pictures(sight: Sight, script: str, keep: Callable[[bytes], str]) -> list[Json]:
    """References to the pictures, each once and in the order of the page; what is an `<img>` or a
    background in the elements that the script gives, or in the whole page without a script.

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
        if address not in by_address:
            png = as_png(await _loaded(sight.tab, frame, address))
            by_address[address] = keep(png or await _seen(sight, found["objectId"], index))
    return list(dict.fromkeys(by_address.values()))


async def _loaded(tab: Tab, frame: str, address: str) -> bytes:
    """The bytes of a picture that the page has loaded; nothing where the browser has them not."""
    if address.startswith("data:"):
        head, _, data = address.partition(",")
        raw = unquote_to_bytes(data)
        return base64.b64decode(raw + b"==") if head.endswith(";base64") else raw
    try:
        answer = await tab.send("Page.getResourceContent", frameId=frame, url=address)
    except WorldError:
        if tab.page.is_closed():
            raise
        return b""
    content: str = answer["content"]
    return base64.b64decode(content) if answer["base64Encoded"] else content.encode()


def as_png(image: bytes) -> bytes:
    """The first frame of a picture; nothing of what is none, such as a drawing in SVG."""
    from PIL import Image, UnidentifiedImageError

    if not image or len(image) > _MOST_BYTES:
        return b""
    try:
        with Image.open(io.BytesIO(image)) as opened:
            if opened.width * opened.height > _MOST_PIXELS:
                return b""
            if opened.format == "PNG" and not getattr(opened, "is_animated", False):
                return image
            written = io.BytesIO()
            has_alpha = "A" in opened.getbands() or "transparency" in opened.info
            opened.convert("RGBA" if has_alpha else "RGB").save(written, "PNG")
            return written.getvalue()
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return b""


async def _seen(sight: Sight, pairs: str, index: int) -> bytes:
    answer: dict[str, Any] = await sight.call(_PLACE, pairs, index, returnByValue=True)
    place = answer["value"]
    if not 1 <= place["width"] * place["height"] <= _MOST_PIXELS:
        raise Uncaptured(f"picture {index + 1} has neither bytes nor a place that could be seen")
    shot = await sight.tab.send(
        "Page.captureScreenshot",
        format="png",
        captureBeyondViewport=True,
        clip={**place, "scale": 1},
    )
    return base64.b64decode(shot["data"])
