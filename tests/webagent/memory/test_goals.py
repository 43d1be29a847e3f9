"""Values of goals as people write them: without quotation marks, in any place and order."""

import pytest

from webagent.memory.goals import align, extend_value, read_goal
from webagent.memory.memory import Memory
from webagent.records import Node, Observation


@pytest.mark.parametrize(
    ("goal", "values"),
    [
        ("Blue Teapot: how many are left?", ["Blue Teapot"]),
        ("Leave it. Mary Stone has paid.", ["Mary Stone"]),
        ("Anna's bill is paid.", ["Anna"]),
        ('Open Mary Stone\'s bill. Status: "Paid"', ["Mary Stone", "Paid"]),
        (
            "Set Ann's theme to 'dark', the users' view to ‘Don't care’",
            ["Ann", "dark", "Don't care"],
        ),
        ("Oslo = my home", ["Oslo"]),
        ("My home -> Oslo", ["Oslo"]),
        ("Delete Blue Teapot", ["Blue Teapot"]),
        ("Drag Anna up by one.", ["Anna"]),
        ("Cheap tea is fine", []),
        ("Where I live, I'd say, is Oslo", ["Oslo"]),
        ("2x Blue Teapot, part number B-2207", ["2", "Blue Teapot", "B-2207"]),
        ("Its SKU B-2207", ["SKU", "B-2207"]),
        ("Send 7 this text: They will come later. Wait.", ["7", "They will come later. Wait."]),
        ("Send it: Fast delivery, to where I live in Oslo.", ["Fast", "Oslo"]),
    ],
)
def test_values_are_found_wherever_they_stand(goal: str, values: list[str]) -> None:
    assert [slot.text for slot in read_goal(goal).slots] == values


@pytest.mark.parametrize(
    ("goal", "values"),
    [
        ("IBAN: Tom Hill has which one?", ["IBAN", "Tom Hill"]),
        ("Which iban does Tom Hill have?", ["", "Tom Hill"]),
    ],
)
def test_a_name_in_both_goals_is_no_other_value(goal: str, values: list[str]) -> None:
    theirs, ours = read_goal("Find the IBAN for Mary Stone"), read_goal(goal)
    assert [ours.slots[i].text if i >= 0 else "" for i in align(theirs, ours)] == values


def test_numbers_are_matched_by_how_they_are_written() -> None:
    theirs = read_goal("Sell 12 jars at 4.50 euros")
    ours = read_goal("Jars: ask 3.75, amount 9")
    assert [ours.slots[i].text for i in align(theirs, ours)] == ["9", "3.75"]


def test_a_name_ends_where_it_ends_on_the_page() -> None:
    nodes = (Node(1, "link", "Spring sale"), Node(2, "link", "Spring"))
    page = Observation("Please end Spring sale for now", "http://shop.test/", "Shop", nodes)
    assert Memory().scene(page, ()).value(("$", 0)) == "Spring sale"
    assert read_goal(page.goal).slots[0].text == "Spring"


@pytest.mark.parametrize(
    ("goal", "typed", "value"),
    [
        (
            "Tell them: Lights flicker at night, soon.",
            ["A door is stuck"],
            "Lights flicker at night",
        ),
        ("Tell them: Lights flicker at night.", ["A door is stuck."], "Lights flicker at night."),
        (
            "Say Lights flicker. It is dark. Then go",
            ["It rains. It pours."],
            "Lights flicker. It is dark.",
        ),
        ("Say Lights flicker, it is dark", ["It rains, it pours"], "Lights flicker, it is dark"),
        ('Say "Lights" flicker', ["A door is stuck"], "Lights"),
        ("Say Lights flicker", ["Doors"], "Lights"),
        ("Say Lights flicker", ["Two Doors"], "Lights"),
        ("Say Lights flicker", [], "Lights"),
    ],
)
def test_a_value_is_as_long_as_what_was_typed(goal: str, typed: list[str], value: str) -> None:
    assert extend_value("Lights", goal, typed) == value


def test_the_sign_behind_a_value_is_its_own_where_all_had_one() -> None:
    goal = "It reads “Lights flicker”. Save it."
    assert extend_value("Lights flicker", goal, ["It is dark."]) == "Lights flicker."
    assert extend_value("Lights flicker", goal, ["It is dark"]) == "Lights flicker"


def test_numbers_and_dates_are_the_same_in_marks_and_without() -> None:
    marked = read_goal('Set the price of "Blue Teapot" to "46.50" from "2026-03-08".')
    plain = read_goal('Set the price of "Blue Teapot" to 12.00 from 2026-05-11.')
    assert [slot.kind for slot in marked.slots] == ["quoted", "number", "number"]
    assert marked.template == plain.template
    assert align(marked, plain) == (0, 1, 2)
