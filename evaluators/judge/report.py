"""What a judge found, voted and cost, beside its verdict."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from evaluators.evaluator import Verdict
from evaluators.judge.pages import Claim, EvidencePage
from webagent.models.model import Completion

PointVerdict: TypeAlias = Literal["met", "not met", "cannot tell"]
VoteOutcome: TypeAlias = Literal["success", "failure", "cannot tell", "unusable"]
ClaimCheck: TypeAlias = Literal["agrees", "contradicts", "unknown", "none"]
Agreement: TypeAlias = Literal["agrees", "contradicts", "missing", "cannot tell", ""]


@dataclass(frozen=True, slots=True)
class KeyPoint:
    """One condition that must hold for the task to be done."""

    text: str
    asks: Literal["state", "answer"] = "state"
    """`state`: it shows on the pages; `answer`: it is what the agent has to say."""


@dataclass(frozen=True, slots=True)
class PointFinding:
    """The verdict on one key point, with what shows it."""

    point: KeyPoint
    verdict: PointVerdict
    where: str = "nowhere"
    """`page 2`, `screenshot 2`, `actions` or `nowhere`; numbers are those of the pages."""
    quote: str = ""
    is_looked_up: bool = False
    """Whether the quote was found in a text; words on a screenshot are taken on trust."""
    agreement: Agreement = ""
    """How the agent's answer stands to the evidence; empty where it was not compared."""
    stated: str = ""
    """The words of the answer that were compared."""
    refusal: str = ""
    """Why the quote was not accepted though it stands there; the verdict is `cannot tell` then."""

    @property
    def settled(self) -> PointVerdict:
        """The verdict with the agent's answer taken in, where the point asks for one."""
        if self.point.asks == "state" or self.verdict != "met":
            return self.verdict
        if self.agreement in ("contradicts", "missing"):
            return "not met"
        return "met" if self.agreement == "agrees" else "cannot tell"

    def __str__(self) -> str:
        shown = f" ({self.where}: {self.quote!r})" if self.quote or self.where != "nowhere" else ""
        answered = f" [answer {self.agreement}: {self.stated!r}]" if self.agreement else ""
        refused = f" [refused: {self.refusal}]" if self.refusal else ""
        return f"{self.settled}: {self.point.text}{shown}{refused}{answered}"


@dataclass(frozen=True, slots=True)
class JudgeVote:
    """What one reply comes to."""

    outcome: VoteOutcome
    reason: str = ""
    points: tuple[PointFinding, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    """To questions beside success: `side_effect`, `optimality`, `looping`."""

    def __str__(self) -> str:
        return "; ".join(filter(None, [self.reason, *map(str, self.points)]))


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page that the judge was shown."""

    page: int
    """Counted from 1: page n is the one that action n was taken on."""
    relevance: float = 0.0
    screenshot: str = ""
    """Reference of the screenshot, where it was attached."""
    has_text: bool = False


@dataclass(frozen=True, slots=True)
class Spending:
    """What a judgement cost."""

    calls: int = 0
    """Calls of the model, failed ones included."""
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    """Waited for replies; of calls at the same time each counts."""

    def after(self, completion: Completion | None, seconds: float) -> "Spending":
        """Return the spending with one more call; without a completion it failed."""
        usage = completion.usage if completion is not None else {}
        return replace(
            self,
            calls=self.calls + 1,
            input_tokens=self.input_tokens + usage.get("input_tokens", 0),
            output_tokens=self.output_tokens + usage.get("output_tokens", 0),
            seconds=self.seconds + seconds,
        )


@dataclass(frozen=True, slots=True)
class JudgementReport:
    """One judgement with its grounds."""

    judge: str
    """Id of the judge, with variant, model, settings and prompt hash."""
    episode: str
    value: float | None
    """1, 0, or None where the judge abstains."""
    reason: str
    key_points: tuple[KeyPoint, ...] = ()
    shown: tuple[ShownPage, ...] = ()
    votes: tuple[JudgeVote, ...] = ()
    claim: str = "none"
    """What the agent claims: `done`, `gave up` or `none`."""
    claim_check: ClaimCheck = "none"
    """How the claim stands to the verdict."""
    notes: tuple[str, ...] = ()
    """What went otherwise than planned, such as pages that did not fit."""
    prompt_hash: str = ""
    spent: Spending = Spending()

    @property
    def verdict(self) -> Verdict:
        """Value and reason alone."""
        return Verdict(self.value, self.reason)


def decide_outcome(points: Sequence[PointFinding]) -> VoteOutcome:
    """Return what follows from the points: all met, one not met, or neither."""
    found = {point.settled for point in points}
    if "not met" in found:
        return "failure"
    return "success" if found == {"met"} else "cannot tell"


_VALUES = {"success": 1.0, "failure": 0.0}


@dataclass(frozen=True, slots=True)
class JudgeOutcome:
    """The votes with what they were given on, or why there are none."""

    votes: tuple[JudgeVote, ...] = ()
    key_points: tuple[KeyPoint, ...] = ()
    shown: tuple[ShownPage, ...] = ()
    abstains: str = ""
    """Why nothing was voted on; empty where something was."""

    def verdict(self) -> Verdict:
        """Return more than half of all votes, abstentions counted among them."""
        if not self.votes:
            return Verdict(None, self.abstains)
        outcomes = [vote.outcome for vote in self.votes]
        leading, count = Counter(outcomes).most_common(1)[0]
        reason = str(self.votes[outcomes.index(leading)])
        tally = f"{count} of {len(self.votes)} votes" if len(self.votes) > 1 else "judged"
        if leading in _VALUES and 2 * count > len(self.votes):
            return Verdict(_VALUES[leading], f"{tally} {leading}: {reason}")
        return Verdict(None, f"{', '.join(outcomes)}: {reason}")


def record_shown(views: Sequence[EvidencePage]) -> tuple[ShownPage, ...]:
    """Return the pages of a prompt as they are recorded."""
    return tuple(
        ShownPage(
            each.number,
            round(each.relevance, 4),
            each.observation.screenshot if each.image is not None else "",
            bool(each.text),
        )
        for each in views
    )


def check_claim(claim: Claim, value: float | None) -> ClaimCheck:
    """Return how the claim stands to the verdict."""
    if claim.stance == "none":
        return "none"
    if value is None:
        return "unknown"
    return "agrees" if (value > 0.5) == (claim.stance == "done") else "contradicts"


def explain_contradiction(claim: Claim, value: float | None, votes: Sequence[JudgeVote]) -> str:
    """Return the sentence that says what speaks against the claim; empty where nothing does."""
    if check_claim(claim, value) != "contradicts":
        return ""
    if claim.stance == "gave up":
        return "the agent gave up, but the task is done"
    points = next((vote.points for vote in votes if vote.outcome == "failure"), ())
    missed = [str(n) for n, point in enumerate(points, start=1) if point.settled == "not met"]
    what = f"point {' and '.join(missed)} is not met" if missed else "the task is not done"
    return f"the agent claims success, but {what}"
