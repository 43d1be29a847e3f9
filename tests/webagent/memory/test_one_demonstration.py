"""What a single demonstration says of goals that lead elsewhere: another page, name or button."""

from tests.fakes.orders import episode
from webagent.action.actions import Action, Click, Fill
from webagent.memory import Memory
from webagent.records import Node, Trajectory


def after(shown: Trajectory, new: Trajectory, step: int = 0) -> Action:
    memory = Memory()
    memory.remember(shown)
    return memory.propose(new.steps[step].observation, new.steps[:step])[0].action


def thing(mark: int, name: str, y: int, x: int = 0, role: str = "generic") -> Node:
    return Node(mark, role, name, kind="span", box=(x, y, 40, 10))


def results(first: int, shown: int) -> tuple[Node, ...]:
    """A page of three results, above the links to three pages."""
    items = (Node(first + i, "link", f"r{first + i}", box=(0, 20 * i, 30, 9)) for i in range(3))
    pages = (
        Node(90 + i, "link", str(i), states=("selected",) * (i == shown), box=(20 * i, 150, 9, 9))
        for i in range(1, 4)
    )
    return (*items, *pages)


def test_a_result_on_a_later_page_is_reached_though_one_of_the_first_page_was_shown() -> None:
    shown = episode("a", "Click the 2nd search result.", (results(1, 1), Click(2)))
    turns = ((results(1, 1), Click(93)), (results(11, 3), Click(12)))
    new = episode("new", "Click the 8th search result.", *turns)
    assert [after(shown, new, step) for step in range(2)] == [Click(93), Click(12)]
    assert after(new, shown) == Click(2)


def test_the_number_in_the_goal_counts_more_than_the_place_that_was_shown() -> None:
    page = tuple(
        Node(i, "textbox", "", kind="input:text", box=(0, 30 * i, 90, 20)) for i in (1, 2, 3)
    )
    shown = episode("a", "Focus into the 2nd input textbox.", (page, Click(2)))
    assert after(
        shown, episode("new", "Focus into the 3rd input textbox.", (page, Click(3)))
    ) == Click(3)


def test_a_sign_in_the_goal_is_found_by_what_it_is_called() -> None:
    def press(name: str, label: str, right: int) -> Trajectory:
        page = tuple(
            thing(i + 1, n, 0, 50 * i, "button") for i, n in enumerate(("Close", "Cancel", "OK"))
        )
        return episode(name, f'Click the button labeled "{label}".', (page, Click(right)))

    assert after(press("a", "x", 1), press("new", "OK", 3)) == Click(3)
    assert after(press("a", "Cancel", 2), press("new", "x", 1)) == Click(1)


def test_a_name_that_goes_on_after_the_value_is_found_where_none_is_the_value() -> None:
    page = (thing(1, "Share", 0), thing(2, "Report", 20), thing(3, "Block @ada", 40))
    shown = episode("a", 'Click on "Report".', (page, Click(2)))
    assert after(shown, episode("new", 'Click on "Block".', (page, Click(3)))) == Click(3)


def test_what_is_closed_is_opened_where_the_name_in_the_goal_is_not_in_view() -> None:
    def find(name: str, wanted: str, right: int) -> Trajectory:
        tabs = (
            Node(1, "tab", "One", states=("expanded",), kind="li", box=(0, 0, 40, 20)),
            Node(2, "tab", "Two", states=("collapsed",), kind="li", box=(50, 0, 40, 20)),
        )
        words = (thing(3, "velit", 50), thing(4, "est,", 50, 60))
        return episode(name, f'Click on the link "{wanted}".', ((*tabs, *words), Click(right)))

    assert after(find("a", "velit", 3), find("new", "est", 2)) == Click(2)


def test_a_button_that_the_goal_speaks_of_is_pressed_at_once_beside_the_value() -> None:
    mails = tuple(
        node
        for i, who in enumerate(("Ada", "Bob", "Eve"))
        for node in (
            Node(10 * i + 1, "generic", f"{who} | Hello", kind="div", box=(0, 40 * i, 150, 30)),
            thing(10 * i + 2, "trash", 40 * i + 10, 120),
            thing(10 * i + 3, "star", 40 * i + 10, 140),
        )
    )
    opened = (thing(51, "close", 0), thing(52, "Reply", 60), thing(53, "Forward", 60, 60))
    shown = episode(
        "a", "Find the mail by Bob and reply to it.", (mails, Click(11)), (opened, Click(52))
    )
    new = episode("new", "Find the mail by Eve and click the star icon.", (mails, Click(23)))
    assert after(shown, new) == Click(23)


def test_the_cell_beside_the_label_counts_more_than_places_from_other_values() -> None:
    def read(name: str, label: str, rows: dict[str, str]) -> Trajectory:
        lines = tuple(
            Node(0, "text", f"{key} | {value}", kind="td", box=(0, 20 * i, 100, 12))
            for i, (key, value) in enumerate(rows.items())
        )
        field = Node(1, "textbox", "", kind="input:text", box=(0, 100, 100, 20))
        page = (*lines, field, thing(2, "Submit", 130, role="button"))
        goal = f"Enter the value of {label} into the text field and press Submit."
        return episode(name, goal, (page, Fill(1, rows[label])))

    shown = read("a", "Last name", {"Gender": "Male", "Last name": "Reed", "Colour": "red"})
    new = read("new", "Country", {"Country": "Iran", "Religion": "none", "Last name": "Hall"})
    assert after(shown, new) == Fill(1, "Iran")


def test_a_quoted_value_stands_for_the_one_between_the_same_words() -> None:
    def enter(name: str, goal: str, text: str) -> Trajectory:
        page = (Node(1, "textbox", "Tags:", kind="input:text", box=(0, 0, 100, 20)),)
        return episode(name, goal, (page, Fill(1, text)))

    shown = enter("a", 'Enter an item that starts with "An" and ends with "ica".', "An")
    assert after(shown, enter("new", 'Enter an item that starts with "Isr".', "Isr")) == Fill(
        1, "Isr"
    )
