"""What a single demonstration says of goals that lead elsewhere: another page, name or button."""

from tests.fakes.orders import episode, recalled, taught
from webagent.action.actions import Action, Answer, Check, Click, Fill
from webagent.memory.analogy import family
from webagent.memory.scorer import prior
from webagent.records import Node, Trajectory


def after(shown: Trajectory, new: Trajectory) -> Action:
    return recalled(taught(shown), new).action


def thing(mark: int, name: str, y: int, x: int = 0, role: str = "generic") -> Node:
    return Node(mark, role, name, kind="span", box=(x, y, 40, 10))


def test_a_name_that_goes_on_after_the_value_is_found_where_none_is_the_value() -> None:
    page = (thing(1, "Share", 0), thing(2, "Report", 20), thing(3, "Block @ada", 40))
    shown = episode("a", 'Click on "Report".', (page, Click(2)))
    assert after(shown, episode("new", 'Click on "Block".', (page, Click(3)))) == Click(3)


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


def test_the_value_that_differs_decides_and_not_words_that_stand_on_the_page_as_well() -> None:
    def disconnect(name: str, account: str, mark: int) -> Trajectory:
        lines: list[Node] = [Node(0, "text", "Accounts", kind="h2", box=(0, 0, 90, 10))]
        for i, each in enumerate(("GitHub", "GitLab", "Slack"), start=1):
            lines.append(Node(0, "text", each, kind="b", box=(0, 50 * i, 90, 10)))
            lines.append(Node(0, "text", "Connected", kind="p", box=(0, 50 * i + 15, 90, 10)))
            lines.append(thing(i, "Disconnect", 50 * i + 30, role="button"))
        goal = f"Disconnect the {account} connected account."
        return episode(name, goal, (tuple(lines), Click(mark)))

    assert after(disconnect("a", "GitHub", 1), disconnect("new", "Slack", 3)) == Click(3)


def test_a_person_is_found_where_lists_have_the_last_name_first() -> None:
    def remove(name: str, goal: str, mark: int) -> Trajectory:
        lines: list[Node] = []
        for i, each in enumerate(("Lee, Ann", "Ode, Bo", "Poe, Cy"), start=1):
            lines.append(Node(0, "text", f"{each} | nurse", kind="td", box=(0, 50 * i, 90, 10)))
            lines.append(Node(i, "button", "Remove", kind="button", box=(99, 50 * i, 90, 10)))
            lines.append(Node(i + 3, "link", each, kind="a", box=(200, 50 * i + 20, 90, 10)))
        return episode(name, goal, (tuple(lines), Click(mark)))

    shown = remove("a", "Remove Ann Lee from the ward.", 1)
    assert after(shown, remove("new", "Remove Cy Poe from the ward.", 3)) == Click(3)
    shown = remove("b", "Open the record of Ann Lee.", 4)
    assert after(shown, remove("new", "Open the record of Cy Poe.", 6)) == Click(6)


def test_a_value_that_was_entered_in_a_field_is_not_ticked_as_well() -> None:
    def share(name: str, payer: str, guest: str) -> Trajectory:
        people = ("Ann", "Bo", "Cy", "Di")
        field = Node(9, "textbox", "Payer", kind="input:text", box=(0, 0, 100, 20))
        boxes = (
            Node(i, "checkbox", each, kind="input:checkbox", box=(0, 30 * i, 20, 20))
            for i, each in enumerate(people, start=1)
        )
        page = (field, *boxes)
        goal = f'"{payer}" paid, share it with "{guest}".'
        turns = ((page, Fill(9, payer)), (page, Check(people.index(guest) + 1)), (page, Answer("")))
        return episode(name, goal, *turns)

    shown = share("a", "Cy", "Di")
    new = share("new", "Ann", "Bo")
    assert [recalled(taught(shown), new, i).action for i in (1, 2)] == [Check(2), Answer("")]


def test_the_row_that_has_all_values_goes_by_the_goal() -> None:
    both = (("$", 0), ("$", 1))
    assert prior(family(("rows", both, "button", 0))) == prior(
        family(("row", ("$", 0), 0, "", "", 0))
    )
    assert prior(family(("rows", both, "button", 0), frozenset({0, 1}))) == 0
