"""Recall: what came of the like is put together for what is at hand, and the rest is unknown."""

from dataclasses import replace

import pytest

from tests.fakes.lessons import node, page
from webagent.action import Action
from webagent.action.actions import Answer, Click, Fill, GiveUp, SelectOption
from webagent.records import Ending, Node, Observation
from worldmodel.lines import is_unknown, read_range
from worldmodel.prediction import Effect, Source
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import Situation, Transition

SHOP = "http://shop.test"
MENU = (node(1, "link", "Home"), node(2, "textbox", "Search"), node(3, "button", "Go"))


def at(path: str, *nodes: Node, goal: str = "Look around.", title: str = "Shop") -> Observation:
    """A page of the shop, with its menu."""
    return replace(page(goal, *MENU, *nodes), url=SHOP + path, title=title, tabs=(title,))


def product(name: str, price: str, number: int, goal: str = "Look around.") -> Observation:
    """A product's page."""
    slug = f"{name.lower()}_{number}"
    lines = (node(0, "text", name), node(0, "text", price), node(9, "button", "Add to basket"))
    return at(f"/catalogue/{slug}/", *lines, goal=goal, title=f"{name} - Shop")


LISTING = at("/catalogue/", *(node(4 + i, "link", n) for i, n in enumerate(("Mug", "Pan", "Pen"))))


def came(before: Observation, action: Action, after: Observation, episode: str) -> Transition:
    """A step of a successful episode."""
    return Transition((), before, action, after, True, episode)


def taught(*seen: Transition) -> RememberedWorld:
    """A memory of these."""
    world = RememberedWorld()
    world.learn(seen)
    return world


KNOWN = (
    came(LISTING, Click(4), product("Mug", "£3.00", 8), "a"),
    came(LISTING, Click(5), product("Pan", "£9.50", 9), "b"),
)


def test_a_page_seen_before_is_recalled_as_it_was() -> None:
    [told] = taught(*KNOWN).predict([Situation(LISTING, (), Click(5))])
    assert told.page.url == f"{SHOP}/catalogue/pan_9/"
    assert [n.name for n in told.page.nodes] == [n.name for n in KNOWN[1].after.nodes]
    assert (told.effect, told.source, told.page.title) == (
        *(Effect.GOES, Source.REMEMBERED, "Pan - Shop"),
    )


def test_of_a_page_never_opened_the_kind_is_told_and_the_rest_is_unknown() -> None:
    [told] = taught(*KNOWN).predict([Situation(LISTING, (), Click(6))])
    assert told.page.url == f"{SHOP}/catalogue/…/"
    assert told.page.title == "Pen - Shop"
    names = [n.name for n in told.page.nodes if not is_unknown(n)]
    assert names == ["Home", "Search", "Go", "Pen", "Add to basket"]
    assert sum(map(is_unknown, told.page.nodes)) == 1, "the price stands nowhere"


def test_what_is_typed_comes_back_on_the_page_that_is_reached() -> None:
    def found(word: str) -> Observation:
        return at(f"/search/?q={word}", node(0, "text", f'Products matching "{word}"'))

    def asked(word: str) -> Observation:
        nodes = [replace(n, value=word) if n.name == "Search" else n for n in LISTING.nodes]
        return replace(LISTING, nodes=tuple(nodes))

    seen = [came(asked(word), Click(3), found(word), word) for word in ("Mug", "Pan")]
    [told] = taught(*seen).predict([Situation(asked("Scarf"), (), Click(3))])
    assert told.page.url == f"{SHOP}/search/?q=Scarf"
    assert told.page.nodes[-1].name == 'Products matching "Scarf"'


@pytest.mark.parametrize(
    ("action", "ending"), [(Answer("3"), Ending.ANSWERED), (GiveUp("no"), Ending.GAVE_UP)]
)
def test_answering_and_giving_up_end_the_episode_by_rule(action: Action, ending: Ending) -> None:
    [told] = RememberedWorld().predict([Situation(LISTING, (), action)])
    assert (told.effect, told.ending, told.outcome.ends) == (Effect.ENDS, ending, 1.0)
    assert told.source is Source.RULED


def test_the_last_step_that_is_allowed_ends_the_episode() -> None:
    [told] = taught(*KNOWN).predict([Situation(LISTING, (), Click(5), max_steps=1)])
    assert told.ending is Ending.STEP_LIMIT


def test_typing_and_choosing_work_on_pages_never_seen() -> None:
    boxes = (
        node(7, "combobox", "Size", value="S"),
        node(8, "option", "S", states=("selected",)),
        node(9, "option", "L"),
    )
    new = at("/new", *boxes)
    typed, chosen = RememberedWorld().predict(
        [Situation(new, (), Fill(2, "tea")), Situation(new, (), SelectOption(7, "L"))]
    )
    assert typed.page.node(2) == replace(MENU[1], value="tea")
    assert [(n.value, n.states) for n in chosen.page.nodes[3:]] == [
        *(("L", ()), ("", ()), ("", ("selected",)))
    ]
    assert typed.source is chosen.source is Source.RULED


def test_a_click_on_a_site_never_seen_is_not_known() -> None:
    [told] = RememberedWorld().predict([Situation(LISTING, (), Click(5))])
    assert (told.source, told.confidence) == (Source.UNKNOWN, 0.0)


def test_an_element_that_is_not_there_changes_nothing_and_says_so() -> None:
    [told] = taught(*KNOWN).predict([Situation(LISTING, (), Click(77))])
    assert told.page.nodes == LISTING.nodes
    assert told.page.outcome == "there is no element 77"


def test_new_text_whose_number_of_lines_varies_is_one_placeholder() -> None:
    def opened(*words: str) -> Observation:
        tabs = (node(4, "tab", "One"), node(5, "tab", "Two", states=("selected",)))
        return at("/tabs", *tabs, *(node(0, "text", word) for word in words))

    closed = at("/tabs", node(4, "tab", "One", states=("selected",)), node(5, "tab", "Two"))
    seen = [
        came(closed, Click(5), opened("a b", "c"), "a"),
        came(closed, Click(5), opened("d"), "b"),
        came(closed, Click(5), opened("e", "f", "g h"), "c"),
    ]
    [told] = taught(*seen).predict([Situation(closed, (), Click(5))])
    *rest, last = told.page.nodes
    assert [n.states for n in rest[3:]] == [(), ("selected",)]
    bounds = read_range(last)
    assert bounds is not None and bounds[0] == 1 and bounds[1] >= 3
    assert bounds[2] == {("text", "")}
