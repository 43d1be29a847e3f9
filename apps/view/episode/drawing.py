"""A page drawn from the boxes of its elements, where no screenshot was kept."""

import textwrap

from apps.report.markup import Markup, tag
from apps.view.episode.picture import Picture, Shape

_INK, _SOFT, _LINK, _FIELD, _BUTTON = "#1c1b19", "#55534e", "#0b57a4", "#ffffff", "#e9e7e1"
_BUTTONS = frozenset(("button", "tab", "menuitem", "switch"))
_FIELDS = frozenset(("textbox", "searchbox", "combobox", "spinbutton", "listbox"))
_TICKS = frozenset(("checkbox", "radio", "menuitemcheckbox", "menuitemradio"))
_FONT = "system-ui, sans-serif"
_LARGEST, _SMALLEST = 13.0, 6.0
"""Font sizes in CSS pixels."""
_WIDTH_OF_LETTER = 0.55
"""Of the font's size, on average."""


def drawn(picture: Picture) -> Markup:
    """An SVG document of the page, with nothing of the page's own but text."""
    size = f"0 0 {picture.width} {picture.height}"
    paper = tag("rect", width="100%", height="100%", fill="#ffffff")
    shapes = [_element(shape) for shape in picture.shapes]
    return tag(
        "svg",
        paper,
        shapes,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=size,
        width=picture.width,
        height=picture.height,
        font_family=_FONT,
    )


def _element(shape: Shape) -> Markup:
    left, top, width, height = shape.box
    inside = [*_outline(shape), *_writing(shape)]
    return tag("svg", inside, x=left, y=top, width=width, height=height)


def _outline(shape: Shape) -> list[Markup]:
    """The box of the element in the way its role looks."""
    _, _, width, height = shape.box
    frame: dict[str, str | float] = {
        "x": 0.5,
        "y": 0.5,
        "width": max(0, width - 1),
        "height": max(0, height - 1),
        "stroke": "#8d8a82",
    }
    if shape.role in _TICKS:
        return [_tick(shape, min(width, height, 13))]
    if shape.role in _BUTTONS:
        return [tag("rect", **frame, rx=3, fill=_BUTTON)]
    if shape.role in _FIELDS:
        return [tag("rect", **frame, fill=_FIELD)]
    if shape.mark and shape.role not in ("link", "text"):
        return [tag("rect", **frame, fill="none", stroke_dasharray="3 2")]
    return []


def _tick(shape: Shape, side: int) -> Markup:
    fill = _LINK if shape.is_ticked else _FIELD
    corner = side if shape.role.endswith("radio") else 2
    return tag(
        "rect", x=0.5, y=0.5, width=side - 1, height=side - 1, rx=corner, fill=fill, stroke=_SOFT
    )


def _writing(shape: Shape) -> list[Markup]:
    """What stands in the element, in as many lines as fit."""
    _, _, width, height = shape.box
    if shape.role in _TICKS and width <= height * 2:
        return []  # its label is a line of text beside it
    size = max(_SMALLEST, min(_LARGEST, height * 0.8))
    margin = 0 if shape.role in ("text", "link") or not shape.mark else 4
    letters = max(1, int((width - 2 * margin) / (size * _WIDTH_OF_LETTER)))
    most = max(1, int(height / (size * 1.25)))
    lines = textwrap.wrap(shape.text, letters)[:most] if most > 1 else [shape.text[: letters + 8]]
    first = height / 2 + size * 0.35 - (len(lines) - 1) * size * 0.6
    style = {"fill": _LINK, "text_decoration": "underline"} if shape.role == "link" else {}
    return [
        tag(
            "text",
            line,
            x=margin,
            y=first + number * size * 1.2,
            font_size=size,
            **{"fill": _INK, **style},
        )
        for number, line in enumerate(lines)
    ]
