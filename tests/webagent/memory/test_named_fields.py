"""Fields that a goal names with their values, and words in whose place it has others."""

import pytest

from tests.fakes.orders import episode, recalled, taught
from webagent.action.actions import Action, Click, Fill
from webagent.memory.goals import read_goal
from webagent.memory.named_fields import find_value_of
from webagent.records import Node, Trajectory

LABELS = ("Title", "Date", "Expiry date", "Severity")


@pytest.mark.parametrize(
    ("goal", "label", "value"),
    [
        ("Edit Q-2 (Al Li) and change its expiry date to 2026-04-30.", "expiry date", "2026-04-30"),
        ("Add the vitals of Ann Lee with weight 58 in kg and height 157 in cm.", "height", "157"),
        ('Add a note with the title "Milk" and the text "Two".', "text", "Two"),
        ("Change the next number in “Invoice Settings” to 100.", "next number", "100"),
        ("Change its terms & conditions to 'All is due'.", "terms and conditions", "All is due"),
        ('Add the title and the body "Hi".', "title", None),
        ('Write "Hi" as the title.', "title", None),
        ('Give "Milk" to Ann Lee.', "to", None),
    ],
)
def test_a_value_is_found_behind_its_label(goal: str, label: str, value: str | None) -> None:
    read = read_goal(goal)
    found = find_value_of(read, label)
    assert (read.slots[found[1]].text if found else None) == value


def form(goal: str, *turns: Action, name: str = "a") -> Trajectory:
    """Fields filled in and saved; what was filled in is shown."""
    held: dict[int, str] = {}
    shown = []
    for turn in (*turns, Click(9)):
        fields = [
            Node(i, "textbox", label, held.get(i, ""), "input:text", box=(0, 30 * i, 90, 20))
            for i, label in enumerate(LABELS, 1)
        ]
        save = Node(9, "button", "Save", kind="button", box=(0, 300, 90, 20))
        shown.append(((*fields, save), turn))
        if isinstance(turn, Fill):
            held[turn.mark] = turn.text
    return episode(name, goal, *shown)


def test_another_field_and_one_more_are_filled_in_where_the_goal_names_them() -> None:
    shown = form('Edit the ticket and change its title to "Milk".', Fill(1, "Milk"))
    goal = 'Edit the ticket and change its expiry date to "1 May" and its severity to "Minor".'
    new = form(goal, Fill(3, "1 May"), Fill(4, "Minor"), name="new")
    assert [recalled(taught(shown), new, i).action for i in range(3)] == [
        s.decision.action for s in new.steps
    ]


def test_a_button_is_called_by_the_word_of_this_goal_where_there_is_one() -> None:
    def decide(goal: str, mark: int, *names: str) -> Trajectory:
        page = tuple(
            Node(i, "button", each, kind="button", box=(90 * i, 0, 80, 10))
            for i, each in enumerate(names, 1)
        )
        return episode(goal[-9:], goal, (page, Click(mark)))

    shown = decide("Mark the quote as accepted", 1, "Mark as accepted", "Mark as declined")
    new = decide("Mark the quote as declined", 2, "Mark as accepted", "Mark as declined")
    assert recalled(taught(shown), new).action == Click(2)
    other = decide("Mark the quote as settled", 1, "Mark as accepted", "Refuse")
    assert recalled(taught(shown), other).action == Click(1)  # it may be the same in other words
