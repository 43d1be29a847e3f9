"""Several evaluators as one, with what each costs: votes, and cascades from cheap to expensive."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from evaluators.evaluator import Evaluator, FunctionEvaluator, Verdict, evaluator
from webagent.errors import ModelError
from webagent.models.model import Capabilities, Completion, Message, Model, Tokens
from webagent.models.spending import Prices, Spent
from webagent.records import Score, Trajectory

__all__ = [
    "CountedModel",
    "EvaluatorTally",
    "MemberTally",
    "TimedScore",
    "ask",
    "cascade",
    "unsure_abstains",
    "vote",
]


@dataclass(frozen=True, slots=True)
class TimedScore:
    """What an evaluator said and what that took."""

    score: Score
    seconds: float = 0.0
    """From asking to hearing, waiting included."""
    spent: Mapping[str, Spent] = field(default_factory=dict)
    """By the names of the models that were asked for it, where they are `CountedModel`s."""
    failure: str = ""
    """Why it had to abstain: its model failed, or time was up. Empty where it spoke for itself."""

    @property
    def was_in_vain(self) -> bool:
        """Whether it abstained because a model failed or time was up: another time it may not."""
        lost = any(spent.failed for spent in self.spent.values())
        return self.score.value is None and (bool(self.failure) or lost)


async def ask(
    evaluate: Evaluator,
    trajectory: Trajectory,
    *,
    seconds: float | None = None,
    score: str = "success",
) -> TimedScore:
    """Return the evaluator's score of that name; it abstains on a failed model or after `seconds`.

    What was asked of models until then is counted. Raises what the evaluator raises otherwise.
    """
    account = _Account(_ACCOUNT.get())
    token = _ACCOUNT.set(account)
    started, failure = time.monotonic(), ""
    try:
        given = await asyncio.wait_for(evaluate(trajectory), seconds)
    except ModelError as error:
        failure = f"its model failed: {error}"
    except TimeoutError:
        failure = "it gave no verdict" + (f" within {seconds:g} s" if seconds else " in time")
    finally:
        _ACCOUNT.reset(token)
    if failure:
        given = Score(score, None, failure, evaluate.id)
    return TimedScore(given, time.monotonic() - started, account.spent, failure)


class CountedModel:
    """The model, with each request put to the account of the evaluator that makes it.

    Evaluators that are asked at the same time have accounts of their own, and one inside another
    counts for both.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """Pass it to the model."""
        return self._model.name

    @property
    def capabilities(self) -> Capabilities:
        """Pass it to the model."""
        return self._model.capabilities

    async def complete(self, prompt: Sequence[Message] | Tokens, **options: Any) -> Completion:
        """Pass it to the model."""
        completion = None
        try:
            completion = await self._model.complete(prompt, **options)
        finally:
            account = _ACCOUNT.get()
            if account is not None:
                account.book(self._model.name, completion)
        return completion

    async def close(self) -> None:
        """Pass it to the model."""
        await self._model.close()


class _Account:
    """What one asking has spent so far, and those within it."""

    def __init__(self, around: "_Account | None") -> None:
        self.spent: dict[str, Spent] = {}
        self._around = around

    def book(self, model: str, completion: Completion | None) -> None:
        """Count one more request; without a completion it failed."""
        before = self.spent.get(model, Spent("judge", model))
        self.spent[model] = (
            replace(before, failed=before.failed + 1)
            if completion is None
            else before.after(completion)
        )
        if self._around is not None:
            self._around.book(model, completion)


_ACCOUNT: ContextVar[_Account | None] = ContextVar("account", default=None)


def _side(value: float) -> int:
    """Return 1 for success, -1 for failure, 0 for exactly one half."""
    return (value > 0.5) - (value < 0.5)


@dataclass(slots=True)
class MemberTally:
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
        """Return what its requests cost; None where that is not known, 0 where none was made."""
        return _add_known(spent.money(prices) for spent in self.spent.values())

    def note(self, given: TimedScore, outcome: float | None) -> None:
        """Count one more episode that it scored or abstained on, with the outcome of the whole."""
        value = given.score.value
        self.asked += 1
        self.decided += value is not None
        self.abstained += value is None
        self.failed += given.was_in_vain
        if value is not None and outcome is not None:
            self.overruled += _side(value) != _side(outcome)
        self.seconds += given.seconds
        for model, spent in given.spent.items():
            one = self.spent.get(model, Spent(spent.role, model))
            self.spent[model] = one.plus(spent)


def _add_known(costs: Iterable[float | None]) -> float | None:
    """Return the sum of the costs; None where one of them is not known."""
    listed = list(costs)
    known = [cost for cost in listed if cost is not None]
    return sum(known) if len(known) == len(listed) else None


@dataclass(slots=True)
class EvaluatorTally:
    """Counts for one vote or cascade, over all episodes it has judged."""

    episodes: int = 0
    decided: int = 0
    stages: list[MemberTally] = field(default_factory=list)
    """The members in their order."""
    together: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    """For places of two members: on how many episodes both decided, on how many the same."""

    def note(
        self, names: Sequence[str], given: Sequence[TimedScore], outcome: float | None
    ) -> None:
        """Count one more episode: all members, the replies of those that ran, and the outcome."""
        if not self.stages:
            self.stages = [MemberTally(name) for name in names]
        if [stage.name for stage in self.stages] != list(names):
            found = ", ".join(stage.name for stage in self.stages)
            raise ValueError(f"this tally is of {found}, not of {', '.join(names)}")
        self.episodes += 1
        self.decided += outcome is not None
        for stage, one in zip(self.stages, given, strict=False):
            stage.note(one, outcome)
        sides = [None if one.score.value is None else _side(one.score.value) for one in given]
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
        """Return how often two members said the same where both decided; None where they never."""
        both, same = self.together.get((min(one, other), max(one, other)), (0, 0))
        return same / both if both else None

    def money(self, prices: Prices) -> float | None:
        """Return the cost of all members; None where that of one is not known."""
        return _add_known(stage.money(prices) for stage in self.stages)

    def state(self) -> dict[str, Any]:
        """Return plain data that `restored` reads."""
        pairs = [[*places, *counts] for places, counts in self.together.items()]
        return {**asdict(self), "together": pairs}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "EvaluatorTally":
        """Return the tally of a `state`, so that it goes on over several sessions."""
        stages = []
        for row in state["stages"]:
            spent = {model: Spent(**each) for model, each in row["spent"].items()}
            stages.append(MemberTally(**{**row, "spent": spent}))
        together = {(a, b): (both, same) for a, b, both, same in state["together"]}
        return cls(state["episodes"], state["decided"], stages, together)


def _format_name(
    kind: str, evaluators: Iterable[Evaluator], weights: Sequence[float] | None = None
) -> str:
    """Return the name of what is made of them, with the weight of each where weights are given."""
    parts = [evaluate.id for evaluate in evaluators]
    if weights is not None:
        parts = [f"{weight:g}*{part}" for weight, part in zip(weights, parts, strict=True)]
    return f"{kind}({', '.join(parts)})"


def _format_score(score: Score) -> str:
    """Return who said what, and why."""
    value = "abstains" if score.value is None else f"{score.value:g}"
    return f"{score.evaluator} {value} ({score.reason})"


def vote(
    *evaluators: Evaluator,
    weights: Sequence[float] | None = None,
    tally: EvaluatorTally | None = None,
    seconds: float | None = None,
) -> FunctionEvaluator:
    """Return the majority: 1 or 0 by the weight of values above and below one half.

    Abstentions and values of exactly one half carry no weight; a tie abstains. A voter whose model
    fails or who takes longer than `seconds` abstains. `tally` adds up what each voter says and
    costs. Raises `ValueError` when there is no evaluator, or not one positive weight for each.
    """
    shares = tuple(weights) if weights is not None else (1.0,) * len(evaluators)
    if not evaluators or len(shares) != len(evaluators) or min(shares) <= 0:
        raise ValueError(f"{len(evaluators)} evaluators with the weights {shares}")

    @evaluator(_format_name("vote", evaluators, weights))
    async def judge(trajectory: Trajectory) -> Verdict:
        asking = [ask(each, trajectory, seconds=seconds) for each in evaluators]
        given = await asyncio.gather(*asking)
        reason = "; ".join(_format_score(one.score) for one in given)
        pairs = zip((one.score.value for one in given), shares, strict=True)
        balance = sum(weight * _side(value) for value, weight in pairs if value is not None)
        if abs(balance) < 1e-9:
            verdict = Verdict(None, f"no majority: {reason}")
        else:
            verdict = Verdict(float(balance > 0), reason)
        if tally is not None:
            tally.note([each.id for each in evaluators], given, verdict.value)
        return verdict

    return judge


def cascade(
    *evaluators: Evaluator,
    agree: int = 1,
    tally: EvaluatorTally | None = None,
    seconds: float | None = None,
) -> FunctionEvaluator:
    """Return an evaluator that asks in order, cheap ones first, until `agree` of them say the same.

    With 1 the first that does not abstain has the last word. With more, the first `agree` run
    at once and every further one only where those before disagree or abstain; when the list is at
    its end, the last one's word counts, and where it abstains the cascade does. The value is the
    mean of those that agree. An evaluator whose model fails or that takes longer than `seconds`
    abstains. `tally` adds up what each answers and costs. Raises `ValueError` when there are
    fewer evaluators than have to agree.
    """
    if not 1 <= agree <= len(evaluators):
        raise ValueError(
            f"a cascade needs at least one evaluator, and at most that many that agree; found"
            f" {len(evaluators)}, of which {agree} must agree"
        )
    kind = "cascade" if agree == 1 else f"cascade[{agree} agree]"

    @evaluator(_format_name(kind, evaluators))
    async def judge(trajectory: Trajectory) -> Verdict:
        first, later = evaluators[:agree], evaluators[agree:]
        asking = [ask(each, trajectory, seconds=seconds) for each in first]
        given = list(await asyncio.gather(*asking))
        for each in later:
            if _agreed(given, agree) is not None:
                break
            given.append(await ask(each, trajectory, seconds=seconds))
        value = _agreed(given, agree)
        if value is None and len(given) == len(evaluators):
            value = given[-1].score.value
        reason = "; ".join(_format_score(one.score) for one in given)
        if value is None and agree > 1:
            reason = f"no {agree} agree: {reason}"
        verdict = Verdict(value, reason)
        if tally is not None:
            tally.note([each.id for each in evaluators], given, verdict.value)
        return verdict

    return judge


def unsure_abstains(inner: Evaluator, low: float, high: float) -> FunctionEvaluator:
    """Return the evaluator with its values between low and high made abstentions, for a cascade.

    A `high` above 1 leaves only its failures, a `low` below 0 only its successes.
    """

    @evaluator(f"unsure_abstains[{low:g},{high:g}]({inner.id})")
    async def judge(trajectory: Trajectory) -> Verdict:
        given = await inner(trajectory)
        if given.value is not None and low < given.value < high:
            return Verdict(None, f"unsure at {given.value:.2f}: {given.reason}")
        return Verdict(given.value, given.reason)

    return judge


def _agreed(given: Sequence[TimedScore], agree: int) -> float | None:
    """Return the mean of the values of those that say the same, where they are enough."""
    sides: defaultdict[int, list[float]] = defaultdict(list)
    for one in given:
        if one.score.value is not None:
            sides[_side(one.score.value)].append(one.score.value)
    enough = [values for values in sides.values() if len(values) >= agree]
    return sum(enough[0]) / len(enough[0]) if enough else None
