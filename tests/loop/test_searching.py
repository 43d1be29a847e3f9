"""Search as a switch: what does not go together, and where nothing may be tried, in sentences."""

import pytest

from loop.searching import SearchChoice, describe_search, find_unsearchable
from loop.worlds import WorldChoice
from tasks.task import Task
from tests.fakes.lessons import episode, page
from webagent.action import Answer
from webagent.errors import UsageError

SITE = SearchChoice("best-first", value="rules")
NOTHING = WorldChoice()


@pytest.mark.parametrize(
    ("choice", "ahead", "measures", "said"),
    [
        (SearchChoice("mcts"), NOTHING, False, "needs to know what is good"),
        (SITE, NOTHING, True, "searches for the checks by which it is measured"),
        (SearchChoice("mcts", value="rules", branch=1), NOTHING, False, "at least 1, 2, 0 and 1"),
        (SITE, WorldChoice("map"), False, "give --search-in dream"),
        (SearchChoice("mcts", search_in="dream"), NOTHING, False, "name the model with --world"),
        (
            SearchChoice("mcts", "rules", "dream"),
            WorldChoice("map"),
            False,
            "nothing to check in a dream",
        ),
        (SearchChoice("mcts", "luck"), NOTHING, False, "'luck' is not an evaluator"),
    ],
)
def test_what_does_not_go_together_is_said(
    choice: SearchChoice, ahead: WorldChoice, measures: bool, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        choice.check(ahead, measures=measures)


def test_without_search_nothing_is_asked_for() -> None:
    SearchChoice().check(NOTHING, measures=True)
    SITE.check(NOTHING, measures=False)


def test_a_site_that_cannot_be_put_back_is_not_searched() -> None:
    here = Task("fake/lock@1", "http://lock.test/", site="lock@1")
    live = Task("fake/shop@1", "https://shop.example/")
    file = Task("fake/page@1", "file:///page.html")
    assert not find_unsearchable([here, file], lambda site: True)
    said = "cannot be put back into its first state: what a search tries there stays done"
    assert said in find_unsearchable([file, live], lambda site: True)
    assert said in find_unsearchable([here], lambda site: False)


def test_nothing_is_told_of_a_search_where_nobody_searched() -> None:
    assert describe_search([episode((page("Stop."), Answer("")))]) == ""
