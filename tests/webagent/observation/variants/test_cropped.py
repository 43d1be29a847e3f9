"""The part of a screenshot that holds something, and that the lines say where it lies."""

import io
from dataclasses import replace

from PIL import Image

from webagent.observation.variants import variant_named
from webagent.records import Node, Observation

SIZE = (200, 120)
CROPPED = variant_named("cropped")
PAGE = Observation(
    *("", "http://a.test", "A"),
    (
        Node(0, "text", "Bin", box=(60, 30, 40, 17)),
        Node(1, "button", "Go", box=(60, 50, 50, 20)),
        Node(2, "button", "Below", box=(10, 400, 50, 20)),
        Node(3, "option", "Without a place"),
    ),
    viewport=SIZE,
)


def screenshot() -> bytes:
    """A picture in which every pixel's colour is its place."""
    image = Image.new("RGB", SIZE)
    image.putdata([(x, y, 0) for y in range(SIZE[1]) for x in range(SIZE[0])])
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def test_the_part_in_which_there_is_something_is_cut_out() -> None:
    shown = Image.open(io.BytesIO(CROPPED.picture(screenshot(), PAGE)))
    assert shown.size == (66, 56)
    assert shown.getpixel((0, 0)) == (52, 22, 0), "the first line's corner, less a margin"


def test_the_lines_say_where_the_picture_and_everything_in_it_is() -> None:
    assert CROPPED.write(PAGE, 500).splitlines() == [
        "picture: the part of the page at 52,22 size 66x56",
        "Bin at 60,30 size 40x17",
        '[1] button "Go" at 60,50 size 50x20',
        '[2] button "Below" at 10,400 size 50x20',
        '[3] option "Without a place" at 0,0 size 0x0',
    ]


def test_what_reaches_over_the_edges_is_cut_off_there() -> None:
    wide = replace(PAGE, nodes=(Node(1, "link", "Wide", box=(-20, 100, 900, 90)),))
    assert CROPPED.write(wide, 500).startswith(
        "picture: the part of the page at 0,92 size 200x28\n"
    )


def test_a_page_without_places_is_shown_whole_and_unchanged() -> None:
    bare = replace(PAGE, nodes=PAGE.nodes[2:])
    assert CROPPED.picture(screenshot(), bare) == screenshot()
    assert CROPPED.write(bare, 500).startswith(
        "picture: the part of the page at 0,0 size 200x120\n"
    )
