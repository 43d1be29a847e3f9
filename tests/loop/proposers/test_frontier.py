from collections.abc import Sequence

import numpy as np

from loop.proposers.explorer import UNKNOWN_PATH, Frontier
from loop.proposers.page_forms import PageDescription
from worldmodel.kinds import mask_address

SITE = "http://shop.test"


def page(
    path: str,
    offers: Sequence[str] = (),
    structure: Sequence[str] = (),
    way: Sequence[str] = (),
) -> PageDescription:
    return PageDescription(SITE + path, path, frozenset(structure), frozenset(offers), tuple(way))


def test_addresses_of_things_of_one_kind_have_one_pattern() -> None:
    assert mask_address(f"{SITE}/catalogue/the-book_209/") == "/catalogue/*"
    assert mask_address(f"{SITE}/catalogue/?page=2&sort=price") == "/catalogue?page=*&sort=*"
    assert mask_address(f"{SITE}/") == "/"


def test_five_hundred_products_without_a_number_in_their_address_are_few_nodes() -> None:
    frontier = Frontier()
    words = [f"{chr(97 + i // 26)}{chr(97 + i % 26)}-book" for i in range(500)]
    for word in words:
        frontier.see(page(f"/catalogue/{word}/", structure=["Add to basket"]))
    assert len(frontier.nodes) <= 4


def test_pages_of_one_address_with_other_forms_are_different_nodes() -> None:
    frontier = Frontier()
    frontier.see(page("/ticket/1", structure=["Save"]))
    frontier.see(page("/ticket/2", structure=["Submit"]))
    assert len(frontier.nodes) == 2


def test_sections_of_a_site_stay_apart_although_they_look_alike() -> None:
    frontier = Frontier()
    for name in ("alpha", "beta", "gamma", "delta", "epsilon"):
        frontier.see(page(f"/{name}"))
    assert len(frontier.nodes) == 5


def test_what_was_tried_on_a_page_makes_others_come_first() -> None:
    frontier = Frontier()
    one = frontier.see(page("/one", ["form:a", "form:b"]))
    two = frontier.see(page("/two", ["form:a", "form:b"]))
    frontier.note(one, "form:a", 0.0, False)
    assert frontier.priority(two) > frontier.priority(one)


def test_a_link_of_the_menu_is_tried_once_for_all_pages() -> None:
    frontier = Frontier()
    one = frontier.see(page("/one", ["link:Home"]))
    two = frontier.see(page("/two", ["link:Home"]))
    frontier.note(one, "link:Home", 0.0, True)
    assert frontier.untried(two) == []


def test_surprise_raises_the_priority_of_a_page() -> None:
    frontier = Frontier()
    dull = frontier.see(page("/dull", ["form:a", "form:b"]))
    strange = frontier.see(page("/strange", ["form:a", "form:b"]))
    frontier.note(dull, "form:a", 0.0, False)
    frontier.note(strange, "form:a", 1.0, False)
    assert frontier.priority(strange) > frontier.priority(dull)


def test_links_that_led_nowhere_new_lower_a_page() -> None:
    frontier = Frontier()
    node = frontier.see(page("/list", [f"link:{n}" for n in range(50)]))
    before = frontier.priority(node)
    for number in range(10):
        frontier.note(node, f"link:{number}", 0.0, found_new=False)
    assert frontier.priority(node) < before / 2


def test_the_shortest_way_to_a_page_is_kept() -> None:
    frontier = Frontier()
    for way in (UNKNOWN_PATH, ("a", "b"), ("a", "b", "c")):
        node = frontier.see(page("/x", way=way))
    assert node.way == ("a", "b")


def test_the_choice_follows_from_the_seed_and_spreads_over_pages() -> None:
    def chosen() -> list[str]:
        frontier = Frontier()
        for name in ("one", "two", "three"):
            frontier.see(page(f"/{name}", ["form:a"]))
        return [node.url for node in frontier.choose(3, np.random.default_rng(5))]

    assert chosen() == chosen()
    assert len(set(chosen())) == 3
