"""A tree of plans: branched, pruned, shown in the prompt, and never sent to the world."""

import time

import pytest

from tests.webagent.policy.scenes import HOME, RESULTS, START, asked, prompt, step, under_way
from webagent.action.actions import Click
from webagent.policy.prompting import Prompting
from webagent.policy.prompting.thoughts import Plan, build_plan, extract_notes, remove_plans

PLANNED = Prompting(plan=True)
DIVIDED = under_way(
    step(HOME, "click(2)", 'begin\nPlan: branch(0, "find the mug")'),
    step(HOME, "click(3)", "**Plan:** branch(1, 'look at offers')"),
    step(HOME, "click(2)", 'no mug there\nPlan: prune(0, "offers hold none")'),
)


def test_plans_are_divided_and_given_up():
    plan = build_plan(DIVIDED)

    assert plan.tree() == "0. the task\n  1. find the mug (given up: offers hold none)"
    assert plan.active == 0
    assert plan.worked_on == (1, 2, 0)
    assert [plan.is_given_up(number) for number in range(3)] == [False, True, True]


def test_going_back_to_a_plan_beside_gives_up_what_divided_from_it():
    plan = Plan().after('Plan: branch(0, "a")').after('Plan: branch(0, "b")')
    plan = plan.after('Plan: branch(2, "c")').after('Plan: prune(1, "b is wrong")')

    assert plan.active == 1
    assert plan.tree() == "0. the task\n  1. a\n  2. b (given up: b is wrong)"


@pytest.mark.parametrize(
    ("thought", "objection"),
    [
        ('Plan: branch(4, "x")', "no plan 4 to branch from; the plans are 0, 1"),
        ('Plan: prune(1, "x")', "nothing to prune: plan 1 serves no plan below 1"),
        ('Plan: prune(9, "x")', "no plan 9 to prune from"),
    ],
)
def test_a_command_that_cannot_be_done_changes_nothing_and_is_named(thought, objection):
    plan = Plan().after('Plan: branch(0, "a")')

    after = plan.after(thought)

    assert after == plan
    assert objection in after.objections[0]


def test_words_about_plans_are_no_commands():
    assert Plan().after('I might branch(0, "x") later') == Plan()
    inline = 'go on. Plan: branch(0, "x"), branch(1, "y") and then'
    assert [each.intent for each in Plan().after(inline).branches] == ["the task", "x", "y"]
    assert remove_plans(inline) == "go on. and then"
    assert remove_plans('first\nPlan: branch(0, "x")\nlast') == "first\nlast"


def test_there_is_a_most_number_of_plans():
    plan = Plan()
    for _ in range(80):
        plan = plan.after('Plan: branch(0, "again")')

    assert len(plan.branches) == 60
    assert "60 plans already" in plan.objections[0]


async def test_the_prompt_shows_the_tree_and_hides_turns_of_plans_given_up():
    told = await prompt(DIVIDED, RESULTS, prompting=PLANNED)

    assert "Your plans:\n\n0. the task\n  1. find the mug (given up: offers hold none)" in told
    assert "You are working on plan 0." in told
    assert "(turns of plan 1, which was given up, left out)" in told
    assert "1. Thought: begin" not in told
    assert "3. Thought: no mug there\n   Action: click(2)" in told
    assert "`Plan: branch(0" in told


async def test_a_plan_is_kept_in_the_thought_and_the_action_alone_is_done():
    reply = 'Thought: divide it\nPlan: branch(0, "find the mug")\nAction: click(2)'

    decision, requests = await asked(START, HOME, [reply], prompting=PLANNED)

    assert decision.action == Click(2)
    assert len(requests) == 1
    assert build_plan(under_way(step(HOME, "click(2)", decision.thought))).active == 1


async def test_an_impossible_plan_is_sent_back_once_and_then_passed_over():
    reply = 'Plan: prune(7, "why")\nAction: click(2)'

    decision, requests = await asked(START, HOME, [reply, reply], prompting=PLANNED)

    assert decision.action == Click(2)
    assert len(requests) == 2
    assert "no plan 7 to prune from; the plans are 0" in requests[1].messages[-1].text


async def test_repairs_and_reviews_ask_for_plans_in_the_same_form():
    replies = ["hm", "Action: click(2)", 'Thought: x\nPlan: branch(0, "a")\nAction: click(3)']

    decision, requests = await asked(
        START, HOME, replies, prompting=Prompting(plan=True, critique=True)
    )

    for request in requests[1:]:
        assert "\nPlan: branch(0, " in request.messages[-1].text
    assert build_plan(under_way(step(HOME, "click(3)", decision.thought))).active == 1


@pytest.mark.parametrize(
    "text",
    [
        "Plan: branch(0, " + " " * 30_000,
        "Plan: " + "branch(0, " * 4000,
        "_" * 30_000,
        "Notes:" + "\n" * 30_000,
        "Notes:" + "\n*_" * 10_000,
    ],
)
def test_no_thought_is_slow_to_search(text):
    start = time.process_time()

    remove_plans(text)
    Plan().after(text)
    extract_notes(text)

    assert time.process_time() - start < 2
