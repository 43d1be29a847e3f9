"""Several evaluators as one: votes among them, and the cheap one before the dear one."""

import asyncio
from collections.abc import Iterable, Sequence

from evaluators.evaluator import Evaluator, Judged, Verdict, evaluator
from webagent.records import Score, Trajectory


def vote(
    *evaluators: Evaluator, weights: Sequence[float] | None = None, score: str = "success"
) -> Judged:
    """The majority: 1 or 0 by the weight of values above and below one half.

    Abstentions and values of exactly one half carry no weight; a tie abstains. Raises `ValueError`
    when there is no evaluator, or not one positive weight for each.
    """
    shares = tuple(weights) if weights is not None else (1.0,) * len(evaluators)
    if not evaluators or len(shares) != len(evaluators) or min(shares) <= 0:
        raise ValueError(f"{len(evaluators)} evaluators with the weights {shares}")

    @evaluator(_joined("vote", evaluators, weights), score=score)
    async def judge(trajectory: Trajectory) -> Verdict:
        scores = await asyncio.gather(*(evaluate(trajectory) for evaluate in evaluators))
        return majority(scores, shares)

    return judge


def majority(scores: Sequence[Score], weights: Sequence[float]) -> Verdict:
    """What the scores come to, each counted with its weight."""
    pairs = [(s.value, w) for s, w in zip(scores, weights, strict=True) if s.value is not None]
    balance = sum(weight * ((value > 0.5) - (value < 0.5)) for value, weight in pairs)
    reason = "; ".join(map(_told, scores))
    if abs(balance) < 1e-9:
        return Verdict(None, f"no majority: {reason}")
    return Verdict(float(balance > 0), reason)


def cascade(*evaluators: Evaluator, score: str = "success") -> Judged:
    """The first that does not abstain, asked in order: cheap ones first, dear ones where needed.

    Raises `ValueError` when there is no evaluator.
    """
    if not evaluators:
        raise ValueError("a cascade needs at least one evaluator")

    @evaluator(_joined("cascade", evaluators), score=score)
    async def judge(trajectory: Trajectory) -> Verdict:
        passed: list[str] = []
        for evaluate in evaluators:
            said = await evaluate(trajectory)
            passed.append(_told(said))
            if said.value is not None:
                return Verdict(said.value, "; ".join(passed))
        return Verdict(None, "; ".join(passed))

    return judge


def unsure_abstains(inner: Evaluator, low: float, high: float, *, score: str = "success") -> Judged:
    """The evaluator with its values between low and high made abstentions, for use in a cascade."""

    @evaluator(f"unsure_abstains[{low:g},{high:g}]({inner.id})", score=score)
    async def judge(trajectory: Trajectory) -> Verdict:
        said = await inner(trajectory)
        if said.value is not None and low < said.value < high:
            return Verdict(None, f"unsure at {said.value:.2f}: {said.reason}")
        return Verdict(said.value, said.reason)

    return judge


def _joined(
    kind: str, evaluators: Iterable[Evaluator], weights: Sequence[float] | None = None
) -> str:
    parts = [evaluate.id for evaluate in evaluators]
    if weights is not None:
        parts = [f"{weight:g}*{part}" for weight, part in zip(weights, parts, strict=True)]
    return f"{kind}({', '.join(parts)})"


def _told(score: Score) -> str:
    value = "abstains" if score.value is None else f"{score.value:g}"
    return f"{score.evaluator} {value} ({score.reason})"
