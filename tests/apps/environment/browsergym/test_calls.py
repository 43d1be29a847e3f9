"""BrowserGym's calls as text: which are found, what they become, and that nothing is ever run."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.environment.browsergym.actions import ParsedCall, UserMessage, read_calls, translate
from webagent.action import Wait
from webagent.action.actions import (
    Click,
    DragAndDrop,
    Fill,
    MouseClick,
    MouseDrag,
    Press,
    Scroll,
    SelectOption,
    SelectOptions,
    TabFocus,
)
from webagent.errors import ActionError


def names(text: str) -> list[str]:
    """The names of the calls in a text."""
    return [call.name for call in read_calls(text)]


def test_calls_are_found_in_prose_and_over_lines() -> None:
    text = 'First I fill (carefully) it:\nfill("a7", "x")  click("12"), then noop()'
    assert names(text) == ["fill", "click", "noop"]
    assert read_calls("select_option('4', ['a', 'b'],)")[0].arguments == ("4", ["a", "b"])
    assert read_calls("click('1', button=\"right\")") == [
        ParsedCall("click", ("1",), {"button": "right"})
    ]


def test_comments_are_no_calls() -> None:
    assert names("# click('1')\nclick('2') # click('3')") == ["click"]
    assert read_calls("click('#4')")[0].arguments == ("#4",)


def test_strings_may_go_over_lines_and_hold_brackets_and_quotes() -> None:
    assert read_calls("fill('1', 'a\nb')")[0].arguments[1] == "a\nb"
    assert read_calls("fill('1', 'f(x) = \"y\"')")[0].arguments[1] == 'f(x) = "y"'
    assert read_calls("fill('1', '''it's\n\"so\"''')")[0].arguments[1] == 'it\'s\n"so"'
    assert read_calls("fill('1', 'it\\'s')")[0].arguments[1] == "it's"


@pytest.mark.parametrize(
    "text",
    [
        *("click(open('/etc/passwd'))", "click(__import__('os').system('id'))", "click(x)"),
        *("click('1'", "click('1\\')", "click('" + "\\" * 9_999),
    ],
)
def test_what_is_not_a_literal_is_not_read(text: str) -> None:
    assert "click" not in names(text)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        translate(text)
    except ActionError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("text", "deed"),
    [
        ("click('12')", Click(12)),
        ("click(bid='12', button='right')", Click(12, "right")),
        ("fill('7', 'text')", Fill(7, "text")),
        ("select_option('3', 'Red')", SelectOption(3, "Red")),
        ("press('5', 'Control+a')", Press(5, "Control+a")),
        ("keyboard_press('Enter')", Press(0, "Enter")),
        ("scroll(0, 200.4)", Scroll(0, 0, 200)),
        ("drag_and_drop('1', '2')", DragAndDrop(1, 2)),
        ("mouse_click(65.2, 158.5)", MouseClick(65, 158)),
        ("mouse_drag_and_drop(10, 20, 30, 40)", MouseDrag(10, 20, 30, 40)),
        ("noop()", Wait(1000)),
        ("tab_focus(2)", TabFocus(2)),
        ("send_msg_to_user('Rome')", UserMessage("Rome", "assistant")),
        ("report_infeasible('no field')", UserMessage("no field", "infeasible")),
    ],
)
def test_a_call_becomes_our_action(text: str, deed: object) -> None:
    assert translate(text) == [deed]


def test_coordinates_are_those_of_the_screenshot() -> None:
    assert translate("mouse_click(150, 75)", scale=1.5) == [MouseClick(100, 50)]


def test_several_options_are_chosen_together() -> None:
    assert translate("select_option('3', ['Red', 'Blue'])") == [SelectOptions(3, ("Red", "Blue"))]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I would rather not.", "empty action"),
        ("clik('1')", "Invalid action type 'clik'"),
        ("click()", "missing a required argument: 'bid'"),
        ("click('1', colour='red')", "unexpected keyword argument 'colour'"),
        ("click('abc')", "mark cannot be 'abc'"),
        ("send_msg_to_user(5)", "not a string"),
    ],
)
def test_what_is_wrong_is_said(text: str, reason: str) -> None:
    with pytest.raises(ActionError, match=reason):
        translate(text)


EXAMPLES = """click('1', modifiers=['Shift'])|dblclick('1')|hover('1')|focus('1')|clear('1')
check('1')|uncheck('1')|upload_file('1', 'a.txt')|upload_file('1', ['a', 'b'])
mouse_upload_file(1, 2, 'a')|scroll_at(1, 2, 3, 4)|mouse_move(1, 2)|mouse_up(1, 2)
mouse_down(1, 2, 'right')|mouse_dblclick(1, 2)|keyboard_up('Shift')|keyboard_down('Shift')
keyboard_type('ab')|keyboard_insert_text('ab')|goto('http://x')|go_back()|go_forward()
new_tab()|tab_close()"""
"""Together with those above every call of BrowserGym 0.14's action sets `chat`, `infeas`, `bid`,
`coord`, `nav` and `tab`."""


@pytest.mark.parametrize("text", re.split(r"[|\n]", EXAMPLES))
def test_the_remaining_calls_end_in_an_action_that_exists(text: str) -> None:
    assert len(translate(text)) == 1
