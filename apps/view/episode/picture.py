"""What a page looked like: its screenshot, or its elements drawn from their boxes."""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from apps.report.templating import make_environment
from webagent.action import Action
from webagent.action.actions import (
    MouseClick,
    MouseDoubleClick,
    MouseDown,
    MouseDrag,
    MouseMove,
    MouseUp,
    MouseUploadFile,
    ScrollAt,
)
from webagent.policy.past_actions import marks_of
from webagent.records import Node, Observation

TEMPLATES = Path(__file__).with_name("templates")
Box: TypeAlias = tuple[int, int, int, int]
Kind: TypeAlias = Literal["screenshot", "drawn", "none"]
_POINTING = (
    *(MouseClick, MouseDoubleClick, MouseDown, MouseDrag, MouseMove, MouseUp),
    *(MouseUploadFile, ScrollAt),
)
_MOST_SHAPES = 600
"""Elements drawn on one picture; a page with more would be a black square."""
_LEAST_SIZE = (160, 120)
_TAG_WIDTH, _TAG_HEIGHT = 7, 11
"""Units of a mark's tag: a digit's width, and its height."""


@dataclass(frozen=True, slots=True)
class ElementShape:
    """An element's place on the picture, in CSS pixels of the viewport."""

    mark: int
    """0 for text that nothing can be done to."""
    role: str
    text: str
    """What to draw in it where there is no screenshot: its value, else its name."""
    label: str
    """What it is, in words."""
    box: tuple[int, int, int, int]
    """Left, top, width, height."""
    states: tuple[str, ...] = ()
    is_target: bool = False
    """Whether the action was on it."""

    @property
    def tag_width(self) -> int:
        """Width of the tag that has its mark."""
        return _TAG_WIDTH * len(str(self.mark)) + 4

    @property
    def tag_at(self) -> tuple[int, int]:
        """Where the tag begins: above the element where there is room, else in its corner."""
        left, top, _, _ = self.box
        return max(0, left), top - _TAG_HEIGHT if top >= _TAG_HEIGHT else max(0, top)

    @property
    def is_ticked(self) -> bool:
        """Whether a box or button is checked or selected."""
        return bool({"checked", "selected"} & set(self.states))

    @property
    def look(self) -> Literal["tick", "button", "field", "other", ""]:
        """How the element's box is drawn; empty where it is not."""
        if self.role in _TICKS:
            return "tick"
        if self.role in _BUTTONS:
            return "button"
        if self.role in _FIELDS:
            return "field"
        return "other" if self.mark and self.role not in ("link", "text") else ""

    @property
    def writing(self) -> tuple[float, float, list[tuple[float, str]]]:
        """What stands in the element: font size, margin, lines that fit, each with its top."""
        _, _, width, height = self.box
        size = max(_SMALLEST, min(_LARGEST, height * 0.8))
        margin = 0.0 if self.role in ("text", "link") or not self.mark else 4.0
        if self.role in _TICKS and width <= height * 2:
            return size, margin, []  # its label is a line of text beside it
        letters = max(1, int((width - 2 * margin) / (size * _WIDTH_OF_LETTER)))
        most = max(1, int(height / (size * 1.25)))
        lines = textwrap.wrap(self.text, letters)[:most] if most > 1 else [self.text[: letters + 8]]
        first = height / 2 + size * 0.35 - (len(lines) - 1) * size * 0.6
        placed = [(round(first + at * size * 1.2, 2), line) for at, line in enumerate(lines)]
        return round(size, 2), margin, placed


@dataclass(frozen=True, slots=True)
class PagePicture:
    """One page as it can be shown."""

    kind: Kind
    width: int
    height: int
    """CSS pixels of what is shown."""
    shapes: tuple[ElementShape, ...] = ()
    points: tuple[tuple[int, int], ...] = ()
    """Where the action moves the mouse, one point or two."""
    screenshot: str = ""
    """Reference of the image; empty unless `kind` is `screenshot`."""
    note: str = ""
    """A remark on what is missing; empty where nothing is."""

    @property
    def targets(self) -> tuple[ElementShape, ...]:
        """The elements that were acted on."""
        return _once(shape for shape in self.shapes if shape.is_target)

    @property
    def marked(self) -> tuple[ElementShape, ...]:
        """The elements that can be acted on, of those in one place the first."""
        return _once(shape for shape in self.shapes if shape.mark)


def _once(shapes: Iterable[ElementShape]) -> tuple[ElementShape, ...]:
    return tuple({shape.box: shape for shape in reversed(list(shapes))}.values())[::-1]


def picture_of(page: Observation, action: Action | None, *, has_image: bool) -> PagePicture:
    """Return the picture of a page on which this action was taken, if any.

    `has_image` says whether the screenshot that the page names is there. Without one the elements
    are drawn from their boxes, and without boxes there is nothing to draw.
    """
    seen = [node for node in page.nodes if node.box[2] > 0 and node.box[3] > 0]
    width, height = page.viewport
    if width <= 0 or height <= 0:  # not known: as far as elements reach
        right = max((node.box[0] + node.box[2] for node in seen), default=0)
        bottom = max((node.box[1] + node.box[3] for node in seen), default=0)
        width, height = max(right + 8, _LEAST_SIZE[0]), max(bottom + 8, _LEAST_SIZE[1])
    shapes = _place_shapes(seen, width, height, marks_of(action) if action is not None else ())
    kind: Kind = "screenshot" if has_image else "drawn" if shapes else "none"
    points = []
    if isinstance(action, _POINTING):
        points.append((action.x, action.y))
    if isinstance(action, MouseDrag):
        points.append((action.to_x, action.to_y))
    notes = []
    if kind != "screenshot" and page.screenshot:
        notes.append(
            f"The screenshot {page.screenshot[:12]}… is not in the run's images folder; was the"
            " run copied whole?"
        )
    if kind == "drawn":
        notes.append("No screenshot: drawn from the elements' boxes.")
    if kind == "none":
        notes.append("Neither a screenshot nor boxes of elements were kept: there is only text.")
    if left_out := len(shapes[_MOST_SHAPES:]):
        notes.append(f"{left_out:,} more elements are not drawn.")
    return PagePicture(
        kind=kind,
        width=width,
        height=height,
        shapes=tuple(shapes[:_MOST_SHAPES]),
        points=tuple(points),
        screenshot=page.screenshot if has_image else "",
        note=" ".join(notes),
    )


def _place_shapes(
    nodes: list[Node], width: int, height: int, targets: tuple[int, ...]
) -> list[ElementShape]:
    """Return the elements in view that have a place of their own."""
    shapes, taken, written = [], set[Box](), set[tuple[Box, str]]()
    for node in nodes:
        left, top, wide, high = node.box
        is_in_view = left < width and top < height and left + wide > 0 and top + high > 0
        # Options of a closed list have the list's place; a button's words repeat its name there.
        text = node.value or node.name
        is_option = node.role == "option" and node.box in taken
        is_repeated = not node.mark and (node.box, text) in written
        if is_in_view and not is_option and not is_repeated:
            named = f'{node.role} "{node.name}"' if node.name else node.role
            shapes.append(
                ElementShape(
                    mark=node.mark,
                    role=node.role,
                    text=text,
                    label=f"[{node.mark}] {named}" if node.mark else named,
                    box=node.box,
                    states=node.states,
                    is_target=bool(node.mark) and node.mark in targets,
                )
            )
        taken.add(node.box)
        written.add((node.box, text))
    return shapes


_BUTTONS = frozenset(("button", "tab", "menuitem", "switch"))
_FIELDS = frozenset(("textbox", "searchbox", "combobox", "spinbutton", "listbox"))
_TICKS = frozenset(("checkbox", "radio", "menuitemcheckbox", "menuitemradio"))
_LARGEST, _SMALLEST = 13.0, 6.0
"""Font sizes in CSS pixels."""
_WIDTH_OF_LETTER = 0.55
"""Of the font's size, on average."""


def draw_page(picture: PagePicture) -> str:
    """Return an SVG document of the page, with nothing of the page's own but text."""
    return make_environment(TEMPLATES).get_template("drawing.svg").render(picture=picture)
