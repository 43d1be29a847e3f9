"""An expensive model behind the policy of a run: its settings, and what it took over."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from loop.policies import ModelChoice, NamedPolicy
from webagent.errors import UsageError
from webagent.models import Endpoint
from webagent.policy.escalation import EXPERT, REASONS, Escalation
from webagent.records import Trajectory


@dataclass(frozen=True)
class EscalationChoice:
    """An expensive model that takes over from the policy."""

    expert: str = ""
    """Expensive model that takes over where the policy is stuck, gives up or replies with no
    action: its name at the endpoint, or `local:FOLDER` (docs/howto/expert.md)."""
    expert_endpoint: Path | None = None
    """File whose table [endpoint] describes the expert's server. Default: that of the policy's
    provider or of OPENAI_BASE_URL."""
    expert_steps: int = 2
    """Actions of the expert before it hands back."""
    stalled: int = 3
    """Actions without progress that count as stuck; an action makes progress if it leads to a page
    not seen before in the episode."""

    @property
    def is_on(self) -> bool:
        """Whether there is an expert."""
        return bool(self.expert or self.expert_endpoint)

    @property
    def settings(self) -> Escalation:
        """Return when it takes over. Raises `SetupError`."""
        return Escalation(self.stalled, self.expert_steps)

    @property
    def _chosen(self) -> ModelChoice:
        return ModelChoice.named(self.expert, self.expert_endpoint)

    @property
    def paid(self) -> str:
        """Return the server's name of the expert; empty for none, and for weights in process."""
        return self._chosen.paid if self.is_on else ""

    @property
    def acting(self) -> str | Endpoint | None:
        """Return the expert as an agent is given it; None for none. Raises `SetupError`."""
        return self._chosen.acting if self.is_on else None

    def label(self) -> list[str]:
        """What is added to a policy's name in tables."""
        name = self.paid or self.expert.removeprefix("local:")
        return [f"expert={name}"] * self.is_on

    def contestant(self, cheap: NamedPolicy) -> NamedPolicy:
        """Return the expert, asked as the cheap policy is, as far as it can be."""
        found = self._chosen.contestant()
        made = replace(cheap, policy=found.policy, model=found.model, endpoint=found.endpoint)
        if made.kind == "endpoint" and made.served:
            made = replace(made, asking=made.asking.of_another(made.language_model().capabilities))
        return made

    def check(self, cheap: NamedPolicy) -> None:
        """Find what is wrong with it. Raises `SetupError`."""
        if not self.is_on:
            return
        if cheap.kind == "oracle":
            raise UsageError(
                "--policy oracle knows what is right, and --expert has nothing to take over"
            )
        _ = self.settings
        self.contestant(cheap).check()


def describe_escalation(episodes: Iterable[Trajectory], choice: EscalationChoice) -> str:
    """Return a sentence on what the expert took over; empty where there was none."""
    if not choice.is_on:
        return ""
    steps = helped = played = 0
    by_expert, hand_overs = 0, Counter[str]()
    for episode in episodes:
        played += 1
        before = False
        notes = [step.decision.usage for step in episode.steps]
        for usage in notes:
            if usage.get(EXPERT) and not before:
                hand_overs += Counter(each for each in REASONS if usage.get(f"expert_{each}"))
            before = bool(usage.get(EXPERT))
            by_expert += before
        steps += len(notes)
        helped += any(usage.get(EXPERT) for usage in notes)
    why = ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in hand_overs.items())
    return (
        f"expert: {by_expert:,} of {steps:,} actions in {helped:,} of {played:,} episodes;"
        f" {hand_overs.total():,} hand-overs{f': {why}' if why else ''}"
    )
