"""Sites for whoever plays tasks: found, built, started as often as needed, and ended."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchmarks.sites.described import AnySite, Remote, RemoteSite, find_site
from benchmarks.sites.instance import Instance, first_state
from benchmarks.sites.lease import Lease, Pool, Running
from benchmarks.sites.site import SiteError
from benchmarks.sites.state import Build, ensure_built
from benchmarks.sites.world import host_worlds
from tasks.task import Task
from webagent.errors import SetupError, WorldError
from webagent.rollout.world import OpenWorld

logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    from webagent.browser.sessions.login import StorageState


class Hosting:
    """What plays tasks on sites and tasks without alike:

        async with Hosting(concurrency) as hosting:
            await hosting.prepare(tasks)
            open_world = hosting.worlds(partial(browser.world, logins=hosting.logins))

    Sites are started when a task first names them and all ended with the block; where no task has a
    site nothing is started.
    """

    def __init__(
        self,
        concurrency: int = 1,
        files: Sequence[Path] = (),
        saved: "Callable[[Task], StorageState | None] | None" = None,
    ) -> None:
        """`concurrency` is how many worlds are open at once, so how many instances of a site;
        `files` describe more sites; `saved` has the logins of tasks without a site. A hosted site
        has one instance, and worlds wait for it."""
        self._concurrency = concurrency
        self._files = tuple(files)
        self._saved = saved
        self._sites: dict[str, AnySite] = {}
        self._builds: dict[str, Build | Remote] = {}
        self._pools: dict[str, Pool] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    def check(self, tasks: Iterable[Task]) -> None:
        """Look for the sites that the tasks name, before anything is spent. Raises `SetupError`."""
        for name in {task.site for task in tasks if task.site}:
            try:
                site = self._site(name)
            except SiteError as error:
                raise SetupError(str(error)) from error
            if missing := site.missing():
                raise SetupError(f"{name} cannot be started here: {missing}")
        for task in tasks:
            if task.site and task.login and task.login not in self._site(task.site).accounts:
                known = ", ".join(sorted(self._site(task.site).accounts)) or "none"
                raise SetupError(
                    f"{task.id} logs in as {task.login!r}; {task.site} has the accounts {known}"
                )

    async def prepare(self, tasks: Iterable[Task]) -> None:
        """Check and build what the tasks name, so that no episode waits for it. Raises
        `SetupError`."""
        tasks = list(tasks)
        self.check(tasks)
        try:
            for name in sorted({task.site for task in tasks if task.site}):
                site = self._site(name)
                if isinstance(site, RemoteSite) and not site.is_reset:
                    logger.warning(
                        "%s is never reset: each episode finds what those before it have left", name
                    )
                await asyncio.to_thread(self._known, name)
        except SiteError as error:
            raise SetupError(str(error)) from error

    def worlds(self, open_world: OpenWorld) -> OpenWorld:
        """Return the same worlds, which can now play tasks on sites."""
        return host_worlds(open_world, self)

    def logins(self, task: Task) -> "StorageState | None":
        """Return what the task's browser is to know from the beginning, for `Browser.world`; None
        where nobody is logged in. Raises `WorldError` for a login that cannot be had."""
        if not task.site or not task.login:
            return self._saved(task) if self._saved and task.login else None
        try:
            return self._known(task.site).login(task.login)
        except SiteError as error:
            raise WorldError(f"{task.id} wants to be logged in: {error}") from error

    async def lease(self, site: str) -> Lease:
        """Lease a running instance. Raises `SiteError`."""

        def start() -> Running:
            known = self._known(site)
            return Instance.of(known) if isinstance(known, Build) else known

        if site not in self._pools:
            most = 1 if isinstance(self._site(site), RemoteSite) else self._concurrency
            self._pools[site] = Pool(site, start, most)
        return await self._pools[site].lease()

    async def give_back(self, lease: Lease) -> None:
        """An instance that is not needed any more."""
        await self._pools[lease.name].give_back(lease)

    def address(self, site: str) -> str:
        """As the site's."""
        return self._site(site).address

    def passing(self, site: str) -> Mapping[str, tuple[str, ...]]:
        """As the site's."""
        return self._site(site).passing

    @property
    def starts(self) -> int:
        """How many instances were started."""
        return sum(pool.starts for pool in self._pools.values())

    async def close(self) -> None:
        """End all instances. Safe to call twice."""
        await asyncio.gather(*(pool.close() for pool in self._pools.values()))

    def _site(self, name: str) -> AnySite:
        if name not in self._sites:
            self._sites[name] = find_site(name, self._files)
        return self._sites[name]

    def _known(self, name: str) -> Build | Remote:
        """Return what instances of the site are made from, built where it is not yet."""
        if name not in self._builds:
            site = self._site(name)
            self._builds[name] = (
                site.start() if isinstance(site, RemoteSite) else ensure_built(site, first_state)
            )
        return self._builds[name]
