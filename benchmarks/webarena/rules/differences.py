"""Where the published and the corrected rules of a benchmark are not of one mind."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from evaluators.rules.checks import checks_hold
from evaluators.rules.rule import Means
from tasks.task import Task
from webagent.records import Score, Trajectory


@dataclass(frozen=True, slots=True)
class Difference:
    """An episode that two sets of checks score differently."""

    episode: str
    task: str
    published: Score
    corrected: Score

    def __str__(self) -> str:
        said = f"{self.published.value} ({self.published.reason})"
        return f"{self.task} {self.episode}: {said}, corrected {self.corrected.value}" + (
            f" ({self.corrected.reason})"
        )


async def differences(
    episodes: Iterable[Trajectory],
    corrected: Iterable[Task],
    means: Means | None = None,
    score: str = "success",
) -> list[Difference]:
    """Episodes of the published tasks that the corrected ones score otherwise, from evidence alone.

    `corrected` are the tasks read with the corrected rules; each names its published one as its
    parent. Episodes of other tasks are passed over.
    """
    checks = {task.parent: task.checks for task in corrected}
    evaluate = checks_hold(score, means)
    found = []
    for episode in episodes:
        if episode.task.id not in checks:
            continue
        task = replace(episode.task, checks=checks[episode.task.id])
        scores = await evaluate(episode), await evaluate(replace(episode, task=task))
        if scores[0].value != scores[1].value:
            found.append(Difference(episode.id, episode.task.id, *scores))
    return found
