"""Finding the thought and the action in what models really write."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webagent.action import ACTIONS, format_action
from webagent.action.actions import Answer, Click, Fill, Goto, Press, Scroll
from webagent.errors import ActionError
from webagent.models.model import Reply
from webagent.policy.reply import ReplyReader, read_reply
from webagent.records import Node, Observation

CORPUS = [
    json.loads(line)
    for line in Path(__file__).with_name("replies.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Replies in the shapes of ten families of models and of small ones, each with its right reading:
the action, what is not done beside it and perhaps the thought, or what is wrong with it."""
PAGE = Observation("", "", "", tuple(Node(mark, "button", "") for mark in range(1, 20)))


@pytest.mark.parametrize(
    ("text", "thought", "action"),
    [
        ("Thought: press it\nAction: click(12)", "press it", Click(12)),
        ("**Thought:** press it\n\n**Action:** `click(12)`", "press it", Click(12)),
        ("Thought: press it\nAction:\n```python\nclick(12)\n```", "press it", Click(12)),
        ("press it\n```\nclick(12)\n```\n", "press it", Click(12)),
        ("I press it: click(12)", "I press it:", Click(12)),
        ("click(12)", "", Click(12)),
        ("not click(3) but click(12), so that", "not click(3) but", Click(12)),
        ("Thought: not click(3)\nAction: click(12) presses it", "not click(3)", Click(12)),
        ("Action: click(12)\nAction: click(mark=12)", "", Click(12)),
        ("<think>click(3)? Action: click(4)</think>Action: click(12)", "", Click(12)),
        ("Action: fill(3, \"a ) b ( 'c'\")", "", Fill(3, "a ) b ( 'c'")),
        ('Action: fill(3, "call click(4)")', "", Fill(3, "call click(4)")),
        ('Action: fill(3, """two\nlines""")', "", Fill(3, "two\nlines")),
        ('ACTION: press(0, "Control+a")', "", Press(0, "Control+a")),
        ('maybe press("a\nAction: fill(3, "a) b")', 'maybe press("a', Fill(3, "a) b")),
        ("Action: press(3, Enter)", "", Press(3, "Enter")),
        ("Action: goto(https://a.example/b?c=(d))", "", Goto("https://a.example/b?c=(d)")),
        ("action: scroll(0, 0, -300)", "", Scroll(0, 0, -300)),
        ("Thought: it's done\nAction: answer(\"it's 5\")", "it's done", Answer("it's 5")),
    ],
)
def test_thought_and_action_are_found(text, thought, action):
    assert read_reply(text) == (thought, action)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty"),
        ("<think>long</think>  ", "empty"),
        ("I would rather not.", "no action in the reply 'I would rather not.'"),
        ("Action: press the button", "not an action call: 'press the button'"),
        ("Thought: maybe click(3)\nAction: none", "expected one call"),
        ("Action: click(3)\nObservation: ok\nAction: click(4)", "exactly one action"),
        ("click(3)\nNo, rather:\nclick(4)", r"exactly one action, found click\(3\), click\(4\)"),
        ("Action: click(3", "not an action call"),
        ('Action: fill(3, "never closed)', "not an action call"),
        ("Action: click(__import__('os'))", "plain strings and numbers"),
        ("Action: click()", "lacks mark"),
    ],
)
def test_what_is_wrong_with_an_unreadable_reply_is_named(text, complaint):
    with pytest.raises(ActionError, match=complaint):
        read_reply(text)


@given(st.integers(0, 999), st.text(max_size=40), st.text("abc \n'\"()`", max_size=30))
def test_any_text_typed_survives_the_way_through_a_reply(mark, typed, thought):
    action = Fill(mark, typed)
    _, read = read_reply(f"Thought: {thought}\nAction: {format_action(action)}")

    assert read == action


@given(st.text("acton:fil(){}\"'`,1 \n</think>", max_size=120))
def test_no_text_at_all_breaks_the_reader(text):
    try:
        read_reply(text)
    except ActionError as error:
        assert str(error)


@pytest.mark.parametrize("family", sorted({each["family"] for each in CORPUS}))
def test_every_family_of_models_is_read_as_it_means(family):
    reader = ReplyReader(PAGE, tuple(ACTIONS), max_tokens=100)
    for known in (each for each in CORPUS if each["family"] == family):
        reply = Reply(known["text"], known.get("finish", "stop"))
        if "error" in known:
            with pytest.raises(ActionError, match=re.escape(known["error"])):
                reader.read(reply)
            continue
        read = reader.read(reply)
        assert format_action(read.action) == known["action"], known["text"]
        assert list(map(format_action, read.not_done)) == known.get("not_done", [])
        assert read.thought == known.get("thought", read.thought)


def test_reasoning_alone_is_no_reply():
    reader = ReplyReader(PAGE, tuple(ACTIONS), max_tokens=100)
    with pytest.raises(ActionError, match="empty beside its reasoning"):
        reader.read(Reply("", reasoning='I think that it is 349. answer("349")'))
