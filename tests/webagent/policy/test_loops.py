"""Going in circles: noticed, said, refused, ended; each step only where the switch asks for it."""

from dataclasses import replace

import pytest

from tests.webagent.policy.scenes import HOME, RESULTS, START, asked, prompt, step, under_way
from webagent.action import parse_action
from webagent.action.actions import Click, GiveUp
from webagent.models.canned import CannedModel
from webagent.policy.language import LanguagePolicy
from webagent.policy.past_actions import find_loop
from webagent.policy.prompting import Prompting
from webagent.records import Node


def stuck(times: int):
    """An episode that clicked the same to no effect so often."""
    return under_way(*(step(HOME, "click(2)") for _ in range(times)))


def test_the_same_without_effect_is_a_loop_from_the_second_time():
    assert find_loop(stuck(1), HOME) is None
    loop = find_loop(stuck(2), HOME)
    assert loop and loop.times == 2
    assert loop.lines == ("- click(2): 2 times, without effect",)


def test_there_and_back_again_is_a_loop_even_with_other_marks():
    drawn_anew = replace(
        HOME, nodes=tuple(replace(n, mark=n.mark and n.mark + 20) for n in HOME.nodes)
    )
    past = under_way(
        step(HOME, "click(3)"),
        step(RESULTS, "click(6)"),
        step(drawn_anew, "click(23)"),
        step(RESULTS, "click(6)"),
    )

    loop = find_loop(past, drawn_anew)

    assert loop and loop.lines == ("- click(23): 2 times, and back here",)
    assert loop.count(Click(23), drawn_anew) == 2
    assert loop.count(Click(22), drawn_anew) == 0


@pytest.mark.parametrize(
    "change", [{"scroll": (0, 400)}, {"url": "https://shop.test/2"}, {"nodes": HOME.nodes[:3]}]
)
def test_a_page_that_changed_is_no_loop(change):
    assert find_loop(stuck(5), replace(HOME, **change)) is None


def test_different_things_tried_on_one_page_are_no_loop():
    assert find_loop(under_way(step(HOME, "click(2)"), step(HOME, "click(3)")), HOME) is None


async def test_a_loop_is_said_and_from_the_third_time_another_action_is_demanded():
    for times, words in ((2, "It led nowhere"), (3, "Choose a different action")):
        told = await prompt(stuck(times), HOME, prompting=Prompting(loops=True))
        assert f"- click(2): {times} times, without effect" in told
        assert words in told


async def test_what_is_demanded_is_asked_for_once_more_and_no_longer():
    decision, requests = await asked(
        stuck(3), HOME, ["Action: click(2)", "Action: click(3)"], prompting=Prompting(loops=True)
    )
    insisted, _ = await asked(
        stuck(3), HOME, ["Action: click(2)"] * 2, prompting=Prompting(loops=True)
    )

    assert decision.action == Click(3)
    assert decision.usage["requests"] == 2
    assert "click(2) was done on this very page 3 times" in requests[1].messages[-1].text
    assert insisted.action == Click(2)


@pytest.mark.parametrize(
    ("past", "page", "again", "objection"),
    [
        (
            START,
            replace(HOME, nodes=(Node(1, "textbox", "Search", "mug"), *HOME.nodes[2:])),
            'fill(1, "mug")',
            "element [1] holds 'mug' already",
        ),
        (
            under_way(step(HOME, 'fill(2, "mug")')),
            replace(HOME, outcome="element 2 is not a text field"),
            'fill(2, "mug")',
            "was just done; choose a different action",
        ),
    ],
)
async def test_what_cannot_change_anything_is_objected_to_once(past, page, again, objection):
    other, requests = await asked(past, page, [f"Action: {again}", "Action: click(3)"])
    insisted, _ = await asked(past, page, [f"Action: {again}"] * 2)
    assert other.action == Click(3) and objection in requests[1].messages[-1].text
    assert insisted.action == parse_action(again)


async def test_waiting_again_and_filling_anew_are_not_objected_to() -> None:
    waited = under_way(step(HOME, "wait(1)"))
    for past, page, action in (
        (waited, replace(HOME, outcome="no effect"), "wait(1)"),
        (START, replace(HOME, nodes=(Node(1, "textbox", "Search", "mug"),)), 'fill(1, "cup")'),
    ):
        _, requests = await asked(past, page, [f"Action: {action}"])
        assert len(requests) == 1


async def test_an_episode_that_stays_in_a_loop_is_given_up_without_asking():
    ending = Prompting(loops=True)
    decision, requests = await asked(stuck(6), HOME, [], prompting=ending)
    before, _ = await asked(stuck(5), HOME, ["Action: click(3)"], prompting=ending)
    proposals = await LanguagePolicy(CannedModel([]), prompting=ending).propose(stuck(6), HOME, 3)

    assert isinstance(decision.action, GiveUp)
    assert "click(2): 6 times, without effect" in decision.action.reason
    assert (decision.source, requests, decision.usage) == ("loop", [], {})
    assert before.action == Click(3)
    assert [each.action for each in proposals] == [decision.action]
