"""Controls that a goal names in place of the shown one's, and presses that it does not need."""

from tests.fakes.orders import episode, recalled, taught
from webagent.action.actions import Action, Answer, Check, Click
from webagent.records import Node, Trajectory


def settings(goal: str, *turns: Action) -> Trajectory:
    """Boxes that the text in front of them names."""
    boxes: list[Node] = []
    for i, name in enumerate(("Desktop alerts", "Sound"), 1):
        boxes.append(Node(0, "text", name, kind="div", box=(0, 40 * i, 90, 20)))
        boxes.append(Node(i, "checkbox", "", kind="input:checkbox", box=(200, 40 * i, 20, 20)))
    return episode(goal, goal, *((tuple(boxes), turn) for turn in turns))


def listed(goal: str, *turns: Action) -> Trajectory:
    """Two pages of a list, and the press that turns them."""
    turn = Node(1, "button", "Next", kind="button", box=(0, 0, 50, 20))
    edit = Node(2, "button", "Edit", kind="button", box=(60, 40, 50, 20))
    names = (Node(0, "text", each, kind="td", box=(0, 40, 50, 20)) for each in ("Ann", "Bo Ode"))
    return episode(goal, goal, *zip(((turn, name, edit) for name in names), turns, strict=False))


def test_the_box_is_ticked_that_the_goal_has_in_place_of_the_shown_one() -> None:
    memory = taught(settings("Turn off desktop alerts in the settings", Check(1), Answer("")))
    found = recalled(memory, settings("Turn off sound in the settings", Check(2)))
    assert (found.action, found.confidence > 0.5) == (Check(2), True)
    other = settings("Turn off weekly mails in the settings", Check(2))
    assert recalled(memory, other).confidence < 0.01


def test_a_press_is_left_out_that_showed_what_is_here() -> None:
    shown = listed('Edit "Bo Ode"', Click(1), Click(2))
    assert recalled(taught(shown), listed('Edit "Ann"', Click(2))).action == Click(2)
