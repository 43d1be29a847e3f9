"""What an arm knows, and the seam between that and whoever learns from it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from webagent.models.model import Model
from webagent.policy.policy import Policy
from webagent.records import Trajectory
from worldmodel.recall import RememberedWorld

Purpose: TypeAlias = Literal["collect", "imagine", "measure", "vote"]
"""What a policy acts for: to learn from what it does in real pages or in imagined ones, which is
where it explores; to be measured; or to be sampled again for a vote."""


class Learner(Protocol):
    """Takes experience with verdicts, and gives a better policy."""

    async def learn(self, state: "ArmState", arm: str, round: int) -> None:
        """Make the policy that this arm has after a round, and keep it in the run folder; what a
        killed session has made of it already is taken up from there. Round 0 is what comes of the
        demonstrations."""
        ...

    def policy(self, purpose: Purpose) -> Policy:
        """Return the latest policy, ready to act."""
        ...

    async def close(self) -> None:
        """Give back what the policy holds."""
        ...


@runtime_checkable
class RemembersAtOnce(Protocol):
    """A learner that gets better between two trainings, too."""

    def remember(self, state: "ArmState", episodes: Sequence[Trajectory]) -> None:
        """Take in judged episodes; the policies given so far act by them from then on."""
        ...


@runtime_checkable
class PredictsPages(Protocol):
    """A learner whose own language model can predict pages, too."""

    @property
    def knows_pages(self) -> bool:
        """Return whether its weights were trained to predict them."""
        ...

    def language_model(self) -> Model:
        """Return the model that acts, ready for requests; its spending is not booked."""
        ...


@dataclass(slots=True)
class ArmState:
    """Experience with verdicts of one arm in one repeat, and the models that were made of it."""

    learner: Learner
    world: RememberedWorld | None = None
    demonstrations: list[Trajectory] = field(default_factory=list)
    shown: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By task: how often a demonstrator tried it, and how often it succeeded."""
    experience: list[Trajectory] = field(default_factory=list)
    """Real episodes collected so far, failures included."""
    dreams: list[Trajectory] = field(default_factory=list)
    """Imagined episodes judged or predicted to be successes, of the latest round only."""
    success: dict[str, float | None] = field(default_factory=dict)
    """The verdicts of the loop's judge, by episode id."""

    def succeeded(self, trajectory: Trajectory) -> bool:
        """Whether the loop's judge passed it."""
        return (self.success.get(trajectory.id) or 0.0) >= 0.5

    def rate(self, task: str) -> float:
        """Success rate of a task over the latest round it was tried in; 1 when never tried."""
        tries = [t for t in self.experience if t.task.name == task]
        latest = max((t.provenance.round for t in tries), default=0)
        tries = [t for t in tries if t.provenance.round == latest]
        return sum(map(self.succeeded, tries)) / len(tries) if tries else 1.0
