"""What is asked how often, what it costs, and what of it is stored for training."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.fakes.pictures import picture
from tests.webagent.policy.scenes import BLIND, HOME, START, asked
from webagent.action.actions import Click
from webagent.errors import SetupError
from webagent.models.canned import CannedModel
from webagent.models.model import Capabilities, Completion, Message, Reply, Tokens
from webagent.observation.variants import VARIANTS
from webagent.policy.language import LanguagePolicy
from webagent.policy.prompting import Prompting

PICTURED = replace(
    HOME,
    screenshot="shot",
    nodes=tuple(replace(node, box=(10, 40 * node.mark, 90, 20)) for node in HOME.nodes),
)


class Counting(CannedModel):
    """A canned model whose prompts have ids: how many messages and how many characters."""

    async def complete(self, prompt: Sequence[Message] | Tokens, **options) -> Completion:
        completion = await super().complete(prompt, **options)
        messages = self.requests[-1].messages
        ids = (len(messages), sum(len(message.text) for message in messages))
        return replace(completion, prompt_ids=ids, model=f"step {len(self.requests)}")


def sampled(text: str, *log_probs: float) -> Reply:
    """A reply with an id for each log-probability."""
    return Reply(text, token_ids=tuple(range(len(log_probs))), log_probs=log_probs)


async def test_ids_and_log_probabilities_are_those_of_the_reply_that_was_taken():
    model = Counting([sampled("hm", -9.0), sampled("Action: click(2)", -0.25, -0.5)])

    decision = await LanguagePolicy(model).act(START, HOME)

    assert decision.sampled_ids == (0, 1)
    assert decision.log_probs == (-0.25, -0.5)
    assert decision.prompt_ids[0] == 4
    assert decision.weights == "step 2"
    assert decision.allowed.endswith("; marks 1-3")


async def test_a_screenshot_is_stored_as_it_was_shown():
    kept: dict[str, bytes] = {}

    def add(image: bytes) -> str:
        reference = f"kept {len(kept)}"
        kept[reference] = image
        return reference

    drawn = VARIANTS["set-of-marks"]
    plain, _ = await asked(START, PICTURED, images=str.encode)
    model = CannedModel(["Action: click(2)"])
    policy = LanguagePolicy(model, images=lambda ref: picture(), variant=drawn, add_image=add)
    decision = await policy.act(START, PICTURED)

    assert plain.images == ("shot",)
    assert decision.images == ("kept 0",)
    assert model.requests[0].messages[1].images == (kept["kept 0"],)
    assert kept["kept 0"] != picture()


async def test_a_picture_that_training_will_need_must_be_kept():
    learning = Capabilities(images=True, token_ids=True)
    options = {"images": lambda ref: picture(), "variant": VARIANTS["set-of-marks"]}

    with pytest.raises(SetupError, match="give the policy add_image"):
        await asked(START, PICTURED, capabilities=learning, **options)
    decision, _ = await asked(START, PICTURED, **options)
    assert decision.images == ()


async def test_proposals_without_thoughts_carry_the_log_probability_of_all_spellings():
    model = CannedModel(
        [
            Reply("Action: click(2)", token_ids=(1, 2), log_probs=(-1.0, -1.0)),
            Reply("Action: click(3)", token_ids=(1, 3), log_probs=(-0.5, -0.5)),
            Reply("Action: click(2)", token_ids=(1, 2), log_probs=(-1.0, -1.0)),
            Reply("Action: click( 2 )", token_ids=(4,), log_probs=(-1.5,)),
        ]
    )

    proposals = await LanguagePolicy(model).propose(START, HOME, 4)

    assert [each.action for each in proposals] == [Click(3), Click(2)]
    found = [each.candidates[0].log_prob for each in proposals]
    assert found == pytest.approx([-1.0, math.log(math.exp(-2) + math.exp(-1.5))])
    assert proposals[1].sampled_ids == (1, 2)
    assert proposals[0].log_probs == (-0.5, -0.5)


async def test_proposals_with_thoughts_carry_their_share():
    model = CannedModel(
        [
            sampled("Thought: a long one\nAction: click(2)", -30.0),
            sampled("Action: click(3)", -0.5),
            sampled("Thought: another\nAction: click(2)", -40.0),
        ]
    )

    proposals = await LanguagePolicy(model).propose(START, HOME, 3)

    found = [each.candidates[0].log_prob for each in proposals]
    assert found == pytest.approx([math.log(2 / 3), math.log(1 / 3)])
    assert proposals[0].log_probs == (-30.0,)


def test_constrained_replies_need_a_model_that_can():
    with pytest.raises(SetupError, match="does not hold its replies to a constraint"):
        LanguagePolicy(
            CannedModel([], capabilities=replace(BLIND, constraints=False)),
            prompting=Prompting(constrained=True),
        )
