"""Executors: where the worlds of a run are opened: in this process, in others, on a cluster."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from benchmarks.sites.hosting import Hosting
from loop.executors.pool import WorkerPool
from loop.executors.processes import ProcessWorker
from loop.executors.worker import KeepPicture, OpenWorlds, WorldSetup
from tasks.task import Task
from webagent.browser import Browser
from webagent.browser.sessions.login import Logins
from webagent.browser.sessions.profile import Profile
from webagent.errors import UsageError
from webagent.guard import Guard
from webagent.observation.variants import ObservationVariant
from webagent.rollout import OpenWorld

ExecutorName: TypeAlias = Literal["process", "ray"]


@dataclass(frozen=True, slots=True)
class BrowserSetup:
    """Worlds in a browser, with the sites of these tasks."""

    tasks: tuple[Task, ...]
    """One of each, so that their sites are ready before the first episode."""
    concurrency: int
    sites: tuple[Path, ...] = ()
    logins: Path | None = None
    guard: Guard | None = None
    har: Path | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[OpenWorlds]:
        """Start a browser, and yield what opens worlds in it. Raises `SetupError`."""
        hosted = Hosting(self.concurrency, self.sites, Logins(self.logins))
        profile = Profile(har_replay=self.har)
        async with hosted as hosting, Browser(guard=self.guard, pages=self.concurrency) as browser:
            await hosting.prepare(self.tasks)

            def open_worlds(
                keep: KeepPicture, shown: KeepPicture | None, variant: ObservationVariant | None
            ) -> OpenWorld:
                opening = partial(browser.world, shown, profile, variant, keep_picture=keep)
                return hosting.worlds(partial(opening, logins=hosting.logins))

            yield open_worlds


@asynccontextmanager
async def open_executor(
    setup: WorldSetup, executor: ExecutorName = "process", workers: int = 1
) -> AsyncIterator[OpenWorlds]:
    """Yield what opens worlds where the executor says; one `process` is this one.

    When the block ends the workers close their worlds and go. Raises `SetupError`.
    """
    async with AsyncExitStack() as ends:
        if executor == "ray":
            from loop.executors.cluster import connect

            start = await ends.enter_async_context(connect(workers))
        elif workers == 1:
            yield await ends.enter_async_context(setup.open())
            return
        else:
            start = ProcessWorker.start
        pool = WorkerPool.open(partial(start, setup), workers)
        yield (await ends.enter_async_context(pool)).worlds


def check_workers(workers: int) -> None:
    """Raise `UsageError` where there would be none."""
    if workers < 1:
        raise UsageError(f"--workers {workers}: must be at least 1")
