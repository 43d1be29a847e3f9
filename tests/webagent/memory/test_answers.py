"""Answers that memory does not hold, guessed from the page."""

from collections import Counter

import numpy as np

from webagent.memory.answers import guess_answer
from webagent.records import Node, Observation


def page(*names: str) -> Observation:
    return Observation(
        url="", title="", goal="By whom?", nodes=tuple(Node(0, "text", name) for name in names)
    )


def guesses(seen, known, failed=()):
    rng = np.random.default_rng(0)
    return Counter(guess_answer(seen, ["2 May"], known, failed, rng) for _ in range(200))


ROW = page("Home", *["."] * 30, "2 May | Release | by:", "tomas", "a1b2c3", "x" * 60)


def test_what_stands_near_or_answered_a_like_goal_is_guessed_first() -> None:
    near = guesses(ROW, {})
    assert min(near["tomas"], near["a1b2c3"], near["Release"]) > near["Home"]
    assert "2 May" not in near and "x" * 60 not in near
    assert guesses(ROW, {"tomas": 0.3}).most_common(1)[0][0] == "tomas"


def test_what_failed_is_not_guessed_again_and_an_empty_page_gives_nothing() -> None:
    assert "tomas" not in guesses(ROW, {}, failed=("tomas",))
    assert set(guesses(page("2 May"), {})) == {None}
