"""Workers on a Ray cluster: each an actor that holds worlds, on whichever node has room."""

import asyncio
import os
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from platform import python_version
from typing import Any

from loop.executors import Start, Worker, WorkerLostError, WorkerReply, WorldHost, WorldSetup
from webagent.errors import SetupError, missing_package

_PATIENCE = 300.0
"""Seconds to wait for room on the cluster."""
_ENDING_SECONDS = 10.0
"""That an actor is given to close what it holds."""


class WorldActor:
    """The actor: a `WorldHost` on a node."""

    def __init__(self, setup: WorldSetup) -> None:
        self._host = WorldHost(setup)

    async def describe(self) -> tuple[str, str]:
        """Return the node's name, and what it runs."""
        return socket.gethostname(), describe_versions()

    async def answer(self, world: int, verb: str, *given: Any) -> WorkerReply:
        """As the host's."""
        return await self._host.answer(world, verb, *given)

    async def close(self) -> None:
        """As the host's."""
        await self._host.close()


def describe_versions() -> str:
    """Return the versions that have to be the same on all nodes."""
    return f"Python {python_version()} with webagent-loop {version('webagent-loop')}"


@dataclass(slots=True, eq=False)
class RayWorker:
    """The near end of an actor."""

    name: str
    _actor: Any

    async def call(self, world: int, verb: str, *given: Any) -> WorkerReply:
        """Pass the call on. Raises `WorkerLostError`."""
        from ray.exceptions import RayError

        try:
            reply: WorkerReply = await self._actor.answer.remote(world, verb, *given)
        except RayError as error:
            raise WorkerLostError(str(error).partition(". ")[0]) from error
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
        yield start_worker
    finally:
        await asyncio.to_thread(ray.shutdown)


async def start_worker(setup: WorldSetup, number: int) -> Worker:
    """Start one where there is room. Raises `SetupError`, `WorkerLostError`."""
    import ray
    from ray.exceptions import RayError

    remote = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(WorldActor)
    actor = remote.remote(setup)
    try:
        async with asyncio.timeout(_PATIENCE):
            node, versions = await actor.describe.remote()
    except TimeoutError as error:
        ray.kill(actor)
        raise SetupError(
            f"the cluster had no room for worker {number} within {_PATIENCE:g} s; `ray status` says"
            " who has its CPUs"
        ) from error
    except RayError as error:
        raise SetupError(_describe_failure(error, number)) from error
    if versions != describe_versions():
        ray.kill(actor)
        raise SetupError(
            f"{node} runs {versions}, this machine {describe_versions()}; install the same on both"
        )
    return RayWorker(f"worker {number} on {node}", actor)


def _describe_failure(error: Exception, number: int) -> str:
    said = re.sub(r"\x1b\[\d+m", "", str(error))
    missing = re.search(r"No module named '(\w+)'", said)
    place = re.search(r"ip=([\w.:]+)", said)
    if missing and place:
        return (
            f"the node {place[1]} has no module {missing[1]!r}: install {describe_versions()} for"
            " the Python that runs Ray there"
        )
    return f"worker {number} cannot be started: {said.splitlines()[-1]}"
