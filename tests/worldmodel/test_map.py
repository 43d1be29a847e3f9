"""The map: kinds of pages, what leads where, and ways."""

from dataclasses import replace

import pytest

from tests.fakes.lessons import node
from tests.worldmodel.test_recall import KNOWN, LISTING, at, came
from webagent.action.actions import Click
from worldmodel.map import build_map
from worldmodel.recall import RememberedWorld

HOME = at("/", node(4, "link", "All products"), node(5, "link", "Help"))
EMPTY = at("/login", node(4, "textbox", "Password"), node(5, "button", "Log in"))
FILLED = replace(
    EMPTY, nodes=(*EMPTY.nodes[:3], replace(EMPTY.nodes[3], value="x"), EMPTY.nodes[4])
)
SEEN = [
    *KNOWN,
    *(came(HOME, Click(4), LISTING, f"h{i}") for i in range(4)),
    *(came(FILLED, Click(5), HOME, f"f{i}") for i in range(3)),
    *(came(EMPTY, Click(5), EMPTY, f"e{i}") for i in range(3)),
]


@pytest.fixture
def memory() -> RememberedWorld:
    """What was seen of the shop."""
    world = RememberedWorld()
    world.learn(SEEN)
    return world


def test_pages_of_one_kind_are_one_and_their_addresses_are_told(memory: RememberedWorld) -> None:
    site = build_map(memory.cases)
    assert set(site.pages) == {"/catalogue", "/", "/login", "/catalogue/*"}
    assert site.site == "shop.test"
    assert 'link "Help"' in site.pages["/"].unexplored


def test_what_leads_where_is_counted(memory: RememberedWorld) -> None:
    edges = {(e.page, e.name): e.outcomes for e in build_map(memory.cases).edges}
    assert edges["/", "All products"] == {"/catalogue": 4}
    assert edges["/login", "Log in"] == {"/": 3, "nothing": 3}


def test_a_way_is_found_over_pages_of_their_kinds(memory: RememberedWorld) -> None:
    site = build_map(memory.cases)
    way = site.way("/login", "/catalogue/*")
    assert way is not None
    assert [edge.page for edge in way] == ["/login", "/", "/catalogue"]
    assert site.way("/catalogue/*", "/") is None
    assert [page.kind for page in site.find("catalogue mug_8")][:1] == ["/catalogue/*"]
