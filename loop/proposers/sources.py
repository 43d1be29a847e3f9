"""The sources that ask a model: each gathers what it shows, and gives what came back as lines."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from loop.proposers.ask import Asked, Asker
from loop.proposers.demonstrations import from_examples, from_screens
from loop.proposers.experience import attempts_of, demonstrations_of, judged_episodes
from loop.proposers.failures import Chance, expected, from_seeds, seeds
from loop.proposers.line import Line
from loop.proposers.manual import Chapter, chapters, from_chapters
from loop.proposers.pages import from_name, from_pages
from loop.proposers.request import Request
from loop.proposers.scope import Scope
from loop.proposers.visit import OpenWorld, visit, visit_manual
from tasks.task import Task
from webagent.errors import SetupError


@dataclass(slots=True)
class Material:
    """What the sources of a run may draw on."""

    scope: Scope
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
    chance: Chance = expected


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a source gave."""

    lines: tuple[Line, ...]
    unreadable: tuple[str, ...] = ()
    requests: int = 0


Propose = Callable[[Material, Asker, int], Awaitable[Proposed]]
"""Material, who is asked, how many tasks."""


async def propose_from_pages(material: Material, asker: Asker, count: int) -> Proposed:
    """From the site's name alone, or from pages that are visited now. Raises `WorldError`."""
    scope = material.scope
    if not material.pages:
        make = partial(from_name, scope)
        known, asked = list(material.known), []
        for number, start in enumerate(range(0, count, material.at_once)):
            for request in make(min(material.at_once, count - start), known):
                asked.append(await asker.tasks(request, material.scope, number))
                known += [each.proposal.task for each in asked[-1].drafted]
        return _together(asked)
    seen = await visit(_world(material), material.start, scope, material.pages, material.seed)
    return await _ask(material, asker, from_pages(scope, seen, count, material.known))


async def propose_from_demonstrations(material: Material, asker: Asker, count: int) -> Proposed:
    """From what was solved in the runs. Raises `SetupError` where nothing was."""
    judged = [each for run in _runs(material) for each in judged_episodes(run, material.scope)]
    shown = demonstrations_of(judged)
    if not shown:
        raise SetupError(
            f"no episode in {', '.join(map(str, material.runs))} was a success; there is nothing to"
            " show as a demonstration"
        )
    rng = np.random.default_rng(material.seed)
    drawn = [shown[int(i)] for i in rng.permutation(len(shown))]
    way = from_screens if material.way == "screens" else from_examples
    return await _ask(material, asker, way(material.scope, drawn, count, material.known))


async def propose_from_failures(material: Material, asker: Asker, count: int) -> Proposed:
    """From what was tried in the runs, by how often it was solved. Raises `SetupError`."""
    judged = [each for run in _runs(material) for each in judged_episodes(run, material.scope)]
    rng = np.random.default_rng([material.seed, 1])
    chosen = seeds(attempts_of(judged), count, rng, material.chance)
    return await _ask(material, asker, from_seeds(material.scope, chosen, count, material.known))


async def propose_from_manual(material: Material, asker: Asker, count: int) -> Proposed:
    """From chapters of manuals and help pages. Raises `SetupError` where they say nothing."""
    found = [each for manual in material.manuals for each in await _chapters(manual, material)]
    if not found:
        raise SetupError(
            "no chapter to go by: name a manual with --manual, a file (Markdown, HTML, text) or the"
            " address of a page, that has more than a few words under its headings"
        )
    rng = np.random.default_rng([material.seed, 2])
    drawn = [found[int(i)] for i in rng.permutation(len(found))]
    return await _ask(material, asker, from_chapters(material.scope, drawn, count, material.known))


ASKING: Mapping[str, Propose] = {
    "pages": propose_from_pages,
    "demonstrations": propose_from_demonstrations,
    "manual": propose_from_manual,
    "failures": propose_from_failures,
}
"""By the name of the source."""


async def _ask(material: Material, asker: Asker, requests: Sequence[Request]) -> Proposed:
    asked = [
        await asker.tasks(request, material.scope, number)
        for number, request in enumerate(requests)
    ]
    return _together(asked)


def _together(asked: Sequence[Asked]) -> Proposed:
    lines = tuple(
        Line(each.proposal, one.model, one.prompt, one.key, each.steps)
        for one in asked
        for each in one.drafted
    )
    unreadable = tuple(problem for one in asked for problem in one.unreadable)
    return Proposed(lines, unreadable, len(asked))


def _runs(material: Material) -> Sequence[Path]:
    if not material.runs:
        raise SetupError("--source demonstrations and failures are made from runs; name --run RUN")
    return material.runs


async def _chapters(manual: str, material: Material) -> list[Chapter]:
    if urlsplit(manual).scheme in ("http", "https"):
        return await visit_manual(_world(material), replace(material.start, start_url=manual))
    try:
        return chapters(Path(manual).read_text(encoding="utf-8"), manual)
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"the manual {manual} cannot be read: {error}") from error


def _world(material: Material) -> OpenWorld:
    if material.open_world is None:
        raise SetupError("pages can be visited only with a browser; give --pages 0 for the name")
    return material.open_world
