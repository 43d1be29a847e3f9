"""A vote: the majority among evaluators that are all asked."""

import asyncio
from collections.abc import Sequence

from evaluators.combine.asking import ask
from evaluators.combine.tally import Tally
from evaluators.combine.wording import joined, told
from evaluators.evaluator import Evaluator, Judged, Verdict, evaluator
from webagent.records import Score, Trajectory


def vote(
    *evaluators: Evaluator,
    weights: Sequence[float] | None = None,
    score: str = "success",
    tally: Tally | None = None,
    seconds: float | None = None,
) -> Judged:
    """The majority: 1 or 0 by the weight of values above and below one half.

    Abstentions and values of exactly one half carry no weight; a tie abstains. A voter whose model
    fails or who takes longer than `seconds` abstains. `tally` adds up what each voter says and
    costs. Raises `ValueError` when there is no evaluator, or not one positive weight for each.
    """
    shares = tuple(weights) if weights is not None else (1.0,) * len(evaluators)
    if not evaluators or len(shares) != len(evaluators) or min(shares) <= 0:
        raise ValueError(f"{len(evaluators)} evaluators with the weights {shares}")

    @evaluator(joined("vote", evaluators, weights), score=score)
    async def judge(trajectory: Trajectory) -> Verdict:
        asking = [ask(each, trajectory, seconds=seconds, score=score) for each in evaluators]
        asked = await asyncio.gather(*asking)
        verdict = majority([one.score for one in asked], shares)
        if tally is not None:
            tally.note([each.id for each in evaluators], asked, verdict.value)
        return verdict

    return judge


def majority(scores: Sequence[Score], weights: Sequence[float]) -> Verdict:
    """What the scores come to, each counted with its weight."""
    pairs = [(s.value, w) for s, w in zip(scores, weights, strict=True) if s.value is not None]
    balance = sum(weight * ((value > 0.5) - (value < 0.5)) for value, weight in pairs)
    reason = "; ".join(map(told, scores))
    if abs(balance) < 1e-9:
        return Verdict(None, f"no majority: {reason}")
    return Verdict(float(balance > 0), reason)
