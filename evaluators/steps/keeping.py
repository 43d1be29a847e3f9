"""Judgements of steps kept beside the episodes they are of."""

from collections.abc import Iterable
from dataclasses import asdict

from pydantic import TypeAdapter, ValidationError

from evaluators.steps.judgement import StepJudgement
from tasks.task import Json
from webagent.errors import StoreError
from webagent.store import Store

_PREFIX = "steps:"
_FORM = TypeAdapter(StepJudgement)


def keep(store: Store, judgements: Iterable[StepJudgement]) -> int:
    """Put judgements into the run; one of the same episode and source is replaced. How many.

    Raises `StoreError` when the run cannot be written.
    """
    count = 0
    for judgement in judgements:
        store.put_state(f"{_PREFIX}{judgement.episode}:{judgement.source}", _written(judgement))
        count += 1
    return count


def kept(store: Store, source: str = "") -> dict[str, StepJudgement]:
    """What the run holds, by episode id; of several sources whose names begin so, the last by name.

    Raises `StoreError` when the run cannot be read.
    """
    found = [_read(store, key, value) for key, value in store.states(_PREFIX).items()]
    return {one.episode: one for one in found if one.source.startswith(source)}


def kept_of(store: Store, episode: str) -> tuple[StepJudgement, ...]:
    """What the run holds of one episode, by the names of the sources. Raises `StoreError`."""
    found = store.states(f"{_PREFIX}{episode}:")
    return tuple(_read(store, key, value) for key, value in found.items())


def _written(judgement: StepJudgement) -> Json:
    """The judgement as plain data, the fields of a step that say nothing left out."""
    steps: list[Json] = [
        {name: value for name, value in asdict(step).items() if value not in ("", None, False)}
        | ({} if step.progress is None else {"progress": step.progress})
        for step in judgement.steps
    ]
    return {**asdict(judgement), "steps": steps}


def _read(store: Store, key: str, value: Json) -> StepJudgement:
    try:
        return _FORM.validate_python(value)
    except ValidationError as error:
        raise StoreError(
            f"{store.folder} holds a judgement of steps that cannot be read, {key}:"
            f" {error.errors()[0]['msg']}; judge the episode again"
        ) from error
