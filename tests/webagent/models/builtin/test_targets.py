"""Actions as ids and back, and the grammar that lets nothing else through."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.lessons import WORDS, lesson, node, page, task
from tests.fakes.networks import untrained
from webagent.action import Action, format_action, parse_action
from webagent.action.actions import (
    Answer,
    Click,
    DoubleClick,
    DragAndDrop,
    Fill,
    Focus,
    GiveUp,
    GoBack,
    GoForward,
    Goto,
    Hover,
    MouseClick,
    MouseDrag,
    NewTab,
    Press,
    Scroll,
    SelectOption,
    TabClose,
    TabFocus,
    UploadFile,
    Wait,
)
from webagent.models.builtin.prefix import Prefix, encode
from webagent.models.builtin.targets import MAX_TEXT, ActionGrammar, Codec
from webagent.models.builtin.vocabulary import SLOTS, op_of
from webagent.records import Observation

VIEWPORT = (128, 100)
MODEL = untrained()
GRAMMAR = ActionGrammar(Codec(MODEL.vocabulary))
CODEC = GRAMMAR.codec
PAGE = page(
    'Type "New York", then 3-4 bytes',
    node(1, "textbox", "City", value="Rome"),
    node(2, "combobox", "Size"),
    node(3, "option", "Extra large"),
    node(4, "option", "Small"),
    node(5, "button", "OK"),
    node(0, "text", "alpha beta"),
)
SAYABLE: tuple[Action, ...] = (
    *(Click(5), DoubleClick(5), Hover(1), Focus(1)),
    *(Fill(1, "New York"), Fill(1, "3-4 bytes"), Fill(1, ""), Fill(1, "alpha psi omega")),
    *(SelectOption(2, "Extra large"), SelectOption(2, "Small")),
    *(Press(1, "Enter"), Press(0, "Control+a"), Scroll(0, 0, 100), Scroll(5, -100, 0)),
    *(DragAndDrop(1, 5), MouseClick(7, 99), MouseDrag(0, 1, 2, 127)),
    *(GoBack(), GoForward(), NewTab(), TabFocus(2), TabClose(), Wait()),
    *(Answer(), Answer("Rome"), GiveUp("then 3-4 bytes")),
)


def prefix_of(observation: Observation = PAGE) -> Prefix:
    """The policy's prompt for a page."""
    return encode(MODEL.vocabulary, "policy", observation, ())


def encoded(action: Action, prefix: Prefix) -> list[int]:
    """The ids of an action that can be said."""
    ids = CODEC.encode(action, prefix, VIEWPORT)
    assert ids is not None
    return ids


@pytest.mark.parametrize("action", SAYABLE, ids=format_action)
def test_what_can_be_said_reads_back_the_same_and_is_allowed(action: Action) -> None:
    prefix = prefix_of()
    ids = encoded(action, prefix)
    assert CODEC.decode(ids, prefix, VIEWPORT) == action
    assert all(GRAMMAR.allowed(ids[:i], prefix)[token] for i, token in enumerate(ids))
    assert GRAMMAR.slot(ids) == "done"


def test_every_operation_is_among_them() -> None:
    assert {op_of(action) for action in SAYABLE} == set(SLOTS)


@pytest.mark.parametrize(
    "action",
    [
        *(Goto("https://example.org"), UploadFile(1, "a.txt"), Click(5, "right")),
        *(Click(77), SelectOption(2, "Huge"), Press(1, "F13"), TabFocus(-1)),
        *(Fill(1, "neverseen"), Fill(1, "york"), Fill(1, "New-York"), Fill(1, "psi-omega")),
        Fill(1, " ".join(["alpha"] * (MAX_TEXT + 1))),
    ],
    ids=format_action,
)
def test_what_cannot_be_said_exactly_is_not_said_otherwise(action: Action) -> None:
    assert CODEC.encode(action, prefix_of(), VIEWPORT) is None


def test_words_from_two_places_side_by_side_keep_the_space_between_them() -> None:
    prefix = prefix_of(page("x", node(1, "textbox", "red", value="fox"), node(2, "link", "fox")))
    assert CODEC.decode(encoded(Fill(1, "red fox"), prefix), prefix, VIEWPORT) == Fill(1, "red fox")


@pytest.mark.parametrize(
    ("action", "nearest"),
    [
        (MouseClick(333, 5), MouseClick(330, 0)),
        (Scroll(0, 3, 350), Scroll(0, 0, 400)),
        (TabFocus(2), TabFocus(2)),
    ],
)
def test_in_a_wide_viewport_the_nearest_is_said_and_a_tab_keeps_its_index(action, nearest):
    prefix, wide = prefix_of(), (1280, 720)
    ids = CODEC.encode(action, prefix, wide)
    assert ids is not None and CODEC.decode(ids, prefix, wide) == nearest


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.sampled_from(["New", "York", "Rome", ",", "-", "3", *WORDS[:4]]), max_size=9))
def test_a_text_either_reads_back_or_is_not_said(words: list[str]) -> None:
    prefix, action = prefix_of(), Fill(1, " ".join(words))
    ids = CODEC.encode(action, prefix, VIEWPORT)
    assert ids is None or CODEC.decode(ids, prefix, VIEWPORT) == action
    is_hard = {",", "-"} & set(words) or len(set(words)) < len(words)
    assert ids is not None or is_hard, "each of these words stands on the page"


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_walk_through_what_is_allowed_ends_in_an_action_that_can_be_done(seed: int) -> None:
    dice = random.Random(seed)
    observation = dice.choice([PAGE, lesson(dice)[0], page("nothing here")])
    prefix = prefix_of(observation)
    ids: list[int] = []
    while GRAMMAR.slot(ids) != "done":
        ids.append(int(dice.choice(np.flatnonzero(GRAMMAR.allowed(ids, prefix)).tolist())))
        assert len(ids) <= 40, "generation would have stopped before the action was complete"
    action = CODEC.decode(ids, prefix, task().viewport)
    assert parse_action(format_action(action)) == action
    for name in ("mark", "source", "target"):
        mark = getattr(action, name, 0)
        assert mark == 0 or observation.node(mark) is not None


def test_only_the_operations_given_are_allowed() -> None:
    grammar = ActionGrammar(CODEC, ("click", "answer"))
    first = {
        MODEL.vocabulary.word(int(i)) for i in np.flatnonzero(grammar.allowed([], prefix_of()))
    }
    assert first == {"op:click", "op:answer"}
    assert grammar.name == "actions:click,answer"


def test_without_elements_nothing_that_needs_one_is_allowed() -> None:
    grammar = ActionGrammar(CODEC, ("click", "fill", "press"))
    empty = prefix_of(page("x", node(0, "text", "only text")))
    words = [MODEL.vocabulary.word(int(i)) for i in np.flatnonzero(grammar.allowed([], empty))]
    assert words == ["op:press"]


def test_only_press_and_scroll_may_go_to_the_page_itself() -> None:
    prefix, page_id = prefix_of(), CODEC.pointer(0)
    start = {op: MODEL.vocabulary.id(f"op:{op}") for op in ("press", "scroll", "click", "fill")}
    allowed = {op: bool(GRAMMAR.allowed([token], prefix)[page_id]) for op, token in start.items()}
    assert allowed == {"press": True, "scroll": True, "click": False, "fill": False}


def test_a_text_is_closed_when_it_is_as_long_as_it_may_be() -> None:
    prefix = prefix_of()
    ids = [MODEL.vocabulary.id("op:answer"), *[MODEL.vocabulary.text_ids[0]] * MAX_TEXT]
    assert np.flatnonzero(GRAMMAR.allowed(ids, prefix)).tolist() == [CODEC.end]
    assert GRAMMAR.slot([*ids, CODEC.end]) == "done"
