"""Lines with their places."""

from webagent.observation.variants import variant_named
from webagent.records import Node, Observation


def test_every_line_has_its_place() -> None:
    nodes = (
        Node(0, "text", "Bin", box=(8, 10, 40, 17)),
        Node(1, "button", "Go", box=(8, 30, 40, 20)),
    )
    page = Observation("", "http://a.test", "A", nodes)
    assert variant_named("boxes").write(page, 100).splitlines() == [
        "Bin at 8,10 size 40x17",
        '[1] button "Go" at 8,30 size 40x20',
    ]
