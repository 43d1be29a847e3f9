"""The tally of a vote or cascade: how often each member was asked, what it said, what it cost."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from evaluators.combine.asking import Asked
from webagent.models.metered import Spent
from webagent.models.price import Prices

_COUNTS = (
    *("requests", "failed", "uncounted"),
    *("input_tokens", "cached_input_tokens", "output_tokens", "seconds"),
)


def side(value: float) -> int:
    """1 for success, -1 for failure, 0 for exactly one half."""
    return (value > 0.5) - (value < 0.5)


@dataclass(slots=True)
class Stage:
    """One member, over all episodes so far."""

    name: str
    asked: int = 0
    decided: int = 0
    abstained: int = 0
    """Failures among them."""
    failed: int = 0
    """Its model failed, or time was up."""
    overruled: int = 0
    """It decided, and the whole came to something else."""
    seconds: float = 0.0
    spent: dict[str, Spent] = field(default_factory=dict)
    """By model."""

    @property
    def requests(self) -> int:
        """Sent to models, those that failed included."""
        return sum(spent.requests + spent.failed for spent in self.spent.values())

    @property
    def tokens(self) -> int:
        """Read and written by models."""
        return sum(spent.tokens for spent in self.spent.values())

    def money(self, prices: Prices) -> float | None:
        """What its requests cost; None where that is not known, 0 where none was made."""
        costs = [spent.money(prices) for spent in self.spent.values()]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def note(self, asked: Asked, outcome: float | None) -> None:
        """One more episode on which it was asked, with what came of the whole."""
        value = asked.score.value
        self.asked += 1
        self.decided += value is not None
        self.abstained += value is None
        self.failed += asked.was_in_vain
        if value is not None and outcome is not None:
            self.overruled += side(value) != side(outcome)
        self.seconds += asked.seconds
        for model, spent in asked.spent.items():
            one = self.spent.get(model, Spent(spent.role, model))
            sums = {name: getattr(one, name) + getattr(spent, name) for name in _COUNTS}
            self.spent[model] = Spent(one.role, one.model, **sums)


@dataclass(slots=True)
class Tally:
    """Counts for one vote or cascade, over all episodes it has judged."""

    episodes: int = 0
    decided: int = 0
    stages: list[Stage] = field(default_factory=list)
    """The members in their order."""
    together: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """For places of two members: on how many episodes both decided, on how many the same."""

    def note(self, names: Sequence[str], asked: Sequence[Asked], outcome: float | None) -> None:
        """One more episode: the members, those of them that were asked, and what came of it."""
        if not self.stages:
            self.stages = [Stage(name) for name in names]
        if [stage.name for stage in self.stages] != list(names):
            found = ", ".join(stage.name for stage in self.stages)
            raise ValueError(f"this tally is of {found}, not of {', '.join(names)}")
        self.episodes += 1
        self.decided += outcome is not None
        for stage, one in zip(self.stages, asked, strict=False):
            stage.note(one, outcome)
        sides = [None if one.score.value is None else side(one.score.value) for one in asked]
        for other, theirs in enumerate(sides):
            for place, ours in enumerate(sides[:other]):
                if ours is not None and theirs is not None:
                    both, same = self.together.get((place, other), (0, 0))
                    self.together[place, other] = both + 1, same + (ours == theirs)

    @property
    def reached_last(self) -> float | None:
        """Share of episodes on which the last and dearest was asked; None before the first."""
        return self.stages[-1].asked / self.episodes if self.episodes else None

    def agreement(self, one: int, other: int) -> float | None:
        """How often two members said the same where both decided; None where they never did."""
        both, same = self.together.get((min(one, other), max(one, other)), (0, 0))
        return same / both if both else None

    def money(self, prices: Prices) -> float | None:
        """Of all members; None where that of one is not known."""
        costs = [stage.money(prices) for stage in self.stages]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def state(self) -> dict[str, Any]:
        """Plain data that `restored` reads."""
        pairs = [[*places, *counts] for places, counts in self.together.items()]
        return {
            "episodes": self.episodes,
            "decided": self.decided,
            "stages": [asdict(stage) for stage in self.stages],
            "together": pairs,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Tally":
        """What `state` gave, so that a tally goes on over several sessions."""
        stages = []
        for row in state["stages"]:
            spent = {model: Spent(**each) for model, each in row["spent"].items()}
            stages.append(Stage(**{**row, "spent": spent}))
        together = {(a, b): (both, same) for a, b, both, same in state["together"]}
        return cls(state["episodes"], state["decided"], stages, together)
