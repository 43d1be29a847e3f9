"""The sources that ask a model: pages and failures."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loop.proposers.material import VisitedPage, count_attempts, read_judged_episodes, visit_pages
from loop.proposers.records import SourceResult
from loop.proposers.requests import (
    ProposerModel,
    ShownItem,
    SiteScope,
    TaskRequest,
    divide_requests,
    fill_common_slots,
)
from loop.proposers.settings import ProposeConfig
from loop.proposers.site import ProposalSite
from tasks.curriculum import TriedTask
from tasks.task import Task
from webagent.records import Trajectory


def from_name(scope: SiteScope, count: int, known: Sequence[Task] = ()) -> list[TaskRequest]:
    """Return the request that tells the site's name and nothing else of it."""
    slots = fill_common_slots(scope, count, known)
    return [TaskRequest("pages", "name", count, slots)] if count else []


def from_pages(
    scope: SiteScope, pages: Sequence[VisitedPage], count: int, known: Sequence[Task] = ()
) -> list[TaskRequest]:
    """Return requests that show some pages each, `count` tasks in all."""
    shown = [
        ShownItem(
            f"{page.title or 'without a title'}\n{page.url}\n{page.text[:4000]}",
            f"the page {page.url}",
            image=page.screenshot,
            address=page.url,
        )
        for page in pages
    ]
    return divide_requests(scope, "pages", shown, count, known)


EASIER_UNTIL, HARDER_FROM = 0.25, 0.75
_LEAST_WORTH = 0.05
"""Weight of a task that is always or never solved: it is still sampled now and then."""


@dataclass(frozen=True, slots=True)
class Seed:
    """A task that was tried, and how what is made from it is to differ."""

    attempt: TriedTask
    chance: float
    direction: str
    """`easier`, `harder` or `sideways`."""


def choose_seeds(attempts: Sequence[TriedTask], count: int, rng: np.random.Generator) -> list[Seed]:
    """Sample `count` of the attempts by how much is to be learnt of them, p(1-p), with a floor.

    What is hardly ever solved is to become easier, what nearly always is, harder.
    """
    tried = [attempt for attempt in attempts if attempt.tries]
    if not tried:
        return []
    # The mean of p ~ Beta(successes + 1, failures + 1), as the curriculum estimates it.
    chances = np.array([(each.successes + 1) / (each.tries + 2) for each in tried])
    weights = np.maximum(4 * chances * (1 - chances), _LEAST_WORTH)
    chosen = rng.choice(
        len(tried), min(count, len(tried)), replace=False, p=weights / weights.sum()
    )
    seeds = []
    for index in map(int, chosen):
        direction = "sideways"
        if chances[index] <= EASIER_UNTIL:
            direction = "easier"
        elif chances[index] >= HARDER_FROM:
            direction = "harder"
        seeds.append(Seed(tried[index], float(chances[index]), direction))
    return seeds


def from_seeds(
    scope: SiteScope, chosen: Sequence[Seed], count: int, known: Sequence[Task] = ()
) -> list[TaskRequest]:
    """Return requests that show some tried tasks each with the direction asked for."""
    shown = []
    for seed in chosen:
        attempt = seed.attempt
        rate = f"solved {attempt.successes} of {attempt.tries} times"
        goal = " ".join(attempt.task.goal.split())
        text = f"{goal}\n   {rate}; direction: {seed.direction}"
        origin = f"{attempt.task.id}, {rate}"
        shown.append(ShownItem(text, origin, attempt.task.id, seed.direction))
    return divide_requests(scope, "failures", shown, count, known)


@dataclass(frozen=True, slots=True)
class Material:
    """What the sources of a run may draw on."""

    config: ProposeConfig
    site: ProposalSite
    known: Sequence[Task]
    """Tasks there are already."""
    judged: Sequence[tuple[Trajectory, bool]] | None = None
    """Episodes with whether each succeeded, in place of those of runs."""

    def read_episodes(self) -> list[tuple[Trajectory, bool]]:
        """Return the judged episodes of the runs. Raises `SetupError`."""
        if self.judged is not None:
            return list(self.judged)
        scope = self.site.scope
        return [each for run in self.config.run for each in read_judged_episodes(run, scope)]


async def propose_from(source: str, material: Material, asker: ProposerModel) -> SourceResult:
    """Return what a model proposes for a source. Raises `SetupError`, `WorldError`, `ModelError`.

    Everything shown is put in an order that follows from the seed.
    """
    config, site, scope = material.config, material.site, material.site.scope
    more = (config.count, material.known)
    if source == "pages" and not config.pages:
        known, results, count = list(material.known), [], material.config.count
        for number, start in enumerate(range(0, count, _AT_ONCE)):
            for request in from_name(material.site.scope, min(_AT_ONCE, count - start), known):
                results.append(await asker.tasks(request, material.site.scope, number))
                known += [each.proposal.task for each in results[-1].lines]
        return _join_results(results)
    if source == "pages":
        seen = await visit_pages(site.open_world, site.start, scope, config.pages, config.seed)
        requests = from_pages(scope, seen, *more)
    else:
        rng = np.random.default_rng([config.seed, 1])
        attempts = count_attempts(material.read_episodes())
        requests = from_seeds(scope, choose_seeds(attempts, config.count, rng), *more)
    results = [await asker.tasks(each, scope, number) for number, each in enumerate(requests)]
    return _join_results(results)


_AT_ONCE = 10
"""Tasks that one request asks for at most where nothing else divides them."""


def _join_results(results: Sequence[SourceResult]) -> SourceResult:
    return SourceResult(
        tuple(line for each in results for line in each.lines),
        tuple(problem for each in results for problem in each.unreadable),
        sum(each.requests for each in results),
    )
