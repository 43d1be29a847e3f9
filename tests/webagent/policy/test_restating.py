"""A model says which remembered goal is meant, once for each goal, and is not believed blindly."""

import pytest

from tests.fakes.networks import untrained
from tests.fakes.orders import look_up
from tests.webagent.policy import test_remembering as remembering
from tests.webagent.policy.test_remembering import at
from webagent.action.actions import Answer
from webagent.errors import ModelError, UsageError
from webagent.models.canned import CannedModel
from webagent.policy.builtin import BuiltinPolicy
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.policy.remembering import confidence_of
from webagent.policy.restating import list_requests, put_in_front, restate
from webagent.records import RESTATED

OTHER = "total of 10050, please"
KNOWN = 'What did my order "10056" come to?'
RIGHT = '{"request": 1, "goal": "What did my order \\"10050\\" come to?"}'


def taught() -> BuiltinPolicy:
    return BuiltinPolicy(untrained(), memory=remembering.taught())


async def test_a_goal_in_other_words_is_done_as_the_one_that_is_meant() -> None:
    asked = look_up("new", "10050", 70, OTHER)
    policy, model = taught(), CannedModel([RIGHT])
    restating = put_in_front(policy, model)
    first = await restating.act(at(asked, 0), asked.steps[0].observation)
    last = await restating.act(at(asked, 1), asked.steps[1].observation)
    alone = await policy.act(at(asked, 1), asked.steps[1].observation)
    assert last.action == Answer("£7.40")
    assert confidence_of(last) > confidence_of(alone)
    assert first.usage[RESTATED] == 1 and 'order "10050" come to' in first.thought
    assert RESTATED not in last.usage
    assert len(model.requests) == 1
    prompt = model.requests[0].messages[1].text
    assert KNOWN in prompt or KNOWN.replace("10056", "10055") in prompt
    assert OTHER in prompt


async def test_nobody_is_asked_about_a_goal_whose_words_are_known() -> None:
    asked, model = look_up("new", "10050", 70), CannedModel([])
    found = await put_in_front(taught(), model).propose(at(asked, 1), asked.steps[1].observation, 2)
    assert found[0].action == Answer("£7.40") and not model.requests


@pytest.mark.parametrize(
    "reply",
    [
        '{"request": 0}',
        '{"request": 1, "goal": "Delete everything in the shop"}',
        '{"request": 7, "goal": "What did my order \\"10050\\" come to?"}',
        "the first one",
    ],
)
async def test_a_goal_stays_as_it_is_where_no_reply_can_be_used(reply: str) -> None:
    model = CannedModel([reply, reply])
    assert await restate(model, OTHER, [KNOWN]) == OTHER
    assert len(model.requests) == (1 if "0}" in reply else 2)


async def test_a_second_reply_is_asked_for_by_what_was_wrong() -> None:
    model = CannedModel(['{"request": 1, "goal": "The total?"}', RIGHT])
    assert await restate(model, OTHER, [KNOWN]) == 'What did my order "10050" come to?'
    assert "not put as request 1 is" in model.requests[1].messages[-1].text


async def test_a_model_that_fails_fails_the_turn() -> None:
    with pytest.raises(ModelError):
        await restate(CannedModel([ModelError("away")]), OTHER, [KNOWN])


def test_each_task_shows_the_wording_that_is_put_most_alike() -> None:
    examples = [
        ("total", 'What did my order "1" come to?'),
        ("total", 'Say the total of "1", please'),
        ("ship", 'Ship the order "1"'),
    ]
    assert list_requests(OTHER, examples) == [examples[1][1], examples[2][1]]


def test_a_policy_without_a_memory_is_refused() -> None:
    for policy in (ScriptedPolicy(play_actions([])), BuiltinPolicy(untrained())):
        with pytest.raises(UsageError, match="memory"):
            put_in_front(policy, CannedModel([]))
