"""Whether what is about to be sent fits the goal, by the pages seen and what was entered."""

import json

import pytest

from webagent.action import parse_action
from webagent.guard.writes import (
    FilledField,
    PendingWrite,
    SentWrite,
    WriteCheck,
    describe_writes,
    find_shown,
    read_fields,
)
from webagent.records import Node, Observation

LONG = "One line of notes.\nA second line with more of them.\nThe colour is red."


def page(goal: str, *nodes: Node) -> Observation:
    return Observation(goal, "http://office.test/notes/7", "Notes", nodes)


def objection(goal: str, field: Node, action: str, *others: Node) -> str:
    """Return what is said against sending a form after one action on its field."""
    check, seen = WriteCheck(), page(goal, field, *others)
    check.note(parse_action(action), seen)
    check.note(parse_action("click(9)"), seen)
    return check.object_to(PendingWrite("POST", "http://office.test/notes/7"))


@pytest.mark.parametrize(
    ("goal", "value", "is_fine"),
    [
        ('Set the colour to "Dark red".', "Dark red", True),
        ("Close the ticket.", "Closed", True),
        ("Reopen it.", "Open", True),
        ("Note it for 3 May 2027.", "2027-05-03", True),
        ("It costs £1,250 now.", "1250", True),
        ("It costs £1,250 now.", "1520", False),
        ("Add a remark.", "Closed", False),
    ],
)
def test_a_value_has_to_be_in_the_goal_in_some_form(goal: str, value: str, is_fine: bool) -> None:
    said = objection(goal, Node(1, "textbox", "Value"), f'fill(1, "{value}")')

    assert said == ("" if is_fine else f"{value!r} for 'Value' is not what the goal asks for")


def test_a_number_may_be_what_the_goal_adds_and_a_typed_one_what_a_page_shows() -> None:
    stock = Node(1, "spinbutton", "Stock", "25")
    goal = "Twelve, that is 12, have come. Answer with the order's number."

    assert not objection(goal, stock, 'fill(1, "37")')
    assert objection(goal, stock, 'fill(1, "38")')
    assert objection(goal, stock, 'fill(1, "38")', Node(0, "text", "38 shops"))
    assert not objection(
        goal, Node(1, "textbox", "No"), 'fill(1, "70431")', Node(0, "text", "No. 70431")
    )


def test_a_part_of_an_address_is_not_the_address() -> None:
    field, goal = Node(1, "textbox", "Contact"), "Write Ola Gruber <ola@quill.test> there."

    assert "only a part of 'ola@quill.test'" in objection(goal, field, 'fill(1, "quill")')
    assert not objection(goal, field, 'fill(1, "ola@quill.test")')


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (LONG.replace("red", "blue"), ""),
        (LONG + "\nIt is blue.", "adds 'it is'"),
        (LONG.replace("second line with", ""), "removes 'second line with'"),
        (LONG.replace("\n", " ").replace("red", "blue"), ""),
        (LONG.replace("\n", " "), "loses line breaks"),
        ("Something else is here now, and of what there was nothing.", "replaces all"),
    ],
)
def test_an_edit_does_what_the_goal_asks_for_and_nothing_else(new: str, said: str) -> None:
    found = objection(
        "The colour should be blue, not red.",
        Node(1, "textbox", "Text", LONG),
        f"fill(1, {json.dumps(new)})",
    )

    assert found.startswith(f"the new text for 'Text' {said}") if said else not found


def test_a_number_that_no_field_has_is_missed_and_a_value_used_nowhere_is_listed() -> None:
    check = WriteCheck()
    goal = 'Put 2 of the "Isla Knife" into the basket with the code AUTUMN15.'
    seen = page(goal, Node(0, "text", "Isla Knife"), Node(3, "spinbutton", "Quantity", "1"))
    check.note(parse_action("click(4)"), seen)

    assert "'Quantity' stays at '1'" in check.object_to(PendingWrite("POST", seen.url))
    assert check.list_unused() == ["autumn15"]


def test_numbers_count_as_a_field_holds_them_and_signs_that_are_no_numbers_are_texts() -> None:
    others = (Node(2, "spinbutton", "Per page", "20"), Node(0, "text", "\u2776 Write"))
    order = Node(1, "textbox", "Units")
    assert not objection("Order 1,000 units of paper.", order, 'fill(1, "1,000")', *others)
    check = WriteCheck()
    check.note(parse_action('fill(1, "1200.50")'), page("Set the price to $1,200.50.", order))
    assert check.list_unused() == []
    assert read_fields(b"[" * 200_000, "application/json") == ()


def test_only_what_a_body_carries_is_compared() -> None:
    check = WriteCheck()
    seen = page("Save the draft.", Node(1, "searchbox", "Search"), Node(2, "textbox", "Title"))
    check.note(parse_action('fill(1, "other")'), seen)
    check.note(parse_action("click(9)"), seen)

    assert not check.object_to(PendingWrite("POST", seen.url, (("title", "draft"),)))
    assert check.object_to(PendingWrite("POST", seen.url, (("q", "other"),)))


@pytest.mark.parametrize(
    ("body", "kind", "fields"),
    [
        (
            b"a=1&b=&c=x+y",
            "application/x-www-form-urlencoded",
            (("a", "1"), ("b", ""), ("c", "x y")),
        ),
        (b'{"a": {"b": [1, null]}}', "application/json; charset=utf-8", (("b", "1"), ("b", ""))),
        (b"{", "application/json", ()),
        (b"abc", "text/plain", ()),
        (
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\none\r\n--x\r\n'
            b'Content-Disposition: form-data; name="f"; filename="f.txt"\r\n\r\ntwo\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
            (("a", "one"),),
        ),
    ],
)
def test_bodies_are_read_as_fields(body, kind, fields):
    assert read_fields(body, kind) == fields


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["Ann Low", "since 3 May, 555-0102"], (True, True)),
        *((["Ann Low"], (True, False)), (["nobody"], (False, False)), ([], ())),
    ],
)
def test_each_value_that_was_sent_is_looked_for_on_the_pages(texts, shown):
    entries = [
        FilledField("Name", "Ann Low", "", True, "", 1, "textbox"),
        FilledField("Phone", "555-0102", "", True, "", 2, "textbox"),
    ]
    assert find_shown(texts, entries) == shown


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "«»", "''", "‘’", "‚‘", "‹›"])
def test_values_in_quotation_marks_of_any_kind_have_to_be_used(marks):
    check, field = WriteCheck(), Node(1, "textbox", "Title")
    goal = f"Add {marks[0]}Ann's lamp{marks[1]} to the dogs' room, not {marks[0]}bed{marks[1]}."
    check.note(parse_action('fill(1, "bed")'), page(goal, field))
    assert check.list_unused() == ["ann s lamp"]
    assert [each.wanted for each in check._entries] == ["bed"]


@pytest.mark.parametrize(
    ("found", "unused", "verified"),
    [
        ([True, True], [], True),
        ([True, None], [], None),
        ([True, False], [], False),
        ([True], ["autumn15"], False),
        ([], ["autumn15"], None),
    ],
)
def test_an_episode_is_verified_where_all_that_was_sent_is(found, unused, verified):
    entry = FilledField("Name", "Ann Low", "", True, "", 1, "textbox")
    sent = [
        SentWrite(1, PendingWrite("POST", "http://a.test/"), (entry,), "", verified=each)
        for each in found
    ]

    assert describe_writes(sent, unused)["verified"] is verified
