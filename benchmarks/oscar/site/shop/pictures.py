"""Pictures of products: small from the start, so that they are shown as they are."""

from io import BytesIO
from typing import Any
from zlib import crc32

from oscar.core.thumbnails import AbstractThumbnailer

SIDE = 96
"""CSS pixels."""


class AsItIs(AbstractThumbnailer):
    """A picture is its own thumbnail; nothing is kept and nothing is left behind."""

    def generate_thumbnail(self, source: Any, **options: Any) -> Any:
        """Return the picture itself."""
        return source

    def delete_thumbnails(self, source: Any) -> None:
        """Nothing to do."""


def draw(title: str, colour: str) -> bytes:
    """Return a PNG: a shape of its own for each title, in the product's colour."""
    from PIL import Image, ImageDraw

    number = crc32(title.encode())
    picture = Image.new("P", (SIDE, SIDE), 0)
    picture.putpalette([244, 241, 234, *_RGB[colour], 60, 60, 60])
    brush = ImageDraw.Draw(picture)
    inset = 14 + number % 10
    box = (inset, inset, SIDE - inset, SIDE - inset)
    if number % 3 == 0:
        brush.ellipse(box, fill=1, outline=2)
    elif number % 3 == 1:
        brush.rectangle(box, fill=1, outline=2)
    else:
        corners = 3 + number // 7 % 5
        brush.regular_polygon((SIDE // 2, SIDE // 2, SIDE // 2 - inset), corners, fill=1, outline=2)
    stored = BytesIO()
    picture.save(stored, "PNG", optimize=True)
    return stored.getvalue()


_RGB = {
    "black": (30, 30, 30),
    "blue": (58, 96, 168),
    "cream": (236, 222, 180),
    "green": (74, 132, 84),
    "grey": (140, 140, 140),
    "orange": (222, 132, 48),
    "red": (186, 58, 52),
    "white": (252, 252, 252),
    "yellow": (228, 200, 64),
}
