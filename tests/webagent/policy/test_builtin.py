"""The built-in policy: certain when it is sure of itself, repeatable when it explores."""

import asyncio
import random
from dataclasses import replace

import pytest

from tests.fakes.lessons import episode, lesson, node, page, task
from tests.fakes.networks import trained, untrained
from tests.fakes.orders import look_up
from webagent.action import Action
from webagent.action.actions import (
    Click,
    DragAndDrop,
    Fill,
    GiveUp,
    MouseClick,
    Press,
    Scroll,
    SelectOption,
)
from webagent.memory import Memory
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.policy import builtin
from webagent.policy.builtin import BuiltinPolicy
from webagent.policy.past_actions import action_key, find_tried_actions
from webagent.policy.remembering import Exploration, episode_rng
from webagent.records import Provenance, Trajectory
from webagent.rollout import Batcher

pytestmark = pytest.mark.slow  # all share what is trained or loaded here

START = Trajectory("e", task())
WANDERING = Exploration(temperature=3.0, random_share=0.5)


def exploring() -> BuiltinPolicy:
    """An untrained policy that strays far."""
    return BuiltinPolicy(untrained(), exploration=WANDERING)


async def test_the_right_action_is_chosen_and_recorded_with_its_ids() -> None:
    policy, (seen, action) = BuiltinPolicy(trained()), lesson(random.Random(5))
    decision = await policy.act(START, seen)
    assert decision.action == action
    assert len(decision.sampled_ids) == len(decision.log_probs) > 0
    assert decision.weights == trained().version
    assert decision.allowed == policy.grammar.name
    assert decision.usage["input_tokens"] == len(decision.prompt_ids)


async def test_the_greedy_choice_is_always_the_same() -> None:
    policy, (seen, _) = BuiltinPolicy(untrained()), lesson(random.Random(5))
    other = replace(START, provenance=Provenance(round=3, index=9))
    first, second = await policy.act(START, seen), await policy.act(other, seen)
    assert (first.sampled_ids, first.log_probs) == (second.sampled_ids, second.log_probs)


async def test_exploration_depends_on_the_episode_and_the_step_alone() -> None:
    (seen, _), policy = lesson(random.Random(5)), exploring()
    places = [replace(START, provenance=Provenance(index=i)) for i in range(12)]
    forwards = [(await policy.act(place, seen)).action for place in places]
    backwards = [(await exploring().act(place, seen)).action for place in reversed(places)]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) > 4


@pytest.mark.parametrize(
    "other",
    [
        replace(START, task=task(seed=1)),
        replace(START, provenance=Provenance(arm="other")),
        replace(START, steps=episode((page(""), Click(1))).steps),
    ],
    ids=["seed", "arm", "step"],
)
def test_another_episode_or_step_gets_other_random_numbers(other: Trajectory) -> None:
    assert episode_rng(START).random() != episode_rng(other).random()


@pytest.mark.parametrize("same", [replace(START, id="renamed"), replace(START, attempt=2)])
def test_another_attempt_at_an_episode_gets_the_same_random_numbers(same: Trajectory) -> None:
    assert episode_rng(same).random() == episode_rng(START).random()


async def test_random_actions_say_that_they_were_random() -> None:
    policy = BuiltinPolicy(untrained(), exploration=Exploration(1.0, random_share=1.0))
    decision = await policy.act(START, lesson(random.Random(5))[0])
    assert decision.source == "explore" and decision.sampled_ids == ()


async def test_concurrent_episodes_do_the_same_as_one_alone() -> None:
    (seen, _), model = lesson(random.Random(5)), untrained()
    places = [replace(START, provenance=Provenance(index=i)) for i in range(6)]
    together = BuiltinPolicy(model, exploration=WANDERING, batched=Batcher)
    alone = BuiltinPolicy(model, exploration=WANDERING)
    batched = await asyncio.gather(*(together.act(place, seen) for place in places))
    assert [each.action for each in batched] == [
        (await alone.act(place, seen)).action for place in places
    ]


async def test_the_same_action_is_not_done_again_on_the_same_page() -> None:
    policy, (seen, action) = BuiltinPolicy(trained()), lesson(random.Random(5))
    again = await policy.act(episode((seen, action)), seen)
    assert again.action != action
    third = await policy.act(episode((seen, action), (seen, again.action)), seen)
    assert third.action not in (action, again.action)


async def test_it_may_be_done_again_once_the_page_has_changed() -> None:
    policy, (seen, action) = BuiltinPolicy(trained()), lesson(random.Random(5))
    before = replace(seen, nodes=(*seen.nodes, node(30, "text", "Wait ...")))
    assert (await policy.act(episode((before, action)), seen)).action == action


LINES = page("", node(0, "text", "Title"), node(1, "button", "A"), node(2, "button", "A"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Scroll(0, 0, 100), Scroll(0, 0, -100)),
        (MouseClick(1, 2), MouseClick(2, 1)),
        (DragAndDrop(1, 2), DragAndDrop(1, 1)),
        (Click(1), Click(2)),
        (Press(0, "a"), Press(1, "a")),
        (Fill(1, "a"), Fill(1, "b")),
    ],
)
def test_actions_that_differ_in_anything_have_different_keys(one: Action, other: Action) -> None:
    assert action_key(one, LINES) != action_key(other, LINES)


def test_an_action_is_the_same_on_a_page_drawn_anew_with_other_marks() -> None:
    anew = page("", node(0, "text", "Title"), node(7, "button", "A"), node(8, "button", "A"))
    assert action_key(Click(1), LINES) == action_key(Click(7), anew)
    assert find_tried_actions(episode((LINES, Click(1))), anew) == {action_key(Click(7), anew)}


def test_focus_alone_does_not_make_another_page() -> None:
    focused = replace(LINES, nodes=(*LINES.nodes[:2], replace(LINES.nodes[2], states=("focused",))))
    assert find_tried_actions(episode((LINES, Click(1))), focused)


async def test_proposals_are_different_actions_best_first() -> None:
    model = untrained()
    policy = BuiltinPolicy(model, ActionGrammar(Codec(model.vocabulary), ("select_option",)))
    options = (node(2, "option", "Small"), node(3, "option", "Small"))
    choice = page("Choose", node(1, "combobox", "Size"), *options)
    decisions = await policy.propose(START, choice, 3)
    assert {each.action for each in decisions} == {SelectOption(m, "Small") for m in (1, 2, 3)}
    scores = [sum(each.log_probs) for each in decisions]
    assert len(scores) == 3 and scores == sorted(scores, reverse=True)
    assert [d.action for d in await policy.propose(START, choice, 1)] == [decisions[0].action]


async def test_only_what_the_grammar_allows_is_done() -> None:
    model = trained()
    grammar = ActionGrammar(Codec(model.vocabulary), ("hover",))
    decision = await BuiltinPolicy(model, grammar).act(START, lesson(random.Random(5))[0])
    assert type(decision.action).__name__ == "Hover"


@pytest.mark.parametrize("exploration", [None, Exploration(1.0, 0.0, where_failed=True)])
async def test_what_is_doubtful_is_tried_in_practice_and_given_up_elsewhere(
    exploration, monkeypatch
):
    memory, new = Memory(), look_up("new", "10050", 70)
    memory.remember(look_up("a", "10056", 1))
    assert memory.has_examples(new.task.name) and not memory.failed[new.task.name]
    give_up = GiveUp("doubtful")
    monkeypatch.setattr(
        builtin, "refuse", lambda m, decision, *seen: replace(decision, action=give_up)
    )
    policy = BuiltinPolicy(untrained(), exploration=exploration, memory=memory)
    decision = await policy.act(replace(new, steps=()), new.steps[0].observation)
    assert (decision.action == give_up) == (exploration is None)


@pytest.mark.parametrize("count", ["", " 2 requests"])
@pytest.mark.parametrize("exploration", [None, WANDERING])
async def test_what_was_held_back_is_given_up_with_the_reason_outside_of_practice(
    exploration, count
):
    policy = BuiltinPolicy(untrained(), exploration=exploration)
    outcome = f"refused{count}: not sent: 'x' is not asked for"
    seen = replace(lesson(random.Random(5))[0], outcome=outcome)
    decision = await policy.act(START, seen)
    assert (decision.action == GiveUp(seen.outcome)) == (exploration is None)
