"""The screenshot cut to the part in which there is something, and where that part lies."""

import io

from webagent.observation.render import render
from webagent.records import Observation

_MARGIN = 8
"""Pixels kept around what is told of: borders, shadows, the focus ring."""


def find_region(observation: Observation, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return left, top, right, bottom of the part of a viewport of this width and height that holds
    every line in view with its surroundings; all of it where no line has a place in view.

    After the information-sensitive cropping of Iris (Ge et al., 2024), with deviations: the places
    are known, so no edges are sought in the picture; one part is cut out; its pixels keep their
    size, so that places in it are places on the page less its corner.
    """
    width, height = size
    boxes = [
        (max(0, left - _MARGIN), max(0, top - _MARGIN), left + w + _MARGIN, top + h + _MARGIN)
        for left, top, w, h in (node.box for node in observation.nodes)
        if w > 0 and h > 0 and left < width and top < height and left + w > 0 and top + h > 0
    ]
    if not boxes:
        return 0, 0, width, height
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), min(width, max(rights)), min(height, max(bottoms))


def crop(image: bytes, observation: Observation) -> bytes:
    """Return the part of the PNG that `find_region` names, as PNG."""
    from PIL import Image  # only those who look at pictures load it

    with Image.open(io.BytesIO(image)) as opened:
        region = find_region(observation, opened.size)
        if region == (0, 0, *opened.size):
            return image
        written = io.BytesIO()
        opened.crop(region).save(written, "PNG")
    return written.getvalue()


def write_cropped(observation: Observation, max_tokens: int = 2000) -> str:
    """Return the lines with their places, below a line that says where the picture begins."""
    left, top, right, bottom = find_region(observation, observation.viewport)
    where = f"picture: the part of the page at {left},{top} size {right - left}x{bottom - top}"
    return f"{where}\n{render(observation, max_tokens - len(where) // 3, boxes=True)}"
