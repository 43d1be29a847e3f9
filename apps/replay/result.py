"""What came of a replay: completed, or refused with a reason, and where it was healed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from tasks.task import Json
from webagent.policy.replay import ReplayedStep
from webagent.records import Ending, Score, Trajectory


@dataclass(frozen=True, slots=True)
class Replayed:
    """One replayed episode."""

    recorded: str
    """Id of the episode that was replayed."""
    played: Trajectory
    accounts: tuple[ReplayedStep, ...]
    score: Score | None = None
    """What the task's rules say; None where it has none."""

    @property
    def refusal(self) -> str:
        """Why it was not played to its end; empty where it was."""
        said = next((each.describe() for each in self.accounts if each.refusal), "")
        if said or self.played.ending in (Ending.ANSWERED, Ending.TASK_OVER, Ending.GAVE_UP):
            return said
        return f"{self.played.ending}: {self.played.error}".rstrip(": ")

    @property
    def is_good(self) -> bool:
        """Whether it was played to its end and the rules, where there are some, hold."""
        return not self.refusal and (self.score is None or self.score.value == 1.0)

    @property
    def healed(self) -> int:
        """How many steps found their element elsewhere."""
        return sum(account.is_healed for account in self.accounts)

    def lines(self) -> list[str]:
        """For people: the outcome, then what is to be known of steps."""
        steps = f"{len(self.accounts) - bool(self.refusal)} steps, {self.healed} healed"
        lines = [f"{self.recorded}  {self.played.task.name}  {self._outcome()}  ({steps})"]
        lines += [
            f"  {each.describe()}"
            for each in self.accounts
            if bool(each.refusal or each.is_healed or each.notes)
        ]
        if self.refusal and not any(each.refusal for each in self.accounts):
            lines.append(f"  {self.refusal}")
        if self.score is not None and not self.refusal and self.score.value != 1.0:
            lines.append(f"  {self.score.reason}")
        return lines

    def content(self) -> Mapping[str, Json]:
        """As JSON."""
        return {
            "episode": self.recorded,
            "replay": self.played.id,
            "task": self.played.task.id,
            "seed": self.played.task.seed,
            "outcome": self._outcome(),
            "refusal": self.refusal,
            "healed": self.healed,
            "ending": str(self.played.ending),
            "score": None if self.score is None else self.score.value,
            "score_reason": "" if self.score is None else self.score.reason,
            "steps": [
                {**asdict(each), "notes": list(each.notes), "healed": each.is_healed}
                for each in self.accounts
            ],
        }

    def _outcome(self) -> str:
        if self.refusal:
            return "refused" if any(each.refusal for each in self.accounts) else "failed"
        if self.score is None:
            return "completed"
        return "completed, checks hold" if self.score.value == 1.0 else "completed, checks fail"
