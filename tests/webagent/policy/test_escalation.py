"""A cheap policy hands over where it is stuck, and the expert hands back."""

from dataclasses import dataclass, field, replace

import pytest

from tests.webagent.policy.scenes import HOME, RESULTS, step, under_way
from webagent.action import parse_action
from webagent.errors import PolicyError, SetupError
from webagent.models.canned import CannedModel
from webagent.policy.escalation import (
    EXPERT,
    EscalatingPolicy,
    Escalation,
    count_stalled,
    find_reason,
)
from webagent.policy.language import LanguagePolicy
from webagent.records import Decision, Observation, Step, Trajectory

BY_EXPERT = {EXPERT: 1, "expert_stuck": 1}


@dataclass
class Says:
    """A policy that always says the same, and counts how often."""

    action: str
    asked: int = 0
    error: str = ""
    pages: list[Observation] = field(default_factory=list)

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        self.asked += 1
        if self.error:
            raise PolicyError(self.error)
        return Decision(parse_action(self.action), usage={"requests": 1})

    async def propose(self, trajectory: Trajectory, observation: Observation, n: int):
        return [await self.act(trajectory, observation)]


def vain(number: int = 1, **usage: int) -> tuple[Step, ...]:
    """Turns that left the page as it was."""
    return tuple(step(HOME, "click(3)", usage=usage) for _ in range(number))


def test_turns_without_progress_are_counted_and_progress_takes_one_off():
    new = replace(HOME, url="https://shop.test/new")

    assert count_stalled(under_way(), HOME) == 0
    assert count_stalled(under_way(*vain(2)), HOME) == 2
    assert count_stalled(under_way(*vain(2)), RESULTS) == 0  # one in vain, one that led on
    assert count_stalled(under_way(*vain(2), step(RESULTS, "click(6)")), HOME) == 1
    assert count_stalled(under_way(*vain(3), step(RESULTS, "click(4)")), new) == 0
    there = [step(HOME, "click(2)"), step(RESULTS, "click(6)"), step(HOME, "click(2)")]
    assert count_stalled(under_way(*there), RESULTS) == 2, "in circles there is no progress"
    filled = replace(HOME, nodes=(*HOME.nodes[:1], replace(HOME.nodes[1], value="mug")))
    assert count_stalled(under_way(*vain(1)), filled) == 0, "a field that was filled is progress"
    assert count_stalled(under_way(*vain(2), *vain(1, **BY_EXPERT)), HOME) == 0


def test_the_expert_takes_its_turns_and_the_cheap_one_gets_as_many_as_before():
    settings = Escalation(stalled=2, steps=2)

    def reasons(*steps: Step) -> str:
        return find_reason(under_way(*steps), HOME, settings)

    assert reasons(*vain(1)) == ""
    assert reasons(*vain(2)) == "stuck"
    assert reasons(*vain(2), *vain(1, **BY_EXPERT)) == "stuck", "its second turn"
    assert reasons(*vain(2), *vain(2, **BY_EXPERT)) == ""
    assert reasons(*vain(2), *vain(2, **BY_EXPERT), *vain(1)) == ""
    assert reasons(*vain(2), *vain(2, **BY_EXPERT), *vain(2)) == "stuck"


async def test_the_expert_is_told_why_it_acts_and_the_decision_says_who_took_it():
    model = CannedModel(["Thought: Go back; then search.\nAction: click(2)"])
    cheap = Says("click(3)")
    policy = EscalatingPolicy(cheap, LanguagePolicy(model), Escalation(stalled=2))

    decision = await policy.act(under_way(*vain(2)), HOME)

    assert cheap.asked == 0 and decision.usage[EXPERT] == decision.usage["expert_stuck"] == 1
    told = model.requests[0].messages[-1].text
    assert "You take over from a weaker model" in told and "(2 in all)" in told
    alone = await LanguagePolicy(CannedModel(["Action: click(2)"])).act(under_way(), HOME)
    assert decision.prompt_hash != alone.prompt_hash
    assert (await policy.act(under_way(), HOME)).usage == {"requests": 1} and cheap.asked == 1


@pytest.mark.parametrize(
    ("cheap", "reason", "requests"),
    [
        (Says('give_up("I cannot")'), "expert_gave_up", 2),
        (Says("", error="no usable action"), "expert_unreadable", 1),
    ],
)
async def test_the_expert_answers_where_the_cheap_one_would_end_the_episode(
    cheap: Says, reason: str, requests: int
):
    decision = await EscalatingPolicy(cheap, Says("click(2)")).act(under_way(), HOME)

    assert decision.usage == {"requests": requests, EXPERT: 1, reason: 1}
    [proposed] = await EscalatingPolicy(Says("click(3)"), Says("click(2)")).propose(
        under_way(*vain(3)), HOME, 2
    )
    assert proposed.usage[EXPERT] == 1


@pytest.mark.parametrize("settings", [{"stalled": 0}, {"steps": 0}])
def test_settings_that_cannot_be_are_named(settings: dict[str, int]):
    with pytest.raises(SetupError, match="both must be at least 1"):
        Escalation(**settings)  # type: ignore[arg-type]
