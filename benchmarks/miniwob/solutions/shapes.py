"""Oracles for drawn shapes and colours: find those that fit a description."""

from dataclasses import dataclass

from benchmarks.miniwob.solutions.words import SAME_COLOR
from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import View
from webagent.action import Action
from webagent.action.actions import Click
from webagent.records import Node

_SIZES = ("small", "medium", "large")
_SHAPES = ("circle", "rectangle", "triangle")
_LARGE = 15
"""Sides from here on, in CSS pixels, are what these pages call large."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A drawn figure as people describe it."""

    size: str
    color: str
    figure: str
    """`circle`, `rectangle`, `triangle`, or the letter or digit itself."""

    @property
    def kind(self) -> str:
        """`shape`, `letter` or `digit`."""
        if self.figure in _SHAPES:
            return "shape"
        return "digit" if self.figure.isdigit() else "letter"

    def fits(self, description: str) -> bool:
        """Whether `large red item`, `small k` or `blue shape` is true of it."""
        *words, figure = description.split(" ")
        sizes = [word for word in words if word in _SIZES]
        colors = [_plain(word) for word in words if word not in _SIZES]
        return (
            figure in ("item", self.kind, self.figure)
            and sizes in ([], [self.size])
            and colors in ([], [self.color])
        )


def shape_of(node: Node) -> Shape | None:
    """The figure a line tells of, as `large red circle`; None for other lines."""
    if not node.kind.startswith("svg:"):
        return None
    words = [word for word in node.name.split() if word not in _SIZES]
    size = "large" if max(node.box[2:]) >= _LARGE else "small"
    return Shape(size, _plain(words[0]) if len(words) > 1 else "", words[-1])


@oracle("click-shape")
def click_shape(view: View) -> Action:
    """`Click on a small blue letter`: the first that fits."""
    description = view.read_one(r"Click on a (.+)$")
    fitting = [node for node in view.all() if _fits(node, description)]
    return Click(view.first(fitting, f"a {description}").mark)


@oracle("count-shape")
def count_shapes(view: View) -> Action:
    """`How many large items are there?`: press the button with the number."""
    description = view.read_one(r"How many (.+)s are there")
    count = sum(_fits(node, description) for node in view.page.nodes)
    return Click(view.find("button", name=str(count)).mark)


@oracle("identify-shape")
def identify_shape(view: View) -> Action:
    """`Click the button that best describes the figure below.`"""
    shapes = filter(None, map(shape_of, view.page.nodes))
    shape = next(shapes)
    word = {"shape": shape.figure.capitalize(), "digit": "Number", "letter": "Letter"}[shape.kind]
    return Click(view.find("button", name=word).mark)


@oracle("click-color")
def click_color(view: View) -> Action:
    """`Click on the red colored box.`"""
    color = view.read_one(r"Click on the (\w+) colored box")
    boxes = [node for node in view.all() if _plain(node.name.split(" ")[0]) == _plain(color)]
    return Click(view.first(boxes, f"a {color} box").mark)


@oracle("click-shades")
def click_shades(view: View) -> Action:
    """`Select all the shades of green and press Submit.`: in page order."""
    hue = view.read_one(r"shades of (\w+)")
    shades = [node for node in view.all() if hue in node.name.split()]
    submit = view.find("button", name="Submit")
    return view.next_of(*(Click(shade.mark) for shade in shades), Click(submit.mark))


@oracle("grid-coordinate")
def click_coordinate(view: View) -> Action:
    """`Click on the grid coordinate (-2,1).`: the axes cross in the middle of 5 by 5 points."""
    x, y = map(int, view.read(r"\((-?\d),(-?\d)\)"))
    points = [node for node in view.all() if node.kind == "svg:circle"]
    columns = sorted({node.box[0] for node in points})
    rows = sorted({node.box[1] for node in points}, reverse=True)
    at = {(node.box[0], node.box[1]): node for node in points}
    return Click(at[columns[x + 2], rows[y + 2]].mark)


def _fits(node: Node, description: str) -> bool:
    shape = shape_of(node)
    return shape is not None and shape.fits(description)


def _plain(color: str) -> str:
    return SAME_COLOR.get(color, color)
