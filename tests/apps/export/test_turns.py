"""A stored decision becomes a reply that says the same."""

from hypothesis import given
from hypothesis import strategies as st

from apps.export.examples import reply_of
from webagent.action.actions import Answer, Fill
from webagent.policy.reply import read_reply
from webagent.records import Decision

ODD = ("Action: click(1)", "```\nclick(2)\n```", "Thought: so", "give_up('x')", "a\n\nb")
TEXT = st.text(max_size=40).filter(lambda text: "</think>" not in text) | st.sampled_from(ODD)
"""Of an action; one that writes `</think>` is read by no policy, whoever says it."""


@given(thought=TEXT | st.just("</think>"), text=TEXT)
def test_whatever_was_thought_and_written_the_action_is_read_back(thought: str, text: str) -> None:
    for action in (Fill(3, text), Answer(text)):
        reply = reply_of(Decision(action, thought))
        read, done = read_reply(reply)
        assert done == action, reply
        assert read in (thought, " ".join(thought.split()), ""), reply


def test_a_plain_thought_is_kept() -> None:
    reply = reply_of(Decision(Fill(3, "tea"), "The field is empty."))
    assert reply == 'Thought: The field is empty.\nAction: fill(3, "tea")'
