"""What a variant of the judge comes to, before it is put beside what the agent claims."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.evaluator import Verdict
from evaluators.judge.conduct import Claim
from evaluators.judge.examination import ClaimCheck, KeyPoint, Shown, Vote
from evaluators.judge.exhibits import Exhibit

_VALUES = {"success": 1.0, "failure": 0.0}


@dataclass(frozen=True, slots=True)
class Ruling:
    """The votes with what they were given on, or why there are none."""

    votes: tuple[Vote, ...] = ()
    key_points: tuple[KeyPoint, ...] = ()
    shown: tuple[Shown, ...] = ()
    abstains: str = ""
    """Why nothing was voted on; empty where something was."""

    def verdict(self) -> Verdict:
        """More than half of all votes, abstentions counted among them."""
        if not self.votes:
            return Verdict(None, self.abstains)
        outcomes = [vote.outcome for vote in self.votes]
        leading, count = Counter(outcomes).most_common(1)[0]
        reason = str(self.votes[outcomes.index(leading)])
        tally = f"{count} of {len(self.votes)} votes" if len(self.votes) > 1 else "judged"
        if leading in _VALUES and 2 * count > len(self.votes):
            return Verdict(_VALUES[leading], f"{tally} {leading}: {reason}")
        return Verdict(None, f"{', '.join(outcomes)}: {reason}")


def shown(exhibits: Sequence[Exhibit]) -> tuple[Shown, ...]:
    """The pages of a case as they are recorded."""
    return tuple(
        Shown(
            each.number,
            round(each.relevance, 4),
            each.observation.screenshot if each.image is not None else "",
            bool(each.text),
        )
        for each in exhibits
    )


def check_claim(claim: Claim, value: float | None) -> ClaimCheck:
    """How the claim stands to the verdict."""
    if claim.stance == "none":
        return "none"
    if value is None:
        return "unknown"
    return "agrees" if (value > 0.5) == (claim.stance == "done") else "contradicts"


def contradiction(claim: Claim, value: float | None, votes: Sequence[Vote]) -> str:
    """The sentence that says what speaks against the claim; empty where nothing does."""
    if check_claim(claim, value) != "contradicts":
        return ""
    if claim.stance == "gave up":
        return "the agent gave up, but the task is done"
    points = next((vote.points for vote in votes if vote.outcome == "failure"), ())
    missed = [str(n) for n, point in enumerate(points, start=1) if point.settled == "not met"]
    what = f"point {' and '.join(missed)} is not met" if missed else "the task is not done"
    return f"the agent claims success, but {what}"
