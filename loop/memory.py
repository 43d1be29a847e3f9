"""What a measured policy is told of earlier runs: successful episodes, hints on sites."""

from collections.abc import Iterator
from pathlib import Path

from tasks.suite import split_of
from webagent.errors import SetupError
from webagent.policy.knowledge import Exemplar, Exemplars, Hints, Knowledge, exemplar_of
from webagent.store import Store


def knowledge_of(
    exemplars: Path | None, hints: Path | None, split: str, judge: str, count: int = 2
) -> tuple[Knowledge, ...]:
    """Examples from a run's folder and hints from a folder of Markdown, where they are given.

    `count` examples are shown at a time: episodes that this judge gave a success of 1, on seeds of
    another split than the measured one. Raises `SetupError` when a run holds none, or a file of
    hints makes no sense, and `StoreError` when the run cannot be read.
    """
    found: list[Knowledge] = []
    if exemplars is not None:
        with Store.open(exemplars) as store:
            found.append(Exemplars(_examples(store, split, judge), count=count))
    if hints is not None:
        found.append(Hints.read(hints))
    return tuple(found)


def _examples(store: Store, split: str, judge: str) -> list[Exemplar]:
    succeeded = {
        episode
        for episode, scores in store.scores().items()
        if any((s.name, s.evaluator, s.value) == ("success", judge, 1.0) for s in scores)
    }
    usable = list(_usable(store, succeeded, split))
    if not usable:
        raise SetupError(
            f"{store.folder} holds {len(succeeded)} episodes that went well, none of them of"
            f" another split than {split!r}; examples from the measured seeds would give them away."
            " Play some first, as with webagent benchmark --split train"
        )
    return usable


def _usable(store: Store, episodes: set[str], split: str) -> Iterator[Exemplar]:
    for trajectory in store.trajectories():
        if trajectory.id in episodes and split_of(trajectory.task.seed) != split:
            yield exemplar_of(trajectory)
