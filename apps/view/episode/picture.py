"""What a page looked like: its screenshot or its drawn elements, with their marks and the deed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

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
class Shape:
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


@dataclass(frozen=True, slots=True)
class Picture:
    """One page as it can be shown."""

    kind: Kind
    width: int
    height: int
    """CSS pixels of what is shown."""
    shapes: tuple[Shape, ...] = ()
    points: tuple[tuple[int, int], ...] = ()
    """Where a mouse was told to go, one point or two."""
    screenshot: str = ""
    """Reference of the image; empty unless `kind` is `screenshot`."""
    note: str = ""
    """What whoever looks has to know of it; empty where nothing is amiss."""

    @property
    def targets(self) -> tuple[Shape, ...]:
        """The elements that were acted on."""
        return tuple(shape for shape in self.shapes if shape.is_target)

    @property
    def marked(self) -> tuple[Shape, ...]:
        """The elements that can be acted on."""
        return tuple(shape for shape in self.shapes if shape.mark)


def picture_of(page: Observation, action: Action | None, *, has_image: bool) -> Picture:
    """The picture of a page on which this action was taken, if any.

    `has_image` says whether the screenshot that the page names is there. Without one the elements
    are drawn from their boxes, and without boxes there is nothing to draw.
    """
    targets = marks_of(action) if action is not None else ()
    seen = [node for node in page.nodes if node.box[2] > 0 and node.box[3] > 0]
    width, height = _size(page, seen)
    inside = [node for node in _apart(seen) if _is_in_view(node, width, height)]
    shapes = tuple(_shape(node, targets) for node in inside[:_MOST_SHAPES])
    kind: Kind = "screenshot" if has_image else "drawn" if shapes else "none"
    return Picture(
        kind=kind,
        width=width,
        height=height,
        shapes=shapes,
        points=tuple(_points(action)),
        screenshot=page.screenshot if has_image else "",
        note=_note(page, kind, len(inside) - len(shapes)),
    )


def _size(page: Observation, seen: list[Node]) -> tuple[int, int]:
    """The viewport; where it is not known, as far as elements reach."""
    if page.viewport[0] > 0 and page.viewport[1] > 0:
        return page.viewport
    right = max((node.box[0] + node.box[2] for node in seen), default=0)
    bottom = max((node.box[1] + node.box[3] for node in seen), default=0)
    return max(right + 8, _LEAST_SIZE[0]), max(bottom + 8, _LEAST_SIZE[1])


def _apart(nodes: list[Node]) -> Iterator[Node]:
    """Those with a place of their own: options of a closed list have the list's."""
    taken: set[tuple[int, int, int, int]] = set()
    for node in nodes:
        if node.role != "option" or node.box not in taken:
            yield node
        taken.add(node.box)


def _is_in_view(node: Node, width: int, height: int) -> bool:
    left, top, wide, high = node.box
    return left < width and top < height and left + wide > 0 and top + high > 0


def _shape(node: Node, targets: tuple[int, ...]) -> Shape:
    named = f'{node.role} "{node.name}"' if node.name else node.role
    return Shape(
        mark=node.mark,
        role=node.role,
        text=node.value or node.name,
        label=f"[{node.mark}] {named}" if node.mark else named,
        box=node.box,
        states=node.states,
        is_target=bool(node.mark) and node.mark in targets,
    )


def _points(action: Action | None) -> Iterator[tuple[int, int]]:
    if isinstance(action, _POINTING):
        yield action.x, action.y
    if isinstance(action, MouseDrag):
        yield action.to_x, action.to_y


def _note(page: Observation, kind: Kind, left_out: int) -> str:
    """What is said below the picture."""
    said = []
    if kind != "screenshot" and page.screenshot:
        said.append(
            f"The screenshot {page.screenshot[:12]}… is not in the run's images folder; was the"
            " run copied whole?"
        )
    if kind == "drawn":
        said.append("No screenshot: drawn from the elements' boxes.")
    if kind == "none":
        said.append("Neither a screenshot nor boxes of elements were kept: there is only text.")
    if left_out > 0:
        said.append(f"{left_out:,} more elements are not drawn.")
    return " ".join(said)
