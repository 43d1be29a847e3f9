"""What a site does against its labels is told as it was seen, and what was never seen is not made
up: buttons that lie, dead controls, error pages, wrong passwords, empty searches, refusals."""

from collections.abc import Sequence

import pytest

from worldmodel.honesty import HonestyCase, cases, is_honest, measure_honesty
from worldmodel.lines import is_unknown
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import Transition


def taught(seen: Sequence[Transition]) -> RememberedWorld:
    world = RememberedWorld()
    world.learn(seen)
    return world


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.kind)
def test_memory_tells_what_came_and_makes_nothing_up(case: HonestyCase) -> None:
    assert is_honest(case.truth, taught(case.seen))


def test_where_all_that_is_like_it_failed_no_success_is_promised() -> None:
    never = [case for case in cases() if not any(t.succeeded for t in case.seen)]
    assert len({case.kind for case in never}) == 3
    for case in never:
        [told] = taught(case.seen).predict([case.truth.situation])
        assert told.outcome.succeeds < 0.5, case.kind


def test_what_a_search_finds_is_unknown() -> None:
    case = next(case for case in cases() if case.kind == "empty search")
    [told] = taught(case.seen).predict([case.truth.situation])
    assert told.page.url == case.truth.after.url
    assert any(map(is_unknown, told.page.nodes)), "how many there are is not known"


def test_copying_and_the_nearest_page_are_caught() -> None:
    rows = {(r["model"], r["figure"]): r["value"] for r in measure_honesty()}
    assert rows["copying", "mislabelled button"] == rows["nearest", "empty search"] == 0
    assert rows["copying", "dead control"] == rows["nearest", "error page"] == 1
    assert rows["remembered", "all"] == 1
