"""Turns as a conversation: what it holds, and that each prompt begins as the one before it."""

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.webagent.policy.scenes import HOME, TASK, asked, prompt, step, under_way
from webagent.models.model import Message
from webagent.policy.prompting import Prompting
from webagent.policy.prompting.messages import BLOCK
from webagent.records import Node, Observation, Trajectory

TALK = Prompting(form="conversation")


def page(number: int) -> Observation:
    """A page unlike the others."""
    nodes = (Node(1, "button", f"Next {number}"), Node(0, "text", f"this is page {number}."))
    outcome = "no effect" if number == 2 else ""
    return replace(HOME, nodes=nodes, screenshot=f"shot {number}", outcome=outcome)


def after(turns: int) -> Trajectory:
    """An episode of so many turns, each on a page of its own."""
    return under_way(*(step(page(n), "click(1)", f"thought {n}") for n in range(turns)))


async def messages(turns: int, prompting: Prompting = TALK, **options) -> tuple[Message, ...]:
    """What is asked after so many turns."""
    _, requests = await asked(after(turns), page(turns), prompting=prompting, **options)
    return requests[0].messages


def shared(a: tuple[Message, ...], b: tuple[Message, ...]) -> int:
    """How many messages two prompts have in common at their beginning."""
    return next(
        (n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


async def test_roles_alternate_and_replies_are_written_as_they_are_asked_for():
    asked_for = await messages(2)

    assert [m.role for m in asked_for] == ["system", *["user", "assistant"] * 2, "user"]
    assert asked_for[2].text == "Thought: thought 0\nAction: click(1)"
    assert TASK.goal in asked_for[1].text
    assert asked_for[5].text.startswith("Outcome of your action: no effect\n\nThe page now")
    assert "this is page 2." in asked_for[5].text


@pytest.mark.parametrize("switches", [{}, {"pages": 2}, {"loops": True}])
async def test_a_prompt_begins_with_the_whole_of_the_one_before_but_once_a_block(switches):
    talk = replace(TALK, **switches)
    prompts = [await messages(turns, talk) for turns in range(13)]

    appended = [shared(earlier, later) == len(earlier) for earlier, later in pairwise(prompts)]

    broken = [turn for turn, held in enumerate(appended, start=1) if not held]
    kept = talk.pages
    assert broken == [turn for turn in range(1, 13) if turn > kept and (turn - kept) % BLOCK == 0]


async def test_what_was_said_beside_an_old_page_stays_as_it_was_said_then():
    talk = replace(TALK, pages=9, loops=True)
    prompts = []
    for turns in range(5):
        past = under_way(*(step(HOME, "click(2)", f"thought {n}") for n in range(turns)))
        _, requests = await asked(past, HOME, prompting=talk)
        prompts.append(requests[0].messages)

    for earlier, later in pairwise(prompts):
        assert shared(earlier, later) == len(earlier)
    said = [message.text for message in prompts[-1] if message.role == "user"]
    assert ["click(2): 4 times" in text for text in said] == [False] * 4 + [True]
    assert ["click(2): 2 times" in text for text in said] == [False, False, True, False, False]


async def test_where_a_block_goes_the_turns_before_it_stay_as_they_were():
    seven, eight = await messages(7), await messages(8)

    assert shared(seven, eight) == 1 + 2 * BLOCK
    text = "".join(m.text for m in eight)
    assert [n for n in range(9) if f"this is page {n}." in text] == [8]
    assert eight[3].text.count("(left out; it was shown at this turn)") == 1


async def test_between_blocks_at_least_the_pages_asked_for_stay():
    for turns in range(12):
        text = "".join(m.text for m in await messages(turns, replace(TALK, pages=2)))
        shown = [n for n in range(turns + 1) if f"this is page {n}." in text]
        assert shown == list(range(shown[0], turns + 1))
        assert min(turns, 2) <= turns - shown[0] <= 2 + BLOCK - 1


async def test_screenshots_stay_at_the_turns_they_belong_to():
    asked_for = await messages(5, replace(TALK, screenshots=2), images=str.encode)

    shown = [(n, m.images) for n, m in enumerate(asked_for) if m.images]
    assert shown == [(9, (b"shot 4",)), (11, (b"shot 5",))]


async def test_many_turns_go_in_blocks_too():
    asked_for = await messages(45)

    assert "(4 earlier turns left out)" in asked_for[1].text
    assert asked_for[2].text == "Thought: thought 4\nAction: click(1)"


async def test_the_first_turn_says_the_same_in_either_form():
    said = await prompt(after(0), page(0), prompting=TALK)

    assert "What you have done so far" not in said
    assert said.endswith("Your thought and one action:")


@pytest.mark.slow
async def test_with_a_chat_template_the_next_prompt_goes_on_from_the_ids_of_the_reply():
    from tests.fakes.tiny_models import tokenizer

    chat = tokenizer()

    def ids(messages: tuple[Message, ...], *, to_be_replied: bool) -> list[int]:
        turns = [{"role": m.role, "content": m.text} for m in messages]
        return chat.apply_chat_template(
            turns, add_generation_prompt=to_be_replied, return_dict=False
        )

    for turns in (0, 1, 2, 4):
        earlier, later = await messages(turns), await messages(turns + 1)
        reply = chat.encode(f"Thought: thought {turns}\nAction: click(1)<|end|>")
        sampled = ids(earlier, to_be_replied=True) + reply
        assert ids(later, to_be_replied=True)[: len(sampled)] == sampled
