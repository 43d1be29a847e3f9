"""The sources that ask a model: pages, demonstrations, manuals and failures."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from loop.proposers.asking import ModelProposals, ProposerModel
from loop.proposers.material import (
    Chapter,
    OpenWorld,
    SolvedTask,
    VisitedPage,
    chapters,
    count_attempts,
    find_solved_tasks,
    from_chapters,
    read_judged_episodes,
    visit_manual,
    visit_pages,
)
from loop.proposers.records import ProposalRecord
from loop.proposers.requests import SiteScope, TaskRequest, fill_common_slots, share_out
from tasks.task import Task
from tasks.variants import Attempt
from webagent.errors import SetupError

_LONGEST = 4000
"""Characters of a page's text that are shown, at most."""


def from_name(scope: SiteScope, count: int, known: Sequence[Task] = ()) -> list[TaskRequest]:
    """The request that tells the site's name and nothing else of it."""
    return (
        [TaskRequest("pages", "name", count, fill_common_slots(scope, count, known))]
        if count
        else []
    )


def from_pages(
    scope: SiteScope,
    pages: Sequence[VisitedPage],
    count: int,
    known: Sequence[Task] = (),
    at_once: int = 4,
) -> list[TaskRequest]:
    """Requests that show some pages each, `count` tasks in all."""
    groups = [pages[start : start + at_once] for start in range(0, len(pages), at_once)]
    shares = share_out(count, len(groups))
    return [
        _request(scope, group, share, known)
        for group, share in zip(groups, shares, strict=True)
        if share
    ]


def format_pages(pages: Sequence[VisitedPage]) -> str:
    """The pages by number, as text."""
    return "\n\n".join(
        f"{number}. {page.title or 'without a title'}\n{page.url}\n{page.text[:_LONGEST]}"
        for number, page in enumerate(pages, 1)
    )


def _request(
    scope: SiteScope, pages: Sequence[VisitedPage], count: int, known: Sequence[Task]
) -> TaskRequest:
    return TaskRequest(
        "pages",
        "pages",
        count,
        fill_common_slots(scope, count, known),
        {"pages": format_pages(pages)},
        tuple(page.screenshot for page in pages if page.screenshot),
        tuple(f"the page {page.url}" for page in pages),
    )


_MOST_ACTIONS = 30


def from_examples(
    scope: SiteScope,
    demonstrations: Sequence[SolvedTask],
    count: int,
    known: Sequence[Task] = (),
    at_once: int = 4,
) -> list[TaskRequest]:
    """Requests that show solved tasks with what was done, WebRL's way."""
    groups = [
        demonstrations[start : start + at_once] for start in range(0, len(demonstrations), at_once)
    ]
    return [
        TaskRequest(
            "demonstrations",
            "demonstrations",
            share,
            fill_common_slots(scope, share, known),
            {
                "demonstrations": "\n\n".join(
                    f"{number}. {' '.join(each.goal.split())}\n{_format_actions(each.actions)}"
                    for number, each in enumerate(group, 1)
                )
            },
            origins=tuple(f"the demonstration {each.episode or each.task.id}" for each in group),
            parents=tuple(each.task.id for each in group),
        )
        for group, share in zip(groups, share_out(count, len(groups)), strict=True)
        if share
    ]


def from_screens(
    scope: SiteScope,
    demonstrations: Sequence[SolvedTask],
    count: int,
    known: Sequence[Task] = (),
    at_once: int = 4,
) -> list[TaskRequest]:
    """Requests that show the pages somebody went through and not what for, PAE's way."""
    seen: dict[str, VisitedPage] = {}
    for demonstration in demonstrations:
        for page in demonstration.pages:
            seen.setdefault(page.url, page)
    asked = from_pages(scope, list(seen.values()), count, known, at_once)
    return [replace(request, source="demonstrations") for request in asked]


def _format_actions(actions: Sequence[str]) -> str:
    shown = [f"   - {action}" for action in actions[:_MOST_ACTIONS]]
    left = len(actions) - len(shown)
    return "\n".join([*shown, *([f"   - and {left} more"] if left > 0 else [])])


Chance = Callable[[Attempt], float]
"""How likely a task is solved the next time, 0 to 1."""

EASIER_UNTIL, HARDER_FROM = 0.25, 0.75
_LEAST_WORTH = 0.05


@dataclass(frozen=True, slots=True)
class Seed:
    """A task that was tried, and how what is made from it is to differ."""

    attempt: Attempt
    chance: float
    direction: str
    """One of `loop.proposers.requests.DIRECTIONS`."""


def estimate_chance(attempt: Attempt) -> float:
    """The mean of p ~ Beta(successes + 1, failures + 1), the curriculum's own belief."""
    return (attempt.successes + 1) / (attempt.tries + 2)


def choose_seeds(
    attempts: Sequence[Attempt],
    count: int,
    rng: np.random.Generator,
    chance: Chance = estimate_chance,
) -> list[Seed]:
    """`count` of the attempts, those drawn more often of which more is to be learnt, p(1-p), with
    a floor; what is hardly ever solved is to become easier, what nearly always is, harder."""
    tried = [attempt for attempt in attempts if attempt.tries]
    if not tried:
        return []
    chances = np.array([min(max(chance(attempt), 0.0), 1.0) for attempt in tried])
    weights = np.maximum(4 * chances * (1 - chances), _LEAST_WORTH)
    chosen = rng.choice(
        len(tried), min(count, len(tried)), replace=False, p=weights / weights.sum()
    )
    return [
        Seed(tried[int(i)], float(chances[int(i)]), _choose_direction(float(chances[int(i)])))
        for i in chosen
    ]


def from_seeds(
    scope: SiteScope,
    chosen: Sequence[Seed],
    count: int,
    known: Sequence[Task] = (),
    at_once: int = 4,
) -> list[TaskRequest]:
    """Requests that show some tried tasks each with the direction asked for."""
    groups = [chosen[start : start + at_once] for start in range(0, len(chosen), at_once)]
    return [
        TaskRequest(
            "failures",
            "failures",
            share,
            fill_common_slots(scope, share, known),
            {"attempts": _format_seeds(group)},
            origins=tuple(f"{seed.attempt.task.id}, {_rate(seed)}" for seed in group),
            parents=tuple(seed.attempt.task.id for seed in group),
            directions=tuple(seed.direction for seed in group),
        )
        for group, share in zip(groups, share_out(count, len(groups)), strict=True)
        if share
    ]


def _choose_direction(chance: float) -> str:
    if chance <= EASIER_UNTIL:
        return "easier"
    return "harder" if chance >= HARDER_FROM else "sideways"


def _rate(seed: Seed) -> str:
    return f"solved {seed.attempt.successes} of {seed.attempt.tries} times"


def _format_seeds(chosen: Sequence[Seed]) -> str:
    return "\n\n".join(
        f"{number}. {' '.join(seed.attempt.task.goal.split())}\n"
        f"   {_rate(seed)}; direction: {seed.direction}"
        for number, seed in enumerate(chosen, 1)
    )


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
    manuals: Sequence[str] = ()
    """Files, or addresses of pages."""
    pages: int = 8
    """How many are visited; 0: the name of the site is all that is told."""
    way: str = "examples"
    """How demonstrations are shown: `examples` (WebRL) or `screens` (PAE)."""
    at_once: int = 10
    """Tasks that one request asks for at most where nothing else divides them."""
    seed: int = 0
    chance: Chance = estimate_chance


@dataclass(frozen=True, slots=True)
class SourceResult:
    """What a source gave."""

    lines: tuple[ProposalRecord, ...]
    unreadable: tuple[str, ...] = ()
    requests: int = 0


Propose = Callable[[Material, ProposerModel, int], Awaitable[SourceResult]]
"""Material, who is asked, how many tasks."""


async def propose_from_pages(material: Material, asker: ProposerModel, count: int) -> SourceResult:
    """From the site's name alone, or from pages that are visited now. Raises `WorldError`."""
    scope = material.scope
    if not material.pages:
        make = partial(from_name, scope)
        known, asked = list(material.known), []
        for number, start in enumerate(range(0, count, material.at_once)):
            for request in make(min(material.at_once, count - start), known):
                asked.append(await asker.tasks(request, material.scope, number))
                known += [each.proposal.task for each in asked[-1].drafted]
        return _join_results(asked)
    seen = await visit_pages(
        _require_world(material), material.start, scope, material.pages, material.seed
    )
    return await _ask_all(material, asker, from_pages(scope, seen, count, material.known))


async def propose_from_demonstrations(
    material: Material, asker: ProposerModel, count: int
) -> SourceResult:
    """From what was solved in the runs. Raises `SetupError` where nothing was."""
    judged = [
        each
        for run in _require_runs(material)
        for each in read_judged_episodes(run, material.scope)
    ]
    shown = find_solved_tasks(judged)
    if not shown:
        raise SetupError(
            f"no episode in {', '.join(map(str, material.runs))} was a success; there is nothing to"
            " show as a demonstration"
        )
    rng = np.random.default_rng(material.seed)
    drawn = [shown[int(i)] for i in rng.permutation(len(shown))]
    way = from_screens if material.way == "screens" else from_examples
    return await _ask_all(material, asker, way(material.scope, drawn, count, material.known))


async def propose_from_failures(
    material: Material, asker: ProposerModel, count: int
) -> SourceResult:
    """From what was tried in the runs, by how often it was solved. Raises `SetupError`."""
    judged = [
        each
        for run in _require_runs(material)
        for each in read_judged_episodes(run, material.scope)
    ]
    rng = np.random.default_rng([material.seed, 1])
    chosen = choose_seeds(count_attempts(judged), count, rng, material.chance)
    return await _ask_all(
        material, asker, from_seeds(material.scope, chosen, count, material.known)
    )


async def propose_from_manual(material: Material, asker: ProposerModel, count: int) -> SourceResult:
    """From chapters of manuals and help pages. Raises `SetupError` where they say nothing."""
    found = [each for manual in material.manuals for each in await _read_chapters(manual, material)]
    if not found:
        raise SetupError(
            "no chapter to go by: name a manual with --manual, a file (Markdown, HTML, text) or the"
            " address of a page, that has more than a few words under its headings"
        )
    rng = np.random.default_rng([material.seed, 2])
    drawn = [found[int(i)] for i in rng.permutation(len(found))]
    return await _ask_all(
        material, asker, from_chapters(material.scope, drawn, count, material.known)
    )


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
    asked = [
        await asker.tasks(request, material.scope, number)
        for number, request in enumerate(requests)
    ]
    return _join_results(asked)


def _join_results(asked: Sequence[ModelProposals]) -> SourceResult:
    lines = tuple(
        ProposalRecord(each.proposal, one.model, one.prompt, one.key, each.steps)
        for one in asked
        for each in one.drafted
    )
    unreadable = tuple(problem for one in asked for problem in one.unreadable)
    return SourceResult(lines, unreadable, len(asked))


def _require_runs(material: Material) -> Sequence[Path]:
    if not material.runs:
        raise SetupError("--source demonstrations and failures are made from runs; name --run RUN")
    return material.runs


async def _read_chapters(manual: str, material: Material) -> list[Chapter]:
    if urlsplit(manual).scheme in ("http", "https"):
        return await visit_manual(
            _require_world(material), replace(material.start, start_url=manual)
        )
    try:
        return chapters(Path(manual).read_text(encoding="utf-8"), manual)
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the manual {manual} cannot be read: {error}") from error


def _require_world(material: Material) -> OpenWorld:
    if material.open_world is None:
        raise SetupError("pages can be visited only with a browser; give --pages 0 for the name")
    return material.open_world
