"""Events become actions, whatever order and company they come in; no browser is needed."""

from typing import Any

import pytest

from apps.record.session import UNKNOWN, hide_secrets, hide_secrets_in_action
from apps.record.translator import PendingStep, Translator
from webagent.action import format_action
from webagent.action.actions import Fill, Goto
from webagent.browser.watching import UserEvent
from webagent.records import Node, Observation

NODES = (
    Node(1, "textbox", "Name", kind="input:text"),
    Node(2, "button", "Send", kind="button"),
    Node(3, "checkbox", "Gift", kind="input:checkbox"),
    Node(4, "combobox", "Size", kind="select"),
)
PAGE = Observation("Do it", "http://a.test/", "A", NODES)
LATER = Observation("Do it", "http://a.test/", "A", (*NODES, Node(9, "link", "Shoes")))


class Kept:
    """A translator with what came of it."""

    def __init__(self) -> None:
        self.drafts: list[PendingStep] = []
        self.said: list[str] = []
        self.translator = Translator(self.drafts.append, self.said.append)

    def hear(self, what: str, mark: int = 0, seen: Observation = PAGE, **said: Any) -> None:
        """One event; what is not said is as usual."""
        rested, is_fresh = said.pop("rested", None), said.pop("is_fresh", True)
        usual = {"called": "it", "kind": "button", "x": 5, "y": 5, "isTop": True, "button": 0}
        usual |= {"isSecret": False, "held": [], "keys": [], "hovered": []}
        self.translator.hear(UserEvent(what, seen, is_fresh, mark, {**usual, **said}, rested))

    def click(self, mark: int, **said: Any) -> None:
        """Press and let go."""
        self.hear("down", mark, **said)
        self.hear("up", mark, **said)

    def done(self, after: Observation = PAGE) -> list[str]:
        """All actions, the person being done."""
        self.translator.finish(after)
        return [format_action(draft.action) for draft in self.drafts]


@pytest.fixture
def kept() -> Kept:
    return Kept()


def test_text_that_was_taken_back_is_nothing_and_emptying_a_field_is_clearing_it(kept):
    kept.hear("typing", 1, value="old")
    kept.hear("typed", 1, value="old!")
    kept.hear("typed", 1, value="old")
    kept.click(2)
    kept.hear("typing", 1, value="old")
    kept.hear("typed", 1, value="")

    assert kept.done() == ["click(2)", "clear(1)"]


def test_two_clicks_are_two_unless_the_browser_calls_them_one(kept: Kept) -> None:
    kept.click(2)
    kept.click(2)
    kept.hear("double", 2)
    kept.click(2)
    kept.click(2)

    assert kept.done() == ["dblclick(2)", "click(2)", "click(2)"]


def test_a_click_whose_page_went_before_the_mouse_was_let_go_is_kept(kept: Kept) -> None:
    kept.hear("down", 2)

    assert kept.done() == ["click(2)"]


def test_the_last_choice_of_a_list_counts_and_several_are_kept_together(kept: Kept) -> None:
    kept.click(4, kind="select")
    kept.hear("chosen", 4, labels=["M"], isSeveral=False)
    kept.hear("chosen", 4, labels=["L"], isSeveral=False)
    kept.click(2)
    kept.hear("chosen", 4, labels=["S"], isSeveral=True)
    kept.hear("chosen", 4, labels=["S", "L"], isSeveral=True)

    assert kept.done() == ['select_option(4, "L")', "click(2)", 'select_options(4, ["S", "L"])']


def test_files_stand_for_the_click_that_asked_for_them(kept: Kept) -> None:
    kept.click(2)
    kept.hear("files", 0, paths=["/a.txt"], count=1)
    kept.hear("files", 2, paths=[], count=1)

    assert kept.done() == ['upload_file(2, "/a.txt")']
    assert kept.said == ["files put into it were left out: they cannot be located"]


def test_buttons_and_held_keys_are_kept(kept: Kept) -> None:
    kept.click(2, button=2)
    kept.click(2, keys=["Control"])
    kept.hear("key", 0, key="k", held=["Control", "Shift"])
    kept.hear("key", 1, key="ArrowDown", held=["Shift"])
    kept.hear("key", 1, key=" ")

    assert kept.done() == [
        'click(2, "right")',
        'click_with(2, "Control")',
        'press(0, "Control+k")',
        'press(1, "Shift+ArrowDown")',
        'press(1, "Space")',
    ]


@pytest.mark.parametrize(
    ("what", "mark", "given", "said"),
    [
        ("key", 1, {"key": "ß"}, "the key 'ß' was left out: it has no name in the action grammar"),
        ("down", 77, {"is_fresh": False}, "a click on it was left out: it came too soon"),
        ("down", 0, {"isTop": False}, "a click on it was left out: "),
    ],
)
def test_what_cannot_be_an_action_is_said_and_not_invented(kept: Kept, what, mark, given, said):
    kept.hear(what, mark, **given)

    assert kept.done(LATER) == []
    assert len(kept.said) == 1 and kept.said[0].startswith(said)


def test_a_point_is_clicked_where_nothing_has_a_mark_and_something_came_of_it(kept: Kept) -> None:
    kept.click(0, x=30, y=40)
    assert kept.done(LATER) == ["mouse_click(30, 40)"]

    other = Kept()
    other.click(0, x=30, y=40)
    assert other.done(PAGE) == []
    assert other.said == ["a click on it was left out: it had no effect"]


def test_what_was_hovered_or_scrolled_is_kept_only_where_it_was_needed(kept: Kept) -> None:
    kept.hear("scrolled", 0, dx=0, dy=300)
    kept.click(2)
    kept.click(9, seen=LATER, rested=PAGE, hovered=[1, 2])
    kept.hear("scrolled", 0, dx=0, dy=200)
    kept.hear("scrolled", 0, dx=0, dy=100, seen=LATER)
    kept.click(9, seen=LATER)

    assert kept.done() == [
        *("click(2)", "hover(2)", "click(9)"),
        *("scroll(0, 0, 300)", "click(9)"),
    ]
    assert [draft.seen for draft in kept.drafts[1:3]] == [PAGE, LATER]


def test_dragging_is_from_mark_to_mark_or_else_from_point_to_point(kept: Kept) -> None:
    kept.hear("down", 1)
    kept.hear("up", 2, x=90)
    kept.hear("down", 0, x=10, y=10)
    kept.hear("up", 0, x=60, y=10)

    assert kept.done(LATER) == ["drag_and_drop(1, 2)", "mouse_drag(10, 10, 60, 10)"]


def test_moves_of_the_browser_end_what_was_being_typed(kept: Kept) -> None:
    kept.hear("typing", 1, value="")
    kept.hear("typed", 1, value="x")
    kept.hear("went", url="http://b.test/")
    kept.hear("back")
    kept.hear("forward")
    kept.hear("opened")
    kept.hear("tab", index=0)
    kept.hear("closed")

    assert kept.done() == [
        'fill(1, "x")',
        'goto("http://b.test/")',
        *("go_back()", "go_forward()", "new_tab()", "tab_focus(0)", "tab_close()"),
    ]


def test_a_secret_is_kept_by_a_name_and_another_one_by_another(kept: Kept) -> None:
    for value in ("hunter22", "hunter22", "letmein1"):
        kept.hear("typing", 1, value="", isSecret=True)
        kept.hear("typed", 1, value=value, isSecret=True)
        kept.click(2)

    assert [action for action in kept.done() if action.startswith("fill")] == [
        'fill(1, "<secret:password>")',
        'fill(1, "<secret:password>")',
        'fill(1, "<secret:password2>")',
    ]
    assert kept.translator.secret_marks == {1}


def test_a_secret_is_masked_in_its_field_and_wherever_else_it_stands() -> None:
    field = Node(1, "textbox", "Pass", value="hunter22", kind="input:password")
    half = Node(2, "textbox", "Pass", value="hun", kind="input:password")
    code = Node(3, "textbox", "Code", value="123", kind="input:text")
    page = Observation("g", "http://a.test/?p=hunter22", "A", (field, half, code), screenshot="s")
    seen = hide_secrets(page, {"hunter22": "password"}, {3})

    assert [node.value for node in seen.nodes] == ["<secret:password>", UNKNOWN, UNKNOWN]
    assert (seen.url, seen.screenshot) == ("http://a.test/?p=<secret:password>", "")
    action = hide_secrets_in_action(Goto("http://a.test/?p=hunter22"), {"hunter22": "password"})
    assert action == Goto("http://a.test/?p=<secret:password>")


def test_where_no_secret_stands_in_the_open_the_picture_stays() -> None:
    field = Node(1, "textbox", "Pass", value="pin", kind="input:password")
    page = Observation("g", "http://a.test/", "A", (field,), screenshot="s")
    seen = hide_secrets(page, {"pin": "password"}, set())

    assert (seen.nodes[0].value, seen.screenshot) == ("<secret:password>", "s")
    assert hide_secrets_in_action(Fill(1, "spinning"), {"pin": "password"}) == Fill(1, "spinning")
