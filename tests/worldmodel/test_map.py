"""The map: kinds of pages, what leads where, ways, rules, and rules that people write."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.lessons import node
from tests.worldmodel.test_recall import KNOWN, LISTING, SHOP, at, came, product
from webagent.action.actions import Click
from webagent.errors import StoreError
from worldmodel.drawing import draw_map
from worldmodel.map import MapRule, SiteMap, build_map, read_rules
from worldmodel.prediction import Source
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import Situation

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


def test_what_always_follows_is_a_rule_and_so_is_what_a_field_decides(
    memory: RememberedWorld,
) -> None:
    rules = {(r.page, r.name, r.when): r.leads for r in build_map(memory.cases).rules}
    assert rules["/", "All products", ""] == "/catalogue"
    assert rules["/login", "Log in", 'textbox "Password" is filled'] == "/"
    assert rules["/login", "Log in", 'textbox "Password" is empty'] == "nothing"


def test_a_version_is_written_only_where_something_changed(
    memory: RememberedWorld, tmp_path: Path
) -> None:
    first = build_map(memory.cases).save(tmp_path)
    assert build_map(memory.cases, SiteMap.load(tmp_path)).save(tmp_path) == first
    memory.learn([came(HOME, Click(5), at("/help"), "x")])
    assert build_map(memory.cases, SiteMap.load(tmp_path)).save(tmp_path).name == "2.json"


def write_rule(run: Path, *leads: str) -> None:
    """Add rules of a person to the newest version."""
    file = max((run / "map").glob("*.json"))
    told = json.loads(file.read_text())
    rule = {"page": "/", "op": "click", "role": "link", "name": "All products", "when": ""}
    told["rules"] += [{**rule, "leads": each, "tries": 0, "source": "person"} for each in leads]
    file.write_text(json.dumps(told))


def test_a_persons_rule_outlives_a_new_map_and_overrides_what_was_seen(
    memory: RememberedWorld, tmp_path: Path
) -> None:
    build_map(memory.cases).save(tmp_path)
    write_rule(tmp_path, "/catalogue/*")
    build_map(memory.cases, SiteMap.load(tmp_path)).save(tmp_path)
    memory.rules = read_rules(tmp_path, memory.cases)
    [told] = memory.predict([Situation(HOME, (), Click(4))])
    assert told.page.url.startswith(f"{SHOP}/catalogue/")
    assert told.page.url != LISTING.url
    assert told.source is Source.RULED


def test_a_rule_to_where_nobody_has_been_leads_to_an_unknown_page(memory: RememberedWorld) -> None:
    memory.rules = [MapRule("/", "click", "link", "Help", "/help/*", source="person")]
    [told] = memory.predict([Situation(HOME, (), Click(5))])
    assert told.page.url == f"{SHOP}/help/…"
    assert [n.states for n in told.page.nodes] == [("unknown",)]


def test_rules_that_contradict_each_other_are_refused(
    memory: RememberedWorld, tmp_path: Path
) -> None:
    build_map(memory.cases).save(tmp_path)
    write_rule(tmp_path, "/catalogue", "/login")
    with pytest.raises(StoreError, match="one leads to /catalogue, the other to /login"):
        SiteMap.load(tmp_path)


def test_the_map_of_another_site_is_refused(memory: RememberedWorld, tmp_path: Path) -> None:
    build_map(memory.cases).save(tmp_path)
    write_rule(tmp_path, "/login")
    other = RememberedWorld()
    other.learn([replace(KNOWN[0], before=replace(LISTING, url="http://wiki.test/main"))])
    with pytest.raises(StoreError, match=r"is of shop\.test, and no page of this run is on it"):
        read_rules(tmp_path, other.cases)


@pytest.mark.parametrize("text", ["", "[]", '{"version": 1}', '{"version": 7}'])
def test_a_file_that_is_no_map_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / "map").mkdir()
    (tmp_path / "map" / "1.json").write_text(text)
    with pytest.raises(StoreError, match="webagent world"):
        SiteMap.load(tmp_path)


def test_a_drawing_shows_every_kind_of_page_and_runs_nothing(memory: RememberedWorld) -> None:
    evil = came(at("/x", node(4, "link", "<script>")), Click(4), product("Pen", "1", 4), "z")
    memory.learn([evil])
    drawn = draw_map(build_map(memory.cases), "/")
    assert all(f">{kind}<" in drawn for kind in ("/", "/login", "/catalogue", "/catalogue/*"))
    assert "<script>" not in drawn
