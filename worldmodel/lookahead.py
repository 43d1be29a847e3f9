"""Look-ahead: a policy that consults the world model before acting, with its equal-cost
controls."""

import math
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from evaluators.evaluator import Evaluator
from webagent.action import format_action
from webagent.action.actions import Answer
from webagent.errors import PolicyError, UsageError
from webagent.models.spending import Ledger
from webagent.policy.policy import Policy
from webagent.records import Candidate, Decision, Ending, Observation, Step, Trajectory
from worldmodel.prediction import Effect, Prediction, Source, WorldModel, charge, expect
from worldmodel.transitions import Situation

ASKED, OVERRIDDEN = "lookahead_asked", "lookahead_overridden"
"""What decisions note in `usage` where look-ahead or one of its controls was asked: that it was,
and whether another than the policy's own favourite was done."""


@dataclass(frozen=True, slots=True)
class Gate:
    """When a decision gets more computation than one forward pass."""

    candidates: int = 3
    """Number of proposed and compared actions."""
    margin: float = 2.0
    """Lead of the best candidate, in nats, from which look-ahead is skipped (CATTS, arXiv
    2602.12276: compute pays where candidates disagree, overriding a consensus hurts)."""
    trust: float = 1.0
    """Weight of the value's log-odds against the policy's log-probability."""


class Valued(NamedTuple):
    """The value of a candidate."""

    value: float
    """Expected quality, in [0, 1]."""
    expected: str = ""
    """The predicted outcome."""
    imagined_steps: int = 0
    """Steps that the world model imagined for it."""


class Value(Protocol):
    """Estimates the value of each candidate."""

    async def __call__(
        self, trajectory: Trajectory, observation: Observation, decisions: Sequence[Decision]
    ) -> list[Valued]:
        """Return one value for each decision."""
        ...


class Reranked:
    """A policy whose candidates are reranked by a value; works with any policy and any value."""

    def __init__(self, policy: Policy, value: Value, source: str, gate: Gate | None = None):
        self.policy = policy
        self.value = value
        self.source = source
        self.gate = gate or Gate()

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the best candidate by policy and value together."""
        return (await self.propose(trajectory, observation, 1))[0]

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the candidates, best first; a clear favourite is taken without computing
        values."""
        width = max(n, self.gate.candidates)
        decisions = await self.policy.propose(trajectory, observation, width)
        scores = [
            (decision.candidates[0].log_prob if decision.candidates else sum(decision.log_probs))
            for decision in decisions
        ]
        if len(decisions) < 2 or scores[0] - scores[1] >= self.gate.margin:
            return decisions[:n]
        began = time.monotonic()
        valued = await self.value(trajectory, observation, decisions)
        seconds = time.monotonic() - began
        weighed, candidates = [], []
        for decision, score, each in zip(decisions, scores, valued, strict=True):
            # Log-odds, held where a value is certain.
            value = min(max(each.value, 1e-3), 1 - 1e-3)
            weighed.append(score + self.gate.trust * math.log(value / (1 - value)))
            action = format_action(decision.action)
            candidates.append(Candidate(action, score, each.value, each.expected))
        order = sorted(range(len(decisions)), key=lambda i: -weighed[i])[:n]
        imagined = sum(each.imagined_steps for each in valued)
        return [
            replace(
                decisions[i],
                source=self.source,
                candidates=tuple(candidates),
                seconds=decisions[i].seconds + seconds,
                usage={
                    **decisions[i].usage,
                    "imagined_steps": imagined,
                    ASKED: 1,
                    OVERRIDDEN: int(order[0] != 0),
                },
            )
            for i in order
        ]


@dataclass(frozen=True, slots=True)
class Imagination:
    """The value of an action by its predicted outcome, `depth` steps ahead.

    That is the model's own P(success), learned from how episodes continued, or an evaluator's
    verdict on the imagined episode. Beyond the first step the policy continues on the predicted
    pages, those of all candidates as one batch per step; it stops where the episode ends or the
    next page is unknown.
    """

    world: WorldModel
    policy: Policy
    depth: int = 1
    evaluator: Evaluator | None = None

    async def __call__(
        self, trajectory: Trajectory, observation: Observation, decisions: Sequence[Decision]
    ) -> list[Valued]:
        """Return the value of each candidate, with the model's prediction for its first step.

        Raises `ModelError` if a queried model fails.
        """
        ahead = [trajectory] * len(decisions)
        limit = trajectory.task.max_steps
        situations = {
            place: Situation(observation, trajectory.steps, decision.action, limit)
            for place, decision in enumerate(decisions)
        }
        first = predicted = await expect(self.world, list(situations.values()))
        latest, counts = list(predicted), [1] * len(decisions)
        places = list(situations)
        for depth in range(self.depth):
            for place, prediction in zip(places, predicted, strict=True):
                ahead[place] = extend(ahead[place], situations[place], prediction)
                latest[place] = prediction
            places = [each for each in places if goes_on(latest[each])]
            if depth + 1 == self.depth or not places:
                break
            reached, places = places, []
            for place in reached:
                now = ahead[place]
                assert now.last is not None
                with suppress(PolicyError):  # where the policy cannot act it ends
                    decision = await self.policy.act(replace(now, ending=None), now.last)
                    situations[place] = Situation(now.last, now.steps, decision.action, limit)
                    places.append(place)
            predicted = await expect(self.world, [situations[place] for place in places])
            for place in places:
                counts[place] += 1
        return [await self._value(*each) for each in zip(first, ahead, latest, counts, strict=True)]

    async def _value(
        self, first: Prediction, imagined: Trajectory, latest: Prediction, count: int
    ) -> Valued:
        """Return P(success) of the imagined episode; 0.5 if the evaluator abstains."""
        value: float | None = latest.outcome.succeeds
        if self.evaluator is not None:
            value = (await self.evaluator(imagined)).value
        ends = f"ends {first.outcome.ends:.2f}, no change {first.outcome.nothing:.2f}"
        page = f", {first.page.title or first.page.url}" if first.effect is Effect.GOES else ""
        return Valued(0.5 if value is None else value, f"{ends}{page} ({first.source})", count)


def extend(trajectory: Trajectory, situation: Situation, end: Prediction) -> Trajectory:
    """Return the episode with one more imagined step, as if it ended there."""
    return replace(
        trajectory,
        steps=(*situation.steps, Step(situation.observation, Decision(situation.action))),
        last=end.page,
        ending=end.ending or Ending.STEP_LIMIT,
        provenance=replace(trajectory.provenance, world="imagined"),
    )


def goes_on(end: Prediction) -> bool:
    return end.outcome.ends < 0.5 and not end.page.over and end.source is not Source.UNKNOWN


@dataclass(frozen=True, slots=True)
class LookAhead:
    """Adds look-ahead to any policy: `Agent(..., lookahead=LookAhead(world))`. Raises `UsageError`
    if there is neither a world model nor an evaluator."""

    world: WorldModel | None
    """The world model; None to use the evaluator's verdict on stopping after each candidate."""
    gate: Gate = field(default_factory=Gate)
    depth: int = 1
    evaluator: Evaluator | None = None
    """Judge of imagined outcomes. Default: the world model's P(success)."""

    def __post_init__(self) -> None:
        if self.world is None and self.evaluator is None:
            raise UsageError("LookAhead(None) asks nobody; give a world model or an evaluator")

    def __call__(self, policy: Policy, ledger: Ledger) -> Policy:
        """Return the policy with look-ahead; its model requests are booked in the ledger."""
        if self.world is None:
            assert self.evaluator is not None
            return Reranked(policy, Direct(self.evaluator), "rerank", self.gate)
        world = charge(self.world, ledger)
        value = Imagination(world, policy, self.depth, self.evaluator)
        return Reranked(policy, value, "lookahead", self.gate)


@dataclass(frozen=True, slots=True)
class Direct:
    """Rerank without the world model: an evaluator's verdict on stopping after the action."""

    evaluator: Evaluator

    async def __call__(
        self, trajectory: Trajectory, observation: Observation, decisions: Sequence[Decision]
    ) -> list[Valued]:
        """Return the value of each candidate if it is the last action; 0.5 if the evaluator
        abstains."""
        values = []
        for decision in decisions:
            steps = (*trajectory.steps, Step(observation, decision))
            ending = Ending.ANSWERED if isinstance(decision.action, Answer) else Ending.STEP_LIMIT
            ended = replace(trajectory, steps=steps, last=observation, ending=ending)
            values.append((await self.evaluator(ended)).value)
        return [Valued(0.5 if value is None else value) for value in values]


@dataclass(frozen=True, slots=True)
class Vote:
    """Best-of-k at equal cost: how often the policy itself, sampled again, chooses the same
    action."""

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
            sampled = await self.sampler.act(replace(trajectory, provenance=place), observation)
            votes.append(sampled.action)
        share = [(votes.count(d.action) + 0.5) / (self.draws + 1) for d in decisions]
        return [Valued(value) for value in share]


def format_lookahead(trajectories: Iterable[Trajectory]) -> str:
    """Return a sentence on how often look-ahead was used in episodes, and what it changed."""
    decisions = [step.decision for episode in trajectories for step in episode.steps]
    asked = [each for each in decisions if ASKED in each.usage]
    changed = sum(each.usage[OVERRIDDEN] for each in asked)
    imagined = sum(each.usage.get("imagined_steps", 0) for each in asked)
    alike = sum(len({c.value for c in each.candidates}) < 2 for each in asked)
    said = (
        f"look-ahead: asked in {len(asked):,} of {len(decisions):,} steps, changed {changed:,},"
        f" {imagined:,} steps imagined"
    )
    if alike:
        said += f"; in {alike:,} all candidates were valued alike, so that nothing could change"
    return said
