"""Texts are alike by the letters they share in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from evaluators.attribution.likeness import find_most_similar, share_of_letters


def test_the_most_similar_text_is_found_by_its_letters() -> None:
    others = ["copper harbour", "copper harbor map", "silver lake"]
    assert find_most_similar("coper harbour", others, 0.72) == "copper harbour"
    assert find_most_similar("granite", others, 0.72) is None
    assert find_most_similar("granite", [], 0.72) is None


@given(st.text("abc ", max_size=12), st.text("abc ", max_size=12))
def test_the_share_is_that_of_rapidfuzz(one: str, other: str) -> None:
    assert share_of_letters(one, other) == pytest.approx(fuzz.ratio(one, other) / 100)
