"""Tries that failed are not made again: what they used up is taken from what led to them."""

import pytest

from tests.fakes.orders import link, look_up
from webagent.action.actions import Answer, Click, Fill
from webagent.memory import Memory
from webagent.memory.goals import read_goal
from webagent.memory.tries import FailedTries, key_of_action
from webagent.records import Node, Observation

OPEN, EDIT, SAVE, DONE = 11, 22, 33, 44


def test_a_whole_try_is_used_up_and_its_beginning_by_what_followed() -> None:
    tries = FailedTries()
    tries.add("task", ((OPEN, 0.5), (EDIT, 0.25), (DONE, 0.5)))
    ended, other = tries.weigh("task", [OPEN, EDIT], [DONE, SAVE])
    assert ended < 0.02 < other == 1.0
    (begun,) = tries.weigh("task", [], [OPEN])
    (further,) = tries.weigh("task", [OPEN], [EDIT])
    assert 1.0 > begun > further > ended


def test_what_was_often_tried_counts_less_in_another_order_too() -> None:
    tries = FailedTries()
    for _ in range(3):
        tries.add("task", ((OPEN, 0.1), (EDIT, 0.1), (DONE, 0.1)))
    ended, new = tries.weigh("task", [SAVE, EDIT], [DONE, SAVE])
    assert ended < new == 1.0


def test_tries_at_one_task_say_nothing_of_another() -> None:
    tries = FailedTries()
    tries.add("task", ((OPEN, 0.5), (DONE, 0.5)))
    assert tries.weigh("other", [OPEN], [DONE]) == [1.0]


def test_a_success_ends_the_list_of_what_failed() -> None:
    memory = Memory()
    failed, found = look_up("failed", "10050", 3), look_up("found", "10055", 3)
    memory.note_failure(failed, [0.5, 0.5])
    assert list(memory.tries.tries) == ["look-up"]
    memory.remember(found, source="success")
    assert not memory.tries.tries
    memory.note_failure(failed, [0.5, 0.5])
    assert not memory.tries.tries


def test_a_text_on_an_empty_page_is_a_try_too() -> None:
    empty = Observation("Answer.", "http://shop.test/", "", ())
    keys = [key_of_action(Answer(text), empty, read_goal("Answer.")) for text in ("a", "7")]
    assert keys[0] != keys[1]


PAGE = Observation(
    'Put "Lamp" into the title.',
    "http://shop.test/",
    "Shop",
    (
        *(link(1, "Edit"), link(2, "Edit", 20)),
        *(Node(3, "textbox", "Title"), Node(4, "textbox", "Body"), Node(0, "text", "Total | £9")),
    ),
)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Click(1), Click(1), True),
        (Click(1), Click(2), False),
        (Fill(3, "Lamp"), Fill(4, "Lamp"), False),
        (Fill(3, "Lamp"), Fill(3, "Mug"), False),
        (Answer(""), Answer("£9"), False),
    ],
)
def test_actions_are_told_apart_by_what_they_are_done_to(one, other, same):
    keys = [key_of_action(each, PAGE, read_goal(PAGE.goal)) for each in (one, other)]
    assert (keys[0] == keys[1]) is same


def test_the_same_is_the_same_with_other_values() -> None:
    keys = []
    for value in ("Lamp", "Mug"):
        goal = f'Put "{value}" into the title.'
        keys.append(key_of_action(Fill(3, value), PAGE, read_goal(goal)))
    assert keys[0] == keys[1]
