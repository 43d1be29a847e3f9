"""Look-ahead: a policy that asks the world model before it acts, with its equal-cost controls."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from evaluators.reward.builtin import RewardModel
from webagent.action import format_action
from webagent.policy.policy import Policy
from webagent.records import Candidate, Decision, Observation, Step, Trajectory
from worldmodel.model import Situation, WorldModel


@dataclass(frozen=True, slots=True)
class Gate:
    """When more thought is spent than one forward pass."""

    candidates: int = 3
    """Actions proposed and compared."""
    margin: float = 2.0
    """Skipped when the best candidate leads by this many nats (CATTS, arXiv 2602.12276: compute
    pays where candidates disagree, overriding a consensus hurts)."""
    trust: float = 1.0
    """Weight of the value's log-odds against the policy's log-probability."""


class Valued(NamedTuple):
    """What a value says of a candidate."""

    value: float
    """How good it is, in [0, 1]."""
    expected: str = ""
    """What is expected to happen."""
    imagined_steps: int = 0
    """Steps that the world model imagined for the answer."""


class Value(Protocol):
    """Says how good each candidate is."""

    async def __call__(
        self, trajectory: Trajectory, observation: Observation, decisions: Sequence[Decision]
    ) -> list[Valued]:
        """Return one answer for each decision."""
        ...


class Reranked:
    """A policy whose candidates are chosen among by a value; any policy, any value."""

    def __init__(self, policy: Policy, value: Value, source: str, gate: Gate | None = None):
        self.policy = policy
        self.value = value
        self.source = source
        self.gate = gate or Gate()

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the best of the candidates by policy and value together."""
        return (await self.propose(trajectory, observation, 1))[0]

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the candidates, best first; a clear favourite without asking the value."""
        width = max(n, self.gate.candidates)
        decisions = await self.policy.propose(trajectory, observation, width)
        scores = [
            (decision.candidates[0].log_prob if decision.candidates else sum(decision.log_probs))
            for decision in decisions
        ]
        if len(decisions) < 2 or scores[0] - scores[1] >= self.gate.margin:
            return decisions[:n]
        valued = await self.value(trajectory, observation, decisions)
        weighed, candidates = [], []
        for decision, score, each in zip(decisions, scores, valued, strict=True):
            # Log-odds, held where a value is certain.
            value = min(max(each.value, 1e-3), 1 - 1e-3)
            weighed.append(score + self.gate.trust * math.log(value / (1 - value)))
            action = format_action(decision.action)
            candidates.append(Candidate(action, score, each.value, each.expected))
        order = sorted(range(len(decisions)), key=lambda i: -weighed[i])[:n]
        imagined = {"imagined_steps": sum(each.imagined_steps for each in valued)}
        return [
            replace(
                decisions[i],
                source=self.source,
                candidates=tuple(candidates),
                usage={**decisions[i].usage, **imagined},
            )
            for i in order
        ]


@dataclass(frozen=True, slots=True)
class Imagination:
    """The world model's value of an action: the success it expects, `depth` steps ahead.

    At depth 1 that is the model's own P(success) after the action, which it learnt from how
    episodes went on. Deeper, the expected page is written out and the policy goes on in it.
    """

    world: WorldModel
    policy: Policy
    depth: int = 1

    async def __call__(
        self, trajectory: Trajectory, observation: Observation, decisions: Sequence[Decision]
    ) -> list[Valued]:
        """Return P(success) of each candidate, with the change the model expects."""
        situations = [Situation(observation, trajectory.steps, d.action) for d in decisions]
        values = []
        for situation, outcome in zip(situations, self.world.outcomes(situations), strict=True):
            expected = f"ends {outcome.ends:.2f}, no change {outcome.nothing:.2f}"
            value, further = outcome.succeeds, 0
            if self.depth > 1 and outcome.ends < 0.5:
                value, further = await self._look_further(
                    trajectory, situation, self.depth - 1, value
                )
            values.append(Valued(value, expected, 1 + further))
        return values

    async def _look_further(
        self, trajectory: Trajectory, situation: Situation, depth: int, value: float
    ) -> tuple[float, int]:
        """Return P(success) after at most `depth` further steps, and how many those were.

        It is `value` where the imagined page has ended.
        """
        [(page, _)] = self.world.imagine([situation], [None])
        if page.over:
            return value, 0
        steps = (*situation.steps, Step(situation.observation, Decision(situation.action)))
        decision = await self.policy.act(replace(trajectory, steps=steps), page)
        following = Situation(page, steps, decision.action)
        outcome = self.world.outcomes([following])[0]
        if depth == 1 or outcome.ends >= 0.5:
            return outcome.succeeds, 1
        value, further = await self._look_further(
            trajectory, following, depth - 1, outcome.succeeds
        )
        return value, 1 + further


@dataclass(frozen=True, slots=True)
class Direct:
    """Rerank without the world model: the reward model's verdict on stopping after the action."""

    reward: RewardModel

    async def __call__(
        self, trajectory: Trajectory, observation: Observation, decisions: Sequence[Decision]
    ) -> list[Valued]:
        """Return P(success) of each candidate if it were the last action."""
        ends = [
            replace(trajectory, steps=(*trajectory.steps, Step(observation, decision)))
            for decision in decisions
        ]
        return [Valued(value) for value in self.reward.probabilities(ends)]


@dataclass(frozen=True, slots=True)
class Vote:
    """Best-of-k at equal cost: how often the policy itself, sampled again, would do the same."""

    sampler: Policy
    """The policy with sampling switched on."""
    draws: int = 3

    async def __call__(
        self, trajectory: Trajectory, observation: Observation, decisions: Sequence[Decision]
    ) -> list[Valued]:
        """Return the share of votes of each candidate."""
        votes = []
        for draw in range(self.draws):
            place = replace(trajectory.provenance, phase=f"{trajectory.provenance.phase}/{draw}")
            drawn = await self.sampler.act(replace(trajectory, provenance=place), observation)
            votes.append(drawn.action)
        share = [(votes.count(d.action) + 0.5) / (self.draws + 1) for d in decisions]
        return [Valued(value) for value in share]
