"""A folder of hints brought up to date with a run's episodes, once they are judged."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from webagent.models.model import Model
from webagent.policy.knowledge.hints import read_book, site_of_episode, write_book
from webagent.policy.knowledge.induction import Induced, Induction, induce
from webagent.policy.knowledge.lived import is_finished
from webagent.policy.knowledge.rulebook import credit
from webagent.records import Trajectory

Pair = tuple[Trajectory, Trajectory]
"""A failure, and a success to compare it with."""


async def learn(
    model: Model,
    folder: Path,
    judged: Iterable[tuple[Trajectory, bool]],
    settings: Induction | None = None,
    along: Callable[[Sequence[Pair]], Iterable[Pair]] = iter,
) -> list[Induced]:
    """Count the hints that the episodes name, then learn from every failure with its success.

    Each episode comes with whether it went well; those that were not finished, or failed with
    their world, are passed over. Files are saved after every pair, so that a kill loses at most the
    pair in flight; `along` goes through the pairs, and may tell how far it is. To be called once
    with each episode: counts are added up. Raises `SetupError` for a file that makes no sense,
    `ModelError` when the model fails.
    """
    episodes = [(episode, went_well) for episode, went_well in judged if is_finished(episode)]
    for site in sorted({site_of_episode(episode) for episode, _ in episodes}):
        book = read_book(folder, site)
        for episode, went_well in episodes:
            if site_of_episode(episode) == site:
                book = credit(book, episode, went_well=went_well)
        if book.rules:
            write_book(folder, book)
    learnt = []
    for failed, succeeded in along(pairs(episodes)):
        book = read_book(folder, site_of_episode(failed))
        induced = await induce(model, book, failed, succeeded, settings or Induction())
        write_book(folder, induced.book)
        learnt.append(induced)
    return learnt


def pairs(judged: Sequence[tuple[Trajectory, bool]]) -> list[Pair]:
    """Every failure with the success on its site that is most like it: of the same seed of the
    same task, else of the same task, else any. Failures without a success are left out."""
    succeeded = [episode for episode, went_well in judged if went_well]
    found = []
    for failed in (episode for episode, went_well in judged if not went_well):
        near = [each for each in succeeded if site_of_episode(each) == site_of_episode(failed)]
        if near:
            found.append((failed, max(near, key=lambda each: _likeness(each, failed))))
    return found


def _likeness(a: Trajectory, b: Trajectory) -> tuple[bool, bool]:
    return a.task.id == b.task.id, a.task.seed == b.task.seed
