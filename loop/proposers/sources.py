"""The sources that ask a model: pages, demonstrations, manuals and failures."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from loop.proposers.material import (
    Chapter,
    OpenWorld,
    SolvedTask,
    VisitedPage,
    chapters,
    count_attempts,
    find_solved_tasks,
    read_judged_episodes,
    visit_manual,
    visit_pages,
)
from loop.proposers.records import SourceResult
from loop.proposers.requests import (
    ProposerModel,
    ShownItem,
    SiteScope,
    TaskRequest,
    divide_requests,
    fill_common_slots,
)
from tasks.task import Task
from tasks.variants import TriedTask
from webagent.errors import SetupError
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
        )
        for page in pages
    ]
    return divide_requests(scope, "pages", shown, count, known)


def from_examples(
    scope: SiteScope, demonstrations: Sequence[SolvedTask], count: int, known: Sequence[Task] = ()
) -> list[TaskRequest]:
    """Return requests that show solved tasks with what was done, as in WebRL."""
    shown = []
    for each in demonstrations:
        lines = [f"   - {action}" for action in each.actions[:_MOST_ACTIONS]]
        if (left := len(each.actions) - _MOST_ACTIONS) > 0:
            lines.append(f"   - and {left} more")
        text = "\n".join([" ".join(each.goal.split()), *lines])
        origin = f"the demonstration {each.episode or each.task.id}"
        shown.append(ShownItem(text, origin, each.task.id))
    return divide_requests(scope, "demonstrations", shown, count, known)


_MOST_ACTIONS = 30


def from_screens(
    scope: SiteScope, demonstrations: Sequence[SolvedTask], count: int, known: Sequence[Task] = ()
) -> list[TaskRequest]:
    """Return requests that show the pages of demonstrations and not what for, as in PAE."""
    seen: dict[str, VisitedPage] = {}
    for demonstration in demonstrations:
        for page in demonstration.pages:
            seen.setdefault(page.url, page)
    requests = from_pages(scope, list(seen.values()), count, known)
    return [replace(request, source="demonstrations") for request in requests]


def from_chapters(
    scope: SiteScope, chosen: Sequence[Chapter], count: int, known: Sequence[Task] = ()
) -> list[TaskRequest]:
    """Return requests that show some chapters each, `count` tasks in all."""
    shown = [
        ShownItem(f"{each.title}\n{each.text}", f"{each.title!r} of {each.place or 'the manual'}")
        for each in chosen
    ]
    return divide_requests(scope, "manual", shown, count, known, at_once=2)


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


@dataclass(slots=True)
class Material:
    """What the sources of a run may draw on."""

    scope: SiteScope
    start: Task
    """A task that begins where visits do, without a goal."""
    open_world: OpenWorld | None = None
    """None: no page can be visited."""
    known: list[Task] = field(default_factory=list)
    """Tasks there are already; the same list that the filters keep."""
    runs: Sequence[Path] = ()
    judged: Sequence[tuple[Trajectory, bool]] | None = None
    """Episodes with whether each succeeded, in place of those of runs."""
    manuals: Sequence[str] = ()
    """Files, or addresses of pages."""
    pages: int = 8
    """How many are visited; 0: the name of the site is all that is told."""
    way: str = "examples"
    """How demonstrations are shown: `examples` (WebRL) or `screens` (PAE)."""
    at_once: int = 10
    """Tasks that one request asks for at most where nothing else divides them."""
    seed: int = 0

    def read_episodes(self) -> list[tuple[Trajectory, bool]]:
        """Return the judged episodes of the runs. Raises `SetupError` where there are no runs."""
        if self.judged is not None:
            return list(self.judged)
        if not self.runs:
            raise SetupError(
                "--source demonstrations and failures are made from runs; name --run RUN"
            )
        return [each for run in self.runs for each in read_judged_episodes(run, self.scope)]

    def require_world(self) -> OpenWorld:
        """Return what opens worlds. Raises `SetupError` where no page can be visited."""
        if self.open_world is None:
            raise SetupError(
                "pages can be visited only with a browser; give --pages 0 for the name"
            )
        return self.open_world


Propose = Callable[[Material, ProposerModel, int], Awaitable[SourceResult]]
"""Material, who is asked, how many tasks."""


async def propose_from_pages(material: Material, asker: ProposerModel, count: int) -> SourceResult:
    """Propose from the site's name alone, or from pages visited now. Raises `WorldError`."""
    scope = material.scope
    if material.pages:
        seen = await visit_pages(
            material.require_world(), material.start, scope, material.pages, material.seed
        )
        return await _ask_all(material, asker, from_pages(scope, seen, count, material.known))
    known, results = list(material.known), []
    for number, start in enumerate(range(0, count, material.at_once)):
        for request in from_name(scope, min(material.at_once, count - start), known):
            results.append(await asker.tasks(request, scope, number))
            known += [each.proposal.task for each in results[-1].lines]
    return _join_results(results)


async def propose_from_demonstrations(
    material: Material, asker: ProposerModel, count: int
) -> SourceResult:
    """Propose from what was solved in the runs. Raises `SetupError` where nothing was."""
    solved = find_solved_tasks(material.read_episodes())
    if not solved:
        raise SetupError(
            f"no episode in {', '.join(map(str, material.runs))} was a success; there is nothing to"
            " show as a demonstration"
        )
    rng = np.random.default_rng(material.seed)
    shown = [solved[int(i)] for i in rng.permutation(len(solved))]
    show = from_screens if material.way == "screens" else from_examples
    return await _ask_all(material, asker, show(material.scope, shown, count, material.known))


async def propose_from_failures(
    material: Material, asker: ProposerModel, count: int
) -> SourceResult:
    """Propose from what was tried in the runs, by how often it was solved. Raises `SetupError`."""
    rng = np.random.default_rng([material.seed, 1])
    chosen = choose_seeds(count_attempts(material.read_episodes()), count, rng)
    requests = from_seeds(material.scope, chosen, count, material.known)
    return await _ask_all(material, asker, requests)


async def propose_from_manual(material: Material, asker: ProposerModel, count: int) -> SourceResult:
    """Propose from manuals and help pages. Raises `SetupError` where they say nothing."""
    found: list[Chapter] = []
    for manual in material.manuals:
        if urlsplit(manual).scheme in ("http", "https"):
            start = replace(material.start, start_url=manual)
            found += await visit_manual(material.require_world(), start)
            continue
        try:
            found += chapters(Path(manual).read_text(encoding="utf-8"), manual)
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"the manual {manual} cannot be read: {error}") from error
    if not found:
        raise SetupError(
            "no chapter to go by: name a manual with --manual, a file (Markdown, HTML, text) or the"
            " address of a page, that has more than a few words under its headings"
        )
    rng = np.random.default_rng([material.seed, 2])
    shown = [found[int(i)] for i in rng.permutation(len(found))]
    requests = from_chapters(material.scope, shown, count, material.known)
    return await _ask_all(material, asker, requests)


ASKING: Mapping[str, Propose] = {
    "pages": propose_from_pages,
    "demonstrations": propose_from_demonstrations,
    "manual": propose_from_manual,
    "failures": propose_from_failures,
}
"""By the name of the source."""


async def _ask_all(
    material: Material, asker: ProposerModel, requests: Sequence[TaskRequest]
) -> SourceResult:
    return _join_results(
        [
            await asker.tasks(request, material.scope, number)
            for number, request in enumerate(requests)
        ]
    )


def _join_results(results: Sequence[SourceResult]) -> SourceResult:
    return SourceResult(
        tuple(line for each in results for line in each.lines),
        tuple(problem for each in results for problem in each.unreadable),
        sum(each.requests for each in results),
    )
