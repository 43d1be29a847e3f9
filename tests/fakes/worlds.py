"""Worlds without a browser that can be opened in another process, or that refuse to be."""

import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from loop.executors.worker import KeepPicture, OpenWorlds
from tasks.task import Task
from tests.fakes.world import FakeWorld
from webagent.errors import SetupError
from webagent.records import Observation

PICTURE = b"\x89PNG of the first page"


class PicturingWorld(FakeWorld):
    """Keeps a picture of each first page."""

    keep: KeepPicture

    async def reset(self, task: Task) -> Observation:
        self.keep(PICTURE)
        return await super().reset(task)


@dataclass(frozen=True, slots=True)
class FakeSetup:
    """What goes wrong goes wrong in the process that opens it."""

    step_seconds: float = 0.0
    refusal: str = ""
    defect: str = ""
    full_disk: bool = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[OpenWorlds]:
        if self.refusal:
            raise SetupError(self.refusal)

        def open_worlds(keep, shown, variant):
            async def open_world() -> FakeWorld:
                if self.full_disk:
                    raise OSError(errno.ENOSPC, "No space left on device")
                fault = ValueError(self.defect) if self.defect else self.step_seconds
                world = PicturingWorld({"step": fault})
                world.keep = keep
                return world

            return open_world

        yield open_worlds
