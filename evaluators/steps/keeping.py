"""Judgements of steps kept beside the episodes they are of."""

from collections.abc import Iterable

from evaluators.steps.judgement import StepJudgement
from webagent.serialize import from_json, to_json
from webagent.store import Store

_PREFIX = "steps:"


def keep(store: Store, judgements: Iterable[StepJudgement]) -> int:
    """Put judgements into the run; one of the same episode and source is replaced. How many.

    Raises `StoreError` when the run cannot be written.
    """
    count = 0
    for judgement in judgements:
        store.put_state(f"{_PREFIX}{judgement.episode}:{judgement.source}", to_json(judgement))
        count += 1
    return count


def kept(store: Store, source: str = "") -> dict[str, StepJudgement]:
    """What the run holds, by episode id; of several sources whose names begin so, the last by name.

    Raises `StoreError` when the run cannot be read.
    """
    found = [from_json(StepJudgement, value) for value in store.states(_PREFIX).values()]
    return {one.episode: one for one in found if one.source.startswith(source)}
