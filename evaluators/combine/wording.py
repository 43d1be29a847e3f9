"""How evaluators that are several are named, and how what they said is told."""

from collections.abc import Iterable, Sequence

from evaluators.evaluator import Evaluator
from webagent.records import Score


def joined(
    kind: str, evaluators: Iterable[Evaluator], weights: Sequence[float] | None = None
) -> str:
    """The name of what is made of them, with the weight of each where weights are given."""
    parts = [evaluate.id for evaluate in evaluators]
    if weights is not None:
        parts = [f"{weight:g}*{part}" for weight, part in zip(weights, parts, strict=True)]
    return f"{kind}({', '.join(parts)})"


def told(score: Score) -> str:
    """Who said what, and why."""
    value = "abstains" if score.value is None else f"{score.value:g}"
    return f"{score.evaluator} {value} ({score.reason})"
