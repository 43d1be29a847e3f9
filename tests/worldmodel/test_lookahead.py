"""Look-ahead: asks where the policy is torn, and follows what it is told."""

import random
from dataclasses import replace

import pytest

from tests.fakes.lessons import task
from tests.fakes.toy import BOXES, SUBMIT, ToyWorld, toy_page
from webagent.action import Action
from webagent.action.actions import Click
from webagent.records import Decision, Observation, Trajectory
from worldmodel.lookahead import Gate, Imagination, Reranked, Valued, Vote

SEEN = toy_page(random.Random("new"))
RIGHT = next(n.mark for n in SEEN.nodes if n.name == SEEN.goal.split('"')[1])
WRONG = next(mark for mark in BOXES if mark != RIGHT)
START = Trajectory("e", task("toy"))


class Torn:
    """Proposes these actions with these log-probabilities; acts on the first."""

    def __init__(self, *options: tuple[Action, float]) -> None:
        self.options = [Decision(action, log_probs=(score,)) for action, score in options]
        self.asked: list[tuple[int, int]] = []

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The favourite; Submit from the second step on."""
        return Decision(Click(SUBMIT)) if trajectory.steps else self.options[0]

    async def propose(self, trajectory, observation, n):
        """The first n."""
        return self.options[:n]


class Told:
    """Values actions as it was told to, and counts how often it was asked."""

    def __init__(self, values: dict[Action, float]) -> None:
        self.values = values
        self.calls = 0

    async def __call__(self, trajectory, observation, decisions):
        """The values."""
        self.calls += 1
        return [Valued(self.values[d.action], f"told {d.action}", 2) for d in decisions]


CLOSE = Torn((Click(WRONG), -0.7), (Click(RIGHT), -0.9), (Click(SUBMIT), -3.0))
VALUES = {Click(WRONG): 0.1, Click(RIGHT): 0.9, Click(SUBMIT): 0.5}


async def test_a_clear_favourite_is_taken_without_asking() -> None:
    value = Told(VALUES)
    clear = Torn((Click(WRONG), -0.1), (Click(RIGHT), -2.2))
    decision = await Reranked(clear, value, "lookahead", Gate(margin=2.0)).act(START, SEEN)
    assert (decision.action, decision.source, value.calls) == (Click(WRONG), "policy", 0)


async def test_the_only_option_is_taken_without_asking() -> None:
    value = Told(VALUES)
    decision = await Reranked(Torn((Click(WRONG), -5.0)), value, "lookahead").act(START, SEEN)
    assert (decision.action, value.calls) == (Click(WRONG), 0)


async def test_where_the_policy_is_torn_the_value_decides_and_is_recorded() -> None:
    value = Told(VALUES)
    decision = await Reranked(CLOSE, value, "lookahead").act(START, SEEN)
    assert (decision.action, decision.source, value.calls) == (Click(RIGHT), "lookahead", 1)
    assert [(c.log_prob, c.value) for c in decision.candidates] == [
        *((-0.7, 0.1), (-0.9, 0.9), (-3.0, 0.5))
    ]
    assert all(c.expected.startswith("told") for c in decision.candidates)
    assert decision.usage == {"imagined_steps": 6, "lookahead_asked": 1, "lookahead_overridden": 1}


async def test_a_value_that_is_not_trusted_changes_nothing() -> None:
    decision = await Reranked(CLOSE, Told(VALUES), "lookahead", Gate(trust=0.0)).act(START, SEEN)
    assert decision.action == Click(WRONG)


async def test_certainty_of_the_value_never_outweighs_everything() -> None:
    far = Torn((Click(WRONG), -0.1), (Click(RIGHT), -20.0))
    value = Told({Click(WRONG): 0.0, Click(RIGHT): 1.0})
    decision = await Reranked(far, value, "lookahead", Gate(margin=99.0)).act(START, SEEN)
    assert decision.action == Click(WRONG)


async def test_only_as_many_candidates_are_compared_as_the_gate_lets_through() -> None:
    decision = await Reranked(CLOSE, Told(VALUES), "rerank", Gate(candidates=2)).act(START, SEEN)
    assert len(decision.candidates) == 2


async def test_proposals_come_in_the_order_of_policy_and_value_together() -> None:
    proposed = await Reranked(CLOSE, Told(VALUES), "lookahead").propose(START, SEEN, 2)
    assert [d.action for d in proposed] == [Click(RIGHT), Click(WRONG)]


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2])
async def test_a_right_world_turns_a_wrong_choice_into_the_right_one(depth: int) -> None:
    policy = Torn((Click(WRONG), -0.6), (Click(RIGHT), -0.9))
    looking = Reranked(policy, Imagination(ToyWorld(), policy, depth), "lookahead")
    decision = await looking.act(START, SEEN)
    assert decision.action == Click(RIGHT)
    assert all(0 <= (c.value or 0) <= 1 for c in decision.candidates)


@pytest.mark.slow
async def test_at_depth_two_the_policy_goes_on_in_the_imagined_page() -> None:
    seen: list[tuple[int, Observation]] = []

    class Watching(Torn):
        async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
            seen.append((len(trajectory.steps), observation))
            return Decision(Click(SUBMIT))

    value = Imagination(ToyWorld(), Watching(), depth=2)
    found = await value(START, SEEN, [Decision(Click(RIGHT)), Decision(Click(SUBMIT))])
    [(steps, page)] = seen
    assert steps == 1 and "checked" in page.nodes[RIGHT - 1].states
    assert found[0].value > 0.7 and "ends" in found[0].expected
    assert [each.imagined_steps for each in found] == [2, 1]


async def test_votes_are_counted_over_different_draws() -> None:
    phases: list[str] = []

    class Sampler(Torn):
        async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
            phases.append(trajectory.provenance.phase)
            return Decision(Click(RIGHT if len(phases) < 3 else WRONG))

    decisions = [Decision(Click(mark)) for mark in (WRONG, RIGHT, SUBMIT)]
    start = replace(START, provenance=replace(START.provenance, phase="evaluate"))
    found = await Vote(Sampler(), draws=3)(start, SEEN, decisions)
    assert [each.value for each in found] == [1.5 / 4, 2.5 / 4, 0.5 / 4]
    assert len(set(phases)) == 3 and all(p.startswith("evaluate/") for p in phases)
