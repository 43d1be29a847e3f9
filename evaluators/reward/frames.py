"""Key frames: of an episode's screenshots those that show a change, cut down to what changed."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from webagent.errors import StoreError

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels: TypeAlias = NDArray[np.uint8]
Box: TypeAlias = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels."""


@dataclass(frozen=True, slots=True)
class FrameSettings:
    """What counts as a change, and how much of it is kept."""

    patch: int = 14
    """Pixels of a patch's side, as the model cuts pictures into tokens."""
    tolerance: float = 6.0
    """Mean difference of a patch's pixels, of 255, up to which it counts as the same."""
    most: int = 6
    """Frames at most: the first, the last and, in between, those with the largest change."""
    margin: int = 1
    """Patches that are kept around what changed."""
    whole_last: bool = True
    """Show the last page whole, since what was always there may decide, too."""


@dataclass(frozen=True, slots=True)
class KeyFrame:
    """One kept picture."""

    index: int
    """Its place among the screenshots."""
    image: bytes
    """PNG."""
    box: Box
    """Which part of the screenshot it is."""

    @property
    def pixels(self) -> int:
        """How many it has."""
        left, top, right, bottom = self.box
        return (right - left) * (bottom - top)


def select_key_frames(
    screenshots: Sequence[bytes], settings: FrameSettings = FrameSettings()
) -> list[KeyFrame]:
    """Return the frames worth looking at, in order: the first whole, then what changed in others.

    A screenshot that shows no change is dropped, and of the others all but the smallest rectangle
    of patches around the change (after ExeVRM's pruning of regions that stay the same, on pictures
    in place of token masks, so that any image model can read them). A screenshot of another size
    counts as changed throughout. Raises `StoreError` for one that cannot be read.
    """
    pictures = [_read_picture(image, place) for place, image in enumerate(screenshots)]
    pixels = [np.asarray(picture) for picture in pictures]
    side, margin = settings.patch, settings.margin
    found: list[tuple[int, Box, float]] = []
    for index, now in enumerate(pixels):
        height, width = now.shape[:2]
        if not found:
            found.append((index, (0, 0, width, height), 1.0))
            continue
        changed = find_changed_patches(pixels[found[-1][0]], now, settings)
        box = (0, 0, width, height)
        if not (settings.whole_last and index == len(pixels) - 1):
            if not changed.any():
                continue
            rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
            left, right = int(columns[0]) - margin, int(columns[-1]) + 1 + margin
            top, bottom = int(rows[0]) - margin, int(rows[-1]) + 1 + margin
            box = (max(0, left * side), max(0, top * side), right * side, bottom * side)
            box = (box[0], box[1], min(width, box[2]), min(height, box[3]))
        found.append((index, box, float(changed.mean())))
    return [
        KeyFrame(index, _write_png(pictures[index].crop(box)), box)
        for index, box, _ in _choose_frames(found, settings.most)
    ]


def find_changed_patches(before: Pixels, now: Pixels, settings: FrameSettings) -> NDArray[np.bool_]:
    """Return (rows, columns) which patches differ; all of them between pictures of two sizes."""
    side = settings.patch
    rows, columns = -(-now.shape[0] // side), -(-now.shape[1] // side)
    if before.shape != now.shape:
        return np.ones((rows, columns), np.bool_)
    off = np.abs(before.astype(np.int16) - now.astype(np.int16)).max(axis=2)
    room = ((0, rows * side - off.shape[0]), (0, columns * side - off.shape[1]))
    patches = np.pad(off, room).reshape(rows, side, columns, side)
    return np.asarray(patches.mean(axis=(1, 3)) > settings.tolerance)


def count_patches(frames: Sequence[KeyFrame], settings: FrameSettings = FrameSettings()) -> int:
    """Return how many tokens a model that gives each patch one would spend on them."""
    side = settings.patch
    boxes = [frame.box for frame in frames]
    return sum(-(-(r - le) // side) * -(-(b - t) // side) for le, t, r, b in boxes)


def _choose_frames(
    found: Sequence[tuple[int, Box, float]], most: int
) -> list[tuple[int, Box, float]]:
    """Return the first and the last, and those in between with the largest change."""
    if len(found) <= most:
        return list(found)
    between = sorted(found[1:-1], key=lambda each: -each[2])[: max(0, most - 2)]
    ends = [found[0], found[-1]] if most > 1 else [found[-1]]
    return sorted([*ends, *between])


def _read_picture(image: bytes, place: int) -> "Image":
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(io.BytesIO(image)).convert("RGB")
    except (UnidentifiedImageError, OSError) as error:
        raise StoreError(f"screenshot {place} cannot be read as a picture: {error}") from error


def _write_png(picture: "Image") -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
