"""The text form of actions: what is written is read back, and nothing else is."""

import dataclasses
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as some

from webagent.action import ACTIONS, Action, describe, format_action, parse_action
from webagent.action.actions import Answer, Click, Fill, Goto, Press, SelectOptions, Wait
from webagent.action.grammar import usage
from webagent.errors import ActionError


def arguments(cls: type[Action]) -> some.SearchStrategy[dict[str, Any]]:
    """Values for every field of an action class."""
    hints = get_type_hints(cls).items()
    return some.fixed_dictionaries({name: values(kind) for name, kind in hints})


def values(kind: Any) -> some.SearchStrategy[Any]:
    """Values of the type of a field."""
    if get_origin(kind) is Literal:
        return some.sampled_from(get_args(kind))
    if get_origin(kind) is tuple:
        return some.lists(some.text(max_size=20), max_size=4).map(tuple)
    return {int: some.integers(-(10**9), 10**9), str: some.text(max_size=200)}[kind]


ANY_ACTION = some.sampled_from(list(ACTIONS.values())).flatmap(
    lambda cls: arguments(cls).map(lambda given: cls(**given))
)


@given(ANY_ACTION)
def test_every_action_is_read_back_as_it_was_written(action: Action) -> None:
    assert parse_action(format_action(action)) == action


@given(some.text(max_size=300))
def test_any_text_is_an_action_or_an_action_error(text: str) -> None:
    try:
        action = parse_action(text)
    except ActionError as error:
        assert str(error)
    else:
        assert type(action) in ACTIONS.values()


@pytest.mark.parametrize(
    "mark", ["12", "'12'", "[12]", "'[12]'", "12.0", "012", "#12", "element=12", "mark=[12]"]
)
def test_a_mark_may_be_written_as_models_do(mark: str) -> None:
    assert parse_action(f"click({mark})") == Click(12)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("clack(1)", "no action called 'clack'"),
        ("click()", "click(mark, button) lacks mark"),
        ("click(1, 'left', 3)", "takes 2 arguments, found 3"),
        ("click(1, mark=1)", "mark is given twice"),
        ("click(1, speed=2)", "has no argument 'speed'"),
        ("click('one')", "mark cannot be 'one'"),
        ("click(True)", "mark cannot be True"),
        ("click(1, 'sideways')", "button cannot be 'sideways'"),
        ("fill(1, name)", "arguments are plain strings and numbers, found name"),
        ("fill(1, f())", "arguments are plain strings and numbers, found f()"),
        ("select_options(1, 'Red')", "options cannot be 'Red'"),
        ("select_options(1, [2])", "options cannot be [2]"),
        ("dialog('maybe')", "reply cannot be 'maybe'"),
        ("dialog([])", "reply cannot be []"),
        ("click(**{'mark': 1})", "takes no ** arguments"),
        ("click(1); click(2)", "not an action call"),
        ("12", "expected one call"),
        ("", "not an action call"),
        ("click(1)" + " " * 20_001, "the limit is 20000"),
    ],
)
def test_what_is_wrong_is_named(text: str, complaint: str) -> None:
    with pytest.raises(ActionError) as raised:
        parse_action(text)
    assert complaint in str(raised.value)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ('fill(3, "two\nlines")', "two\nlines"),
        ("fill(3, “it's (new)”)", "it's (new)"),
        ("fill(3, ‘it’s’)", "it’s"),
        ("fill(3, 'it's')", "it's"),
        ("fill（3，“x”）", "x"),
        ("fill(3,\u00a0'x')", "x"),
        ("Fill (3, 'x')", "x"),
        ("fill(3, 42)", "42"),
        ("fill(3, 42.50)", "42.50"),
        ("fill(mark=3, value='x')", "x"),
        ('fill(3, "“quoted” – (a，b)")', "“quoted” – (a，b)"),
    ],
)
def test_what_models_write_for_pythons_signs_is_read(text: str, typed: str) -> None:
    assert parse_action(text) == Fill(3, typed)


def test_keys_and_addresses_need_no_quotation_marks() -> None:
    assert parse_action("press(3, Enter)") == Press(3, "Enter")
    assert parse_action("press(mark=3, key=Control+a)") == Press(3, "Control+a")
    address = "https://shop.example/a?b=(c),d#e"
    assert parse_action(f"goto({address})") == parse_action(f"goto( {address} )") == Goto(address)
    for text in ("press(3, key())", "goto(address)", "goto(https://a b)", "fill(3, https://a)"):
        with pytest.raises(ActionError):
            parse_action(text)


def test_an_answer_that_is_a_number_or_data_stays_as_it_was_written() -> None:
    assert parse_action("answer(349)") == Answer("349")
    assert parse_action("answer(349.50)") == Answer("349.50")
    assert parse_action('answer({"price": 349})') == Answer('{"price": 349}')
    with pytest.raises(ActionError, match="text cannot be True"):
        parse_action("answer(True)")


def test_defaults_may_be_left_out() -> None:
    assert parse_action("wait()") == Wait(1000)
    assert format_action(Click(3)) == "click(3)"
    assert format_action(Fill(3, 'say "hi"\n')) == r'fill(3, "say \"hi\"\n")'


def test_a_list_of_texts_may_be_written_as_a_list_or_a_tuple() -> None:
    both = SelectOptions(3, ("Red", "Blue"))
    assert parse_action('select_options(3, ["Red", "Blue"])') == both
    assert parse_action("select_options(3, ('Red', 'Blue'))") == both
    assert format_action(both) == 'select_options(3, ["Red", "Blue"])'


def test_the_help_describes_every_action_in_one_line() -> None:
    lines = describe().splitlines()
    assert len(lines) == len(ACTIONS)
    plain, *optional = lines[0].split(" Optional: ")
    assert plain == "click(mark)  Click an element."
    assert optional == ['button, "left" or "middle" or "right".']
    assert "answer(text)  " in describe() and "dialog(reply)  " in describe()
    assert all(dataclasses.fields(ACTIONS[name]) or usage(name) == f"{name}()" for name in ACTIONS)


def test_a_button_that_is_pressed_without_a_key_is_clicked() -> None:
    assert parse_action("press(3)") == parse_action("click(3)")
