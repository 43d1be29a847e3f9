"""How well a policy points is measured where it saw what the reference saw."""

from dataclasses import replace

import pytest

from evaluators.grounding import discount, find_targets, score_pointing
from tests.evaluators.attribution.cases import played
from webagent.action import Action
from webagent.action import actions as act
from webagent.records import Node, Observation, Trajectory

BOX = (100, 50, 30, 40)
SHOP = Observation(
    *("", "http://shop.test", "Shop"),
    (
        Node(1, "generic", "Panel", box=(0, 0, 400, 300)),
        Node(2, "button", "Buy", box=BOX),
        Node(3, "button", "Leave", box=(200, 50, 30, 40)),
        Node(4, "option", "Nowhere"),
    ),
)
ELSEWHERE = replace(SHOP, nodes=SHOP.nodes[:2])


def episode(action: Action, page: Observation = SHOP) -> Trajectory:
    """An episode of one action."""
    return played("shop", "Buy it", (page, action))


def test_a_miss_counts_less_the_farther_and_the_smaller_the_box() -> None:
    assert discount((100, 50), BOX) == discount((130, 90), BOX) == 1
    assert discount((50, 60), BOX) == 0.5  # as far off as the diagonal is long
    assert discount((160, 130), BOX) == 0.5
    assert discount((50, 60), BOX) > discount((20, 60), BOX) > 0
    assert discount((50, 60), (100, 50, 60, 80)) > 0.5


@pytest.mark.parametrize(
    ("action", "by", "score"),
    [
        (act.Click(2), "mark", 1.0),
        (act.Fill(2, "words"), "mark", 1.0),
        (act.MouseClick(110, 60), "coordinates", 1.0),
        (act.MouseClick(50, 60), "coordinates", 0.5),
        (act.Click(3), "mark", 50 / 135),
        (act.Scroll(0, 0, 100), "nothing", 0.0),
        (act.Click(4), "nothing", 0.0),
        (act.Answer("done"), "nothing", 0.0),
    ],
)
def test_an_action_is_held_against_the_reference_s_element(
    action: Action, by: str, score: float
) -> None:
    (found,) = score_pointing(episode(action), find_targets([episode(act.Click(2))]))
    assert (found.by, found.hit, found.step) == (by, score == 1, 1)
    assert found.score == pytest.approx(score)


def test_coordinates_of_the_reference_mean_the_smallest_element_there() -> None:
    targets = find_targets([episode(act.MouseClick(115, 70))])
    assert list(targets.values()) == [[(BOX,)]]
    assert find_targets([episode(act.MouseClick(900, 900)), episode(act.Wait(1))]) == {}


def test_the_worse_end_of_a_drag_counts() -> None:
    targets = find_targets([episode(act.DragAndDrop(2, 3))])
    drags = act.MouseDrag(110, 60, 210, 60), act.MouseDrag(110, 60, 150, 60), act.Click(2)
    scores = [score_pointing(episode(drag), targets)[0].score for drag in drags]
    assert scores == [1.0, 0.5, 0.0]


def test_the_nearest_of_several_references_counts() -> None:
    targets = find_targets([episode(act.Click(2)), episode(act.Click(3))])
    assert score_pointing(episode(act.MouseClick(205, 60)), targets)[0].hit


def test_other_pages_tasks_and_seeds_say_nothing() -> None:
    targets = find_targets([episode(act.Click(2))])
    made = episode(act.Click(2))
    assert score_pointing(episode(act.Click(2), ELSEWHERE), targets) == []
    assert score_pointing(replace(made, task=replace(made.task, seed=8)), targets) == []
    assert score_pointing(replace(made, task=replace(made.task, id="made/x@1")), targets) == []
