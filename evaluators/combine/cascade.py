"""A cascade: cheap and certain evaluators first, a dear one only where they leave it open."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from evaluators.combine.asking import Asked, ask
from evaluators.combine.tally import Tally, side
from evaluators.combine.wording import joined, told
from evaluators.evaluator import Evaluator, Judged, Verdict, evaluator
from webagent.records import Trajectory


def cascade(
    *evaluators: Evaluator,
    agree: int = 1,
    score: str = "success",
    tally: Tally | None = None,
    seconds: float | None = None,
) -> Judged:
    """Asked in order, cheap ones first, until `agree` of them say the same.

    With 1 the first that does not abstain has the last word. With more, the first `agree` are asked
    at once and every further one only where those before disagree or abstain; when the list is at
    its end, the last one's word counts, and where it abstains the cascade does. The value is the
    mean of those that agree. An evaluator whose model fails or that takes longer than `seconds`
    abstains. `tally` adds up what each is asked, says and costs. Raises `ValueError` when there are
    fewer evaluators than have to agree.
    """
    if not 1 <= agree <= len(evaluators):
        raise ValueError(
            f"a cascade needs at least one evaluator, and no more that agree than there are; found"
            f" {len(evaluators)} of which {agree} are to agree"
        )
    kind = "cascade" if agree == 1 else f"cascade[{agree} agree]"

    @evaluator(joined(kind, evaluators), score=score)
    async def judge(trajectory: Trajectory) -> Verdict:
        first, later = evaluators[:agree], evaluators[agree:]
        asking = [ask(each, trajectory, seconds=seconds, score=score) for each in first]
        asked = list(await asyncio.gather(*asking))
        for each in later:
            if _agreed(asked, agree) is not None:
                break
            asked.append(await ask(each, trajectory, seconds=seconds, score=score))
        verdict = _verdict(asked, agree, is_end=len(asked) == len(evaluators))
        if tally is not None:
            tally.note([each.id for each in evaluators], asked, verdict.value)
        return verdict

    return judge


def unsure_abstains(inner: Evaluator, low: float, high: float, *, score: str = "success") -> Judged:
    """The evaluator with its values between low and high made abstentions, for use in a cascade.

    A `high` above 1 leaves only its failures, a `low` below 0 only its successes.
    """

    @evaluator(f"unsure_abstains[{low:g},{high:g}]({inner.id})", score=score)
    async def judge(trajectory: Trajectory) -> Verdict:
        said = await inner(trajectory)
        if said.value is not None and low < said.value < high:
            return Verdict(None, f"unsure at {said.value:.2f}: {said.reason}")
        return Verdict(said.value, said.reason)

    return judge


def _verdict(asked: Sequence[Asked], agree: int, *, is_end: bool) -> Verdict:
    reason = "; ".join(told(one.score) for one in asked)
    value = _agreed(asked, agree)
    if value is None and is_end:
        value = asked[-1].score.value
    if value is None and agree > 1:
        return Verdict(None, f"no {agree} agree: {reason}")
    return Verdict(value, reason)


def _agreed(asked: Sequence[Asked], agree: int) -> float | None:
    """The mean of the values of those that say the same, where they are enough."""
    sides: defaultdict[int, list[float]] = defaultdict(list)
    for one in asked:
        if one.score.value is not None:
            sides[side(one.score.value)].append(one.score.value)
    enough = [values for values in sides.values() if len(values) >= agree]
    return sum(enough[0]) / len(enough[0]) if enough else None
