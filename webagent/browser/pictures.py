"""The pictures that belong to tasks' goals: fetched once, kept by content, found by their names."""

import asyncio
import base64
import io
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from tasks.task import Task
from webagent.browser.sessions.traffic import RecordedRequest, read_replay
from webagent.errors import WorldError, check_package
from webagent.store.database import ImageStore

_SECONDS = 30.0
_MOST_BYTES = 20_000_000
MOST_PIXELS = 25_000_000
_AT_ONCE = 8
_PNG = b"\x89PNG\r\n\x1a\n"
_ANIMATION = b"acTL"
"""The chunk that makes a PNG move."""


class GoalPictures:
    """An image store that also knows goal pictures, by the path or address that the task gives."""

    def __init__(
        self,
        images: ImageStore,
        folders: Sequence[Path] = (),
        har: Path | None = None,
        refuses: Callable[[str], str] = lambda address: "",
    ) -> None:
        """Paths are looked for in the folders; a recording answers in place of the network;
        `refuses` says why an address may not be asked, nothing where it may."""
        self.missing: dict[str, str] = {}
        """Pictures that could not be got, each with the reason."""
        self._images = images
        self._folders = folders
        self._har = har
        self._refuses = refuses
        self._kept: dict[str, str] = {}

    def get(self, reference: str) -> bytes:
        """Return an image by its reference, or a goal's by its name. Raises `StoreError`."""
        return self._images.get(self._kept.get(reference, reference))

    def add(self, image: bytes) -> str:
        """Keep an image; return its reference."""
        return self._images.add(image)

    async def fetch(self, tasks: Iterable[Task]) -> None:
        """Get the pictures of these tasks, each once; what cannot be got is in `missing`."""
        names = dict.fromkeys(name for task in tasks for name in task.images)
        places = asyncio.Semaphore(_AT_ONCE)

        async def one(name: str) -> None:
            async with places:
                image, reason = await asyncio.to_thread(self._read, name)
                png = to_png(image) if image else b""
            if png:
                self._kept[name] = self._images.add(png)
            else:
                self.missing[name] = reason or "it is no picture that can be read"

        await asyncio.gather(*(one(name) for name in names if name not in self._kept))

    def need(self, task: Task) -> None:
        """Raise `WorldError` for a task whose pictures are not all there."""
        for name in task.images:
            if name not in self._kept:
                reason = self.missing.get(name, "it was not fetched")
                raise WorldError(f"the goal's picture {name:.200} is not there: {reason}")

    def _read(self, name: str) -> tuple[bytes, str]:
        """Return the bytes, or why there are none."""
        scheme = urlsplit(name).scheme
        if scheme == "data":
            return decode_data_url(name), ""
        if scheme in ("http", "https"):
            return self._download(name)
        for folder in self._folders:
            if (file := folder / name).is_file():
                try:
                    return file.read_bytes(), ""
                except OSError as error:
                    return b"", f"{file} cannot be read: {error.strerror}"
        looked = ", ".join(map(str, self._folders)) or "no folder, as --files names none"
        return b"", f"there is no such file; looked in {looked}"

    def _download(self, address: str) -> tuple[bytes, str]:
        if reason := self._refuses(address):
            return b"", f"the guard refuses {address}: {reason}"
        if self._har is not None:
            answer = read_replay(self._har).answer(RecordedRequest.of("GET", address, b"", ""))
            is_found = answer is not None and answer.status < 400
            return (answer.body, "") if answer and is_found else (b"", f"not in {self._har}")
        request = urllib.request.Request(address, headers={"User-Agent": "webagent"})
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as response:
                return response.read(_MOST_BYTES), ""
        except (OSError, ValueError) as error:
            return b"", f"{address} cannot be fetched: {error}"


def decode_data_url(address: str) -> bytes:
    """Return the bytes in a `data:` address; empty where they cannot be read."""
    head, _, data = address.partition(",")
    raw = unquote_to_bytes(data)
    try:
        return base64.b64decode(raw + b"==") if head.endswith(";base64") else raw
    except ValueError:
        return b""


def to_png(image: bytes) -> bytes:
    """Return the first frame of a picture; nothing of what is none, such as a drawing in SVG.
    Raises `SetupError` where only Pillow could read it, and it is not installed."""
    if not image or len(image) > _MOST_BYTES:
        return b""
    if image.startswith(_PNG) and _ANIMATION not in image:
        width, height = (int.from_bytes(image[at : at + 4]) for at in (16, 20))
        return image if 0 < width * height <= MOST_PIXELS else b""
    check_package("PIL", "a picture that is no PNG")
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(image)) as opened:
            if opened.width * opened.height > MOST_PIXELS:
                return b""
            written = io.BytesIO()
            has_alpha = "A" in opened.getbands() or "transparency" in opened.info
            opened.convert("RGBA" if has_alpha else "RGB").save(written, "PNG")
            return written.getvalue()
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return b""
