"""What proposers are shown: episodes of runs and visited pages."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import numpy as np

from benchmarks.rules import checks_hold
from loop.proposers.requests import SiteScope
from tasks.curriculum import TriedTask
from tasks.suite import split_of
from tasks.task import Task
from webagent.errors import SetupError, WorldError
from webagent.observation.variants import variant_named
from webagent.records import Trajectory
from webagent.rollout.world import World
from webagent.store import Store

OpenWorld = Callable[[], Awaitable[World]]

_MOST_TOKENS = 1500
_LINKS = "[...document.links].map((link) => link.href).slice(0, 400)"
_VARIABLE = re.compile(r"\d+|%[0-9a-f]{2}|[0-9a-f]{8,}", re.IGNORECASE)
_LEAVING = re.compile(r"log-?out|sign-?out|logoff|delete|remove|unsubscribe", re.IGNORECASE)
_FILES = re.compile(r"\.(?:zip|tar|gz|pdf|png|jpe?g|gif|svg|css|js|xml|rss|ico)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """A page of the site as it was visited."""

    url: str
    title: str
    text: str
    screenshot: str = ""
    """Reference to its picture; empty where none was taken."""


async def visit_pages(
    open_world: OpenWorld, start: Task, scope: SiteScope, count: int, seed: int = 0
) -> list[VisitedPage]:
    """Visit up to `count` pages of the site, from where the task starts along links.

    Only pages are opened, and nothing is pressed. A page that does not open is passed over; the
    first one has to. Raises `WorldError`.
    """
    rng = np.random.default_rng(seed)
    waiting, met = [start.start_url], {urldefrag(start.start_url)[0]}
    seen: list[VisitedPage] = []
    world = await open_world()
    try:
        while waiting and len(seen) < count:
            # An address of the kind that was visited least, any one of those.
            visits = Counter(_kind(page.url) for page in seen)
            counts = [visits[_kind(url)] for url in waiting]
            fewest = [index for index, each in enumerate(counts) if each == min(counts)]
            url = waiting.pop(int(rng.choice(fewest)))
            task = replace(start, start_url=url, evidence={"links": _LINKS}, checks=(), records=())
            try:
                page = await world.reset(task)
                links = (await world.evidence(task)).get("links")
            except WorldError:
                if not seen:
                    raise
                continue
            if not scope.holds(page.url):
                continue
            text = variant_named("text").write(page, _MOST_TOKENS)
            seen.append(VisitedPage(page.url, page.title, text, page.screenshot))
            for link in links if isinstance(links, list) else ():
                address = urldefrag(str(link))[0]
                is_page = not _FILES.search(urlsplit(address).path) and not _LEAVING.search(address)
                if address not in met and scope.holds(address) and is_page:
                    met.add(address)
                    waiting.append(address)
    finally:
        await world.close()
    return seen


def _kind(url: str) -> str:
    """Return an address with what differs from thing to thing taken out."""
    parts = urlsplit(url)
    keys = sorted(pair.partition("=")[0] for pair in parts.query.split("&"))
    return f"{_VARIABLE.sub('*', parts.path)}?{'&'.join(keys)}"


def read_judged_episodes(run: Path, scope: SiteScope) -> list[tuple[Trajectory, bool]]:
    """Return the run's real episodes on this site with whether each succeeded.

    Its checks say so where they could tell, else whoever judged it last.

    Those on seeds for measuring are left out. Raises `SetupError` where none is left.
    """
    frozen = checks_hold().id
    with Store.open(run) as store:
        values: dict[str, float] = {}
        for episode, scores in store.scores().items():
            found = [s for s in scores if s.name == "success" and s.value is not None]
            checked = [s for s in found if s.evaluator == frozen]
            if chosen := (checked or found)[-1:]:
                values[episode] = chosen[0].value or 0.0
        judged = [
            (trajectory, values[trajectory.id] >= 0.5)
            for trajectory in store.trajectories()
            if trajectory.id in values
            and not trajectory.provenance.imagined
            and split_of(trajectory.task.seed) != "test"
            and (
                trajectory.task.site == scope.site
                if scope.site
                else scope.holds(trajectory.task.start_url)
            )
        ]
    if not judged:
        raise SetupError(
            f"{run} holds no scored episode on {scope.name} ({scope.address}) on a seed that is not"
            " for measuring; play some there with webagent benchmark --split train"
        )
    return judged


def count_attempts(judged: list[tuple[Trajectory, bool]]) -> list[TriedTask]:
    """Return the tasks with how often each was tried and solved, under the goals of the pages."""
    tries, successes = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    found: dict[tuple[str, int], Task] = {}
    for trajectory, success in judged:
        task = trajectory.task
        key = (task.id, task.seed)
        tries[key] += 1
        successes[key] += success
        found[key] = task if task.goal else replace(task, goal=trajectory.goal)
    return [TriedTask(task, tries[key], successes[key]) for key, task in found.items()]
