"""The places that a loop proposes tasks for: the sites and addresses of its training tasks."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.sites.described import find_site
from benchmarks.sites.hosting import Hosting
from loop.proposers.requests import SiteScope
from loop.proposers.site import describe_address, describe_site
from tasks.task import Task


@dataclass(frozen=True, slots=True)
class ProposalPlace:
    """A site of the training tasks, or the URL at which they start."""

    site: str
    """Id of the site; empty if pages are at arbitrary URLs."""
    address: str
    """The start URL if there is no site."""
    clock: str
    logins: tuple[str, ...]
    """Logins of the tasks there, the most frequent first."""

    def holds(self, task: Task) -> bool:
        """Return whether a task belongs to this place."""
        address = "" if task.site else find_root(task.start_url)
        return (task.site, address) == (self.site, self.address)

    def start(self, scope: SiteScope, login: str) -> Task:
        """Return the task that begins where visits do."""
        visit = Task("proposed/visit@1", scope.address, site=scope.site, login=login)
        return visit if self.site else replace(visit, clock=self.clock)


async def describe_places(
    tasks: Sequence[Task], files: tuple[Path, ...]
) -> dict[ProposalPlace, SiteScope]:
    """Return what is known of each place of the tasks, the most frequent first; a site is built
    where it was not yet. Raises `SetupError`."""
    most = max(task.max_steps for task in tasks)
    scopes = {}
    for place in list_places(tasks):
        if place.site:
            site = find_site(place.site, files)
            scope = await asyncio.to_thread(describe_site, site, most)
        else:
            scope = describe_address(place.address, most)
        Hosting(files=files).check(place.start(scope, login) for login in place.logins)
        scopes[place] = scope
    return scopes


def list_places(tasks: Iterable[Task]) -> list[ProposalPlace]:
    """Return the sites of tasks, the most frequent first; empty if pages provide their own
    goals."""
    logins: dict[tuple[str, str, str], Counter[str]] = {}
    for task in tasks:
        if task.hooks.goal:
            continue
        address = "" if task.site else find_root(task.start_url)
        logins.setdefault((task.site, address, task.clock), Counter())[task.login] += 1
    places = sorted(logins, key=lambda place: -logins[place].total())
    return [
        ProposalPlace(*place, tuple(login for login, _ in logins[place].most_common()))
        for place in places
    ]


def find_root(url: str) -> str:
    """Return the start of a URL's site; for a file, its folder."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/" if parts.netloc else url[: url.rfind("/") + 1]
