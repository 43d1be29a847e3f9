"""A cheap policy that hands over to an expensive one where it is stuck.

After "Magentic-One" (Fourney et al. 2024, arXiv 2411.04468): a ledger counts turns without
progress, and beyond a bound there is a new plan; and "Agent S2" (Agashe et al. 2025, arXiv
2504.00906): an expensive model plans at the end of every subgoal, a cheaper one carries out. There
a model says at every turn whether there is progress; here it is read off the pages, at no cost. Who
acts follows from the episode alone, so that a resumed one goes on as it would have.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from webagent.action import GiveUp
from webagent.errors import PolicyError, SetupError
from webagent.models.prompt import load_prompt
from webagent.policy.language import LanguagePolicy
from webagent.policy.past_actions import page_state
from webagent.policy.policy import Policy
from webagent.records import Decision, Observation, Trajectory

TAKEOVER_PROMPT = load_prompt(Path(__file__).parent / "prompts" / "takeover.md")
EXPERT = "expert"
"""In the `usage` of a decision: whether the expert took it."""
REASONS = ("stuck", "gave_up", "unreadable")
"""Why it did; in `usage` behind `expert_`."""


@dataclass(frozen=True, slots=True)
class Escalation:
    """When an expert takes over, and for how long."""

    stalled: int = 3
    """Turns without progress, each one with progress taking one off, that count as stuck."""
    steps: int = 2
    """Turns that the expert takes before it hands back."""

    def __post_init__(self) -> None:
        if self.stalled < 1 or self.steps < 1:
            raise SetupError(
                f"an expert after {self.stalled} turns without progress, for {self.steps}: both"
                " must be at least 1"
            )


def count_stalled(trajectory: Trajectory, now: Observation) -> int:
    """Return the ledger: turns without progress since an expert acted last, each turn with progress
    taking one off. A turn makes progress where it leads to a page that was not seen before."""
    states = [page_state(page) for page in (*(s.observation for s in trajectory.steps), now)]
    stalled = 0
    for turn, step in enumerate(trajectory.steps, start=1):
        is_new = states[turn] not in states[:turn]
        stalled = max(0, stalled - 1) if is_new else stalled + 1
        if step.decision.usage.get(EXPERT):
            stalled = 0
    return stalled


def find_reason(trajectory: Trajectory, now: Observation, settings: Escalation) -> str:
    """Return why the expert is to act now, one of `REASONS`; empty where the other one is."""
    by_expert = [bool(step.decision.usage.get(EXPERT)) for step in trajectory.steps]
    own = len(by_expert) - max((n for n, own in enumerate(by_expert, 1) if not own), default=0)
    if 0 < own < settings.steps:
        usage = trajectory.steps[-1].decision.usage
        return next((reason for reason in REASONS if usage.get(f"expert_{reason}")), "stuck")
    if count_stalled(trajectory, now) >= settings.stalled:
        return "stuck"
    return ""


@dataclass(frozen=True, slots=True)
class EscalatingPolicy:
    """The cheap policy, and the expert where it is needed.

    The expert takes a turn, too, at which the cheap one gives up or replies with no action. It is
    told why it acts; what it thinks stands in the episode for the cheap one to read.
    """

    cheap: Policy
    expert: Policy
    settings: Escalation = Escalation()

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the action of whoever has the turn. Raises as they do."""
        reason, spent = find_reason(trajectory, observation, self.settings), dict[str, int]()
        if not reason:
            try:
                decision = await self.cheap.act(trajectory, observation)
            except PolicyError:
                reason = "unreadable"
            else:
                if not isinstance(decision.action, GiveUp):
                    return decision
                reason, spent = "gave_up", dict(decision.usage)
        expert = self._told(trajectory, observation, reason)
        decision = await expert.act(trajectory, observation)
        return _mark(decision, reason, spent)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the proposals of whoever has the turn. Raises as they do."""
        reason = find_reason(trajectory, observation, self.settings)
        if not reason:
            return await self.cheap.propose(trajectory, observation, n)
        expert = self._told(trajectory, observation, reason)
        return [
            _mark(each, reason, {}) for each in await expert.propose(trajectory, observation, n)
        ]

    def _told(self, trajectory: Trajectory, observation: Observation, reason: str) -> Policy:
        """The expert, told why it acts where it is a model that can be told."""
        if not isinstance(self.expert, LanguagePolicy):
            return self.expert
        stalled = count_stalled(trajectory, observation)
        progress = {
            "stuck": "its last turns led to no page that was new"
            + (f" ({stalled} in all)" if stalled else ""),
            "gave_up": "it wants to give up",
            "unreadable": "it replied with nothing that could be done",
        }[reason]
        return replace(self.expert, notice=TAKEOVER_PROMPT.fill("stuck", progress=progress))


def _mark(decision: Decision, reason: str, spent: dict[str, int]) -> Decision:
    """The decision with who took it and why, and with what the turn cost besides."""
    usage = dict(decision.usage)
    for name, count in spent.items():
        usage[name] = usage.get(name, 0) + count
    told = hashlib.sha256(f"{decision.prompt_hash} {TAKEOVER_PROMPT.hash}".encode()).hexdigest()[
        :16
    ]
    return replace(decision, usage=usage | {EXPERT: 1, f"expert_{reason}": 1}, prompt_hash=told)
