"""Processes of this machine that hold the worlds of a run."""

import asyncio
import multiprocessing
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from loop.executors.worker import WorkerLostError, WorkerReply, WorldHost, WorldSetup
from loop.jobs import end_with_parent, ignore_interrupts, start_process, stop_processes

_ENDING_SECONDS = 10.0
"""That a process is given to close what it holds."""


@dataclass(slots=True, eq=False)
class ProcessWorker:
    """A process that holds worlds, and the pipe to it."""

    name: str
    _process: SpawnProcess
    _pipe: Connection
    _numbers: "count[int]" = field(default_factory=count)
    _waiting: dict[int, asyncio.Future[WorkerReply]] = field(default_factory=dict)
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    async def start(cls, setup: WorldSetup, number: int) -> "ProcessWorker":
        """Start one; its first call starts what worlds are played in."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_hold_worlds, args=(theirs, setup))
        await asyncio.to_thread(start_process, process)
        theirs.close()
        worker = cls(f"worker {number}, process {process.pid}", process, ours)
        asyncio.get_running_loop().add_reader(ours.fileno(), worker._receive)
        return worker

    async def call(self, world: int, verb: str, *given: Any) -> WorkerReply:
        """Pass the call on. Raises `WorkerLostError`."""
        number = next(self._numbers)
        reply: asyncio.Future[WorkerReply] = asyncio.get_running_loop().create_future()
        self._waiting[number] = reply
        try:
            async with self._sending:
                await asyncio.to_thread(self._pipe.send, (number, world, verb, given))
            return await reply
        except OSError as error:
            raise WorkerLostError("its pipe is closed") from error
        finally:
            self._waiting.pop(number, None)

    async def end(self) -> None:
        """Have it close its worlds and go. Safe where it is gone."""
        asyncio.get_running_loop().remove_reader(self._pipe.fileno())
        self._pipe.close()
        await asyncio.to_thread(self._process.join, _ENDING_SECONDS)
        await asyncio.to_thread(stop_processes, [self._process])

    def _receive(self) -> None:
        try:
            number, reply = self._pipe.recv()
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(WorkerLostError("its process ended"))
            return
        reply_to = self._waiting.get(number)
        if reply_to is not None and not reply_to.done():
            reply_to.set_result(reply)


def _hold_worlds(connection: Connection, setup: WorldSetup) -> None:
    """The process: answers calls until the pipe is closed."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    ignore_interrupts()
    asyncio.run(_answer_calls(connection, WorldHost(setup)))


async def _answer_calls(connection: Connection, host: WorldHost) -> None:
    sending, running = asyncio.Lock(), set[asyncio.Task[None]]()

    async def answer(number: int, world: int, verb: str, given: tuple[Any, ...]) -> None:
        reply = await host.answer(world, verb, *given)
        async with sending:
            with suppress(OSError):  # nobody is there to hear it
                await asyncio.to_thread(connection.send, (number, reply))

    with suppress(EOFError):
        while True:
            task = asyncio.create_task(answer(*await asyncio.to_thread(connection.recv)))
            running.add(task)
            task.add_done_callback(running.discard)
    await host.close()
