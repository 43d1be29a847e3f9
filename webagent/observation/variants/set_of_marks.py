"""A screenshot with a numbered box around everything in view that can be acted on."""

import io
import math
from itertools import cycle

from webagent.observation.render import cut_to_tokens, render_node
from webagent.records import Node, Observation

_COLOURS = (
    *((214, 39, 40), (31, 119, 180), (44, 120, 44), (148, 66, 189), (170, 85, 0)),
    *((200, 30, 130), (0, 110, 120), (90, 90, 20)),
)
"""Dark enough for white figures; neighbours differ."""
_WHITE = (255, 255, 255)
_FONT_SIZE = 11
_PADDING = 2
_ROOMY = 8
"""An element so many times as large as its label may have it inside."""
_COVERING_A_LABEL = 100.0
"""What a covered pixel of another label costs against one of an element."""
_Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""


def draw_marks(image: bytes, observation: Observation) -> bytes:
    """Return the PNG with boxes and numbers. Labels stand where they hide least: beside their
    element where there is room, inside only of large ones."""
    from PIL import Image, ImageDraw, ImageFont  # only those who look at pictures load it

    with Image.open(io.BytesIO(image)) as opened:
        picture = opened.convert("RGB")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(_FONT_SIZE)
    nodes = in_view(observation, picture.size)
    boxes = [_within(node, picture.size) for node in nodes]
    labels: list[_Box] = []
    for node, box, colour in zip(nodes, boxes, cycle(_COLOURS), strict=False):
        draw.rectangle((box[0] - 1, box[1] - 1, box[2] + 1, box[3] + 1), outline=_WHITE)
        draw.rectangle(box, outline=colour)
        size = draw.textbbox((0, 0), str(node.mark), font=font)
        text = (size[2], size[3])
        width, height = text[0] + 2 * _PADDING, text[1] + _PADDING
        left, top, right, bottom = box
        middle = (top + bottom - height) / 2
        # Above, before, after and below the element, at its ends and its middle.
        corners = (
            *((left, top - height), (right - width, top - height), (left - width, top)),
            *((left - width, middle), (right, top), (right, middle)),
            *((left, bottom), (right - width, bottom)),
        )
        places = [
            (x, y, x + width, y + height)
            for x, y in corners
            if x >= 0 and y >= 0 and x + width < picture.size[0] and y + height < picture.size[1]
        ]
        if _area(box) >= _ROOMY * width * height or not places:
            # Inside its corner, pushed into the picture.
            dx = min(0.0, picture.size[0] - 1 - left - width) - min(0.0, left)
            dy = min(0.0, picture.size[1] - 1 - top - height) - min(0.0, top)
            places.append((left + dx, top + dy, left + width + dx, top + height + dy))

        def cost(place: _Box) -> float:
            hidden = sum(
                _shared(place, other) / math.sqrt(max(1.0, _area(other))) for other in boxes
            )
            return hidden + _COVERING_A_LABEL * sum(_shared(place, other) for other in labels)

        label = min(places, key=cost)
        labels.append(label)
        draw.rectangle(label, fill=colour, outline=_WHITE)
        draw.text((label[0] + _PADDING, label[1] + _PADDING - 1), str(node.mark), _WHITE, font)
    written = io.BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


def list_marks(observation: Observation, max_tokens: int = 2000) -> str:
    """Return the numbered elements as lines, without the text that the picture shows."""
    lines = [render_node(node).strip() for node in observation.nodes if node.mark]
    return cut_to_tokens(lines, max_tokens)


def in_view(observation: Observation, size: tuple[int, int]) -> list[Node]:
    """Return the elements with a place of their own in a viewport of this width and height.

    Where the observation has captured which marks are in view, only those: a box does not tell
    whether a scrolled container cuts it off.
    """
    known = {int(mark) for mark in observation.captured.split()}
    return [
        node
        for node in observation.nodes
        if node.mark and node.kind != "option" and _area(_within(node, size)) > 0
        if not known or node.mark in known
    ]


def _within(node: Node, size: tuple[int, int]) -> _Box:
    left, top, width, height = node.box
    right, bottom = min(size[0] - 1, left + width), min(size[1] - 1, top + height)
    return (max(0, left), max(0, top), right, bottom)


def _area(box: _Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _shared(a: _Box, b: _Box) -> float:
    return _area((max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])))
