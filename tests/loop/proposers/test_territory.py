import re

import numpy as np
import pytest

from loop.proposers.territory import (
    Territory,
    find_words,
    is_avoided,
    is_preview,
    make_plausible_value,
)

WORDS = ["Lantern", "Harbour", "Meadow"]


@pytest.mark.parametrize("name", ["Delete ticket", "Remove", "Buy now", "Cancel order"])
def test_what_destroys_or_pays_is_left_alone_where_it_cannot_be_undone(name: str) -> None:
    assert is_avoided(name, may_destroy=False)
    assert not is_avoided(name, may_destroy=True)


@pytest.mark.parametrize("name", ["Log out", "Sign out", "logout"])
def test_a_session_is_never_ended(name: str) -> None:
    assert is_avoided(name, may_destroy=True)


def test_only_a_site_of_ours_may_be_destroyed() -> None:
    assert Territory("desk", "http://desk.test/", site="desk@1").may_destroy
    assert not Territory("shop", "https://shop.example/").may_destroy


@pytest.mark.parametrize(
    ("label", "kind", "pattern"),
    [
        ("EMail", "input:text", r"\w+@example\.com"),
        ("When", "input:date", r"\d{4}-\d\d-\d\d"),
        ("Quantity", "input:text", r"\d"),
        ("Price", "input:number", r"\d+"),
        ("Website", "input:text", r"http://example\.com/\w+"),
        ("Title", "input:text", r"(Lantern|Harbour|Meadow).* \d+"),
        ("Description", "textarea", r"The (lantern|harbour|meadow) beside .*"),
        ("Search", "input:text", r"lantern|harbour|meadow"),
    ],
)
def test_a_value_is_of_its_fields_kind_in_the_words_of_the_page(
    label: str, kind: str, pattern: str
) -> None:
    for seed in range(5):
        value = make_plausible_value(label, kind, WORDS, np.random.default_rng(seed))
        assert re.fullmatch(pattern, value)


def test_the_words_of_a_page_are_its_telling_ones() -> None:
    words = find_words(["Search this site", "Broken lantern, broken"])
    assert words == ["Broken", "lantern", "broken"]


def test_a_preview_changes_nothing() -> None:
    assert is_preview("Preview")
    assert not is_preview("Submit")
