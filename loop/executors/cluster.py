"""Workers on a Ray cluster: each an actor that holds worlds, on whichever node has room."""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from loop.executors.worker import (
    Start,
    Worker,
    WorkerLostError,
    WorkerReply,
    WorldHost,
    WorldSetup,
    describe_versions,
)
from webagent.errors import SetupError, missing_package

_ENDING_SECONDS = 10.0
"""That an actor is given to close what it holds."""


@dataclass(slots=True, eq=False)
class RayWorker:
    """The near end of an actor."""

    name: str
    _actor: Any

    @classmethod
    async def start(cls, setup: WorldSetup, number: int) -> Worker:
        """Ask for one; it begins where and when there is room."""
        import ray

        remote = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(WorldHost)
        return cls(f"worker {number} of the cluster", remote.remote(setup))

    async def call(self, world: int, verb: str, *given: Any) -> WorkerReply:
        """Pass the call on. Raises `WorkerLostError`."""
        from ray.exceptions import RayError

        try:
            reply: WorkerReply = await self._actor.answer.remote(world, verb, *given)
        except RayError as error:
            message = re.sub(r"\x1b\[\d+m", "", str(error))
            missing = re.search(r"No module named '(\w+)'", message)
            if missing and (place := re.search(r"ip=([\w.:]+)", message)):
                failure = (
                    f"the node {place[1]} has no module {missing[1]!r}; install"
                    f" {describe_versions()} for the Python that runs Ray there"
                )
            else:
                failure = message.partition(". ")[0].strip().splitlines()[0]
            raise WorkerLostError(failure) from error
        return reply

    async def end(self) -> None:
        """Have it close its worlds and go. Safe where it is gone."""
        import ray
        from ray.exceptions import RayError

        with suppress(RayError, TimeoutError):
            async with asyncio.timeout(_ENDING_SECONDS):
                await self._actor.close.remote()
        ray.kill(self._actor)


@asynccontextmanager
async def connect(workers: int) -> AsyncIterator[Start]:
    """Yield what starts workers on the cluster that runs here, or that RAY_ADDRESS names.

    Raises `SetupError` where there is none, or one that has no room for so many.
    """
    try:
        import ray
    except ModuleNotFoundError as error:
        raise missing_package(error, "--executor ray") or error from error
    address = os.environ.get("RAY_ADDRESS", "auto")
    try:
        await asyncio.to_thread(ray.init, address, logging_level="error", log_to_driver=False)
    except ConnectionError as error:
        raise SetupError(
            f"no Ray cluster answers (RAY_ADDRESS: {address}); begin one with `ray start --head`,"
            " join it on each other machine with `ray start --address=HOST:6379`, and run this on"
            f" one of them: {error}"
        ) from error
    try:
        room = int(ray.cluster_resources().get("CPU", 0))
        if room < workers:
            raise SetupError(
                f"--workers {workers} want a CPU each, and the cluster has {room}; give fewer, or"
                " let more machines join it"
            )
        yield RayWorker.start
    finally:
        await asyncio.to_thread(ray.shutdown)
