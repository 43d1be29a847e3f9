"""Oracles on hand-written pages: what they do, what they refuse, and how they are found."""

import pytest
from PIL import ImageColor

from benchmarks.oracles import ORACLES, OraclePolicy, View, oracle
from tasks.task import Task
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.errors import PolicyError, SetupError
from webagent.records import Node, Observation, Trajectory

LOGIN = (
    Node(0, "text", "Welcome"),
    Node(1, "textbox", "Username", kind="input:text"),
    Node(2, "textbox", "Password", kind="input:password"),
    Node(3, "button", "Login", kind="button"),
)
GOAL = 'Enter the username "ada" and the password "x7" into the text fields and press login.'


def view(goal: str, nodes: tuple[Node, ...], *done: Action) -> View:
    page = Observation(goal, "file:///page.html", "Page", nodes)
    return View(goal, page, past=(page,) * len(done), done=done)


def play(name: str, goal: str, nodes: tuple[Node, ...], steps: int) -> list[Action]:
    """What an oracle does in so many steps on a page that does not change."""
    done: list[Action] = []
    for _ in range(steps):
        done.append(ORACLES[name](view(goal, nodes, *done)))
    return done


def test_a_form_is_filled_from_top_to_bottom_and_then_sent() -> None:
    assert play("login-user", GOAL, LOGIN, 3) == [Fill(1, "ada"), Fill(2, "x7"), Click(3)]


def test_boxes_are_checked_in_page_order_not_in_goal_order() -> None:
    boxes = tuple(Node(i, "checkbox", name) for i, name in enumerate(["aa", "b b", "c"], 1))
    nodes = (*boxes, Node(4, "button", "Submit"))
    done = play("click-checkboxes", "Select c, aa and click Submit.", nodes, 3)
    assert done == [Click(1), Click(3), Click(4)]


def test_selecting_nothing_is_only_submitting() -> None:
    nodes = (Node(1, "checkbox", "aa"), Node(2, "button", "Submit"))
    assert play("click-checkboxes", "Select nothing and click Submit.", nodes, 1) == [Click(2)]


@pytest.mark.parametrize(("color", "code"), [("orange", "FFA500"), ("#0198e3", "0198E3")])
def test_a_colour_is_typed_as_its_code_even_once_it_was_painted_with(color: str, code: str) -> None:
    ImageColor.getrgb(color)  # as Pillow does when it paints
    nodes = (Node(1, "textbox", "", kind="input:text"), Node(2, "button", "Submit"))
    goal = f"Select the following color {color} with the color picker and hit Submit."
    assert play("use-colorwheel-2", goal, nodes, 2) == [Fill(1, code), Click(2)]


def test_a_plan_that_is_done_is_not_begun_again() -> None:
    with pytest.raises(PolicyError, match="plan of 3 actions is finished"):
        play("login-user", GOAL, LOGIN, 4)


def test_repeated_actions_count_one_by_one() -> None:
    plan = (Click(1), Click(1), Click(2))
    assert view("", (), Click(1)).next_of(*plan) == Click(1)
    assert view("", (), Click(1), Click(1)).next_of(*plan) == Click(2)


def test_a_missing_element_is_a_policy_error_that_names_it() -> None:
    with pytest.raises(PolicyError, match="button 'TWO'"):
        ORACLES["click-test-2"](view("Click button TWO.", (Node(1, "button", "ONE"),)))


def test_a_goal_of_another_form_is_a_policy_error_that_quotes_it() -> None:
    with pytest.raises(PolicyError, match="Sing a song"):
        ORACLES["click-test-2"](view("Sing a song.", LOGIN))


def test_static_text_is_never_clicked() -> None:
    nodes = (Node(0, "text", "elit"), Node(1, "link", "elit,"))
    with pytest.raises(PolicyError):
        ORACLES["click-link"](view('Click on the link "elit".', nodes))


def test_a_wrong_name_is_answered_with_the_close_ones() -> None:
    with pytest.raises(SetupError, match="click-test-2"):
        OraclePolicy("click-tst-2")


async def test_decisions_are_marked_as_demonstrations() -> None:
    observation = Observation("Click button ONE.", "", "", (Node(5, "button", "ONE"),))
    trajectory = Trajectory("episode", Task("miniwob/click-test-2@1", "file:///page.html"))
    policy = OraclePolicy("click-test-2")
    decision = await policy.act(trajectory, observation)
    assert (decision.action, decision.source) == (Click(5), "demonstration")
    (proposed,) = await policy.propose(trajectory, observation, 3)
    assert proposed.candidates[0].action == "click(5)"


async def test_a_script_that_takes_the_first_of_nothing_is_lost_and_breaks_no_run(monkeypatch):
    def find_first(view: View) -> Action:
        return next(Click(node.mark) for node in view.page.nodes if node.mark == 9)

    def find_first_of_first(view: View) -> Action:
        (action,) = tuple(find_first(view) for _ in (1,))
        return action

    page = Observation("Go", "file:///page.html", "Shop", (Node(1, "button", "Search"),))
    whole = Trajectory("episode", Task("oscar/shop-compare@1", "file:///page.html"))
    for script in (find_first, find_first_of_first):
        monkeypatch.setitem(ORACLES, "shop-compare", script)
        with pytest.raises(PolicyError, match="the oracle of shop-compare failed"):
            await OraclePolicy("shop-compare").act(whole, page)


def test_a_script_is_known_that_is_registered_after_the_table_was_read() -> None:
    assert "registered-later" not in ORACLES
    oracle("registered-later")(lambda view: Click(1))
    assert "registered-later" in ORACLES
    del ORACLES["registered-later"]
