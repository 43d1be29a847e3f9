"""Constrained acting: the page's own constraint is asked with, and what training needs is kept."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.fakes.tiny_models import tokenizer
from tests.webagent.models.constrain.sampling import text_of, walk
from tests.webagent.policy.scenes import HOME, RESULTS, START, asked, step, under_way
from webagent.action.actions import Click
from webagent.errors import SetupError
from webagent.models.canned import CannedModel
from webagent.models.constrain import compile_constraint, replay_masks
from webagent.models.model import Capabilities, Completion, Constraint, Message, Reply, Tokens
from webagent.policy.allowed import build_constraint
from webagent.policy.language import LanguagePolicy
from webagent.policy.prompting import Prompting
from webagent.policy.prompting.messages import format_reply
from webagent.records import Step

BOUND = Prompting(constrained=True, thought_tokens=64)
BARE = Prompting(constrained=True, thought_tokens=0)
ACTIONS = ("click", "give_up")


async def test_a_reply_is_asked_for_under_the_constraint_of_the_page():
    reply = Reply("Thought: it\nAction: click(2)", token_ids=(5, 6), log_probs=(-0.1, -0.2))

    decision, (request,) = await asked(START, HOME, [reply], prompting=BOUND, actions=ACTIONS)

    assert request.constraint == build_constraint(HOME, ACTIONS, thought_tokens=64, max_tokens=1024)
    assert Constraint.loads(decision.allowed) == request.constraint
    assert (decision.sampled_ids, decision.log_probs) == ((5, 6), (-0.1, -0.2))


async def test_without_a_thought_the_choices_are_those_on_the_page():
    decision, (request,) = await asked(
        START, RESULTS, ["Action: click(5)"], prompting=BARE, actions=("click",)
    )

    assert request.constraint is not None
    assert set(request.constraint.choices) >= {f"Action: click({mark})" for mark in (4, 5, 6)}
    assert not any("click(1)" in choice for choice in request.constraint.choices)
    assert decision.action == Click(5)


async def test_repairs_and_proposals_are_constrained_as_well():
    switches = replace(BOUND, loops=True)
    stuck = under_way(*(step(HOME, "click(2)") for _ in range(3)))
    replies = ["Thought: x\nAction: click(2)", "Thought: y\nAction: click(3)"]

    _, requests = await asked(stuck, HOME, replies, prompting=switches, actions=ACTIONS)
    model = CannedModel(["Action: click(2)", "Action: click(3)"])
    await LanguagePolicy(model, prompting=BARE, actions=("click",)).propose(START, HOME, 2)

    assert len(requests) == 2
    assert len({request.constraint for request in requests}) == 1
    assert requests[0].constraint is not None
    assert model.requests[0].constraint is not None


async def test_without_the_switch_nothing_is_constrained():
    _, (request,) = await asked(START, HOME)

    assert request.constraint is None


def test_too_few_tokens_for_a_whole_reply_are_named_before_any_request():
    with pytest.raises(SetupError, match="may be too few for a whole reply"):
        LanguagePolicy(CannedModel([]), prompting=BOUND, max_tokens=20)


class Blindfolded(CannedModel):
    """Samples every id the constraint allows with equal chance, knowing nothing."""

    def __init__(self, seed: int) -> None:
        super().__init__([], capabilities=Capabilities(constraints=True, token_ids=True))
        self.chat, self.rng = tokenizer(), np.random.default_rng(seed)

    async def complete(self, prompt: Sequence[Message] | Tokens, **options) -> Completion:
        constraint: Constraint = options["constraint"]
        ids = walk(compile_constraint(constraint, self.chat), self.rng)
        reply = Reply(text_of(self.chat, ids), "stop", tuple(ids), (-1.0,) * len(ids))
        return Completion((reply,), "blind", {"requests": 1}, prompt_ids=(1, 2))


@pytest.mark.parametrize("switches", [BOUND, BARE])
async def test_what_is_sampled_under_the_constraint_is_done_without_a_repair(switches):
    trajectory = under_way()
    for turn in range(20):
        page = (HOME, RESULTS)[turn % 2]
        policy = LanguagePolicy(Blindfolded(turn), prompting=replace(switches, form="conversation"))

        decision = await policy.act(trajectory, page)

        assert decision.usage == {"requests": 1}
        masks = replay_masks(decision.allowed, decision.sampled_ids, policy.model.chat)
        assert len(masks) == len(decision.sampled_ids) == len(decision.log_probs)
        trajectory = under_way(*trajectory.steps, Step(page, decision))
        if not decision.thought:
            assert format_reply(decision) == text_of(policy.model.chat, decision.sampled_ids)
