"""Numbered boxes in a screenshot: where they are, and that they hide nothing small."""

import io

import pytest
from PIL import Image, ImageChops

from tests.fakes.pictures import picture
from webagent.observation.variants.set_of_marks import draw_marks, in_view, list_marks
from webagent.records import Node, Observation

SIZE = (200, 120)


def node(mark: int, *box: int, kind: str = "button") -> Node:
    """An element with a place."""
    left, top, width, height = box
    return Node(mark, "button", f"b{mark}", box=(left, top, width, height), kind=kind)


def drawn(*nodes: Node, colour: str = "white", captured: str = "") -> Image.Image:
    """The picture with marks."""
    page = Observation("", "", "", nodes, captured=captured)
    return Image.open(io.BytesIO(draw_marks(picture(size=SIZE, colour=colour), page))).convert(
        "RGB"
    )


def changed(image: Image.Image, colour: str = "white") -> tuple[int, int, int, int] | None:
    """The box of everything that was drawn."""
    return ImageChops.difference(image, Image.new("RGB", SIZE, colour)).getbbox()


def test_an_element_gets_a_box_of_its_own_and_a_number_beside_it():
    image = drawn(node(7, 60, 50, 40, 20))
    assert image.getpixel((60, 60)) != (255, 255, 255), "the left edge"
    box = changed(image)
    assert box is not None and box[1] < 50 and box[0] >= 58 and box[3] <= 72


def test_a_small_element_is_not_hidden_by_its_number_or_by_a_neighbours():
    small = [node(mark, 20 + 40 * mark, 50, 12, 12) for mark in range(1, 4)]
    image = drawn(*small)
    for each in small:
        left, top, width, height = each.box
        inside = image.crop((left + 1, top + 1, left + width, top + height))
        assert inside.getcolors() == [(inside.width * inside.height, (255, 255, 255))]


@pytest.mark.parametrize("colour", ["white", "black", "red", "#1f77b4", "#808080"])
def test_a_box_can_be_told_from_any_background(colour: str):
    image = drawn(node(1, 60, 50, 40, 20), colour=colour)
    shades = {image.getpixel((59, 60)), image.getpixel((60, 60))}
    ground = Image.new("RGB", (1, 1), colour).getpixel((0, 0))
    assert max(sum(abs(a - b) for a, b in zip(s, ground, strict=True)) for s in shades) > 200


def test_labels_stay_in_the_picture_and_apart_from_each_other():
    image = drawn(node(10, 0, 0, 199, 119), node(11, 0, 0, 10, 10), node(12, 190, 110, 9, 9))
    assert image.size == SIZE
    crowd = drawn(*(node(mark, 50, 30 + 14 * mark, 60, 12) for mark in range(5)))
    assert changed(crowd) is not None


def test_only_what_has_a_place_in_view_is_numbered():
    nodes = (
        node(1, 10, 10, 20, 20),
        node(2, 10, 500, 20, 20),
        node(3, 10, 10, 0, 0),
        node(4, 10, 10, 20, 20, kind="option"),
        Node(0, "text", "static", box=(0, 0, 50, 10)),
    )
    page = Observation("", "", "", nodes)
    assert [each.mark for each in in_view(page, SIZE)] == [1]
    clipped = Observation("", "", "", (node(1, 0, 0, 9, 9), node(2, 0, 9, 9, 9)), captured="2")
    assert [each.mark for each in in_view(clipped, SIZE)] == [2]


def test_the_text_beside_the_picture_names_each_number():
    page = Observation("", "", "", (node(1, 0, 0, 9, 9), Node(0, "text", "seen in the picture")))
    assert list_marks(page) == '[1] button "b1"'
