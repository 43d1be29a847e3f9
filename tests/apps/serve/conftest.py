"""A server in this process, on a thread and a port of its own."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

from apps.listening import listen
from apps.serve.client import ServedClient
from apps.serve.server import configure
from apps.serve.sessions import Stage, open_stage
from apps.serve.settings import ServeConfig
from loop.flat import compose
from loop.measurement.selection import TaskSelection


@dataclass(slots=True)
class RunningServer:
    """Where it is, and what its sessions share."""

    url: str
    stage: Stage
    loop: asyncio.AbstractEventLoop

    def client(self) -> ServedClient:
        return ServedClient(self.url, seconds=60)

    def kill_browser(self) -> None:
        """Kill the browser, as the system does when memory is short."""
        for engine in self.stage.browser.engines:
            for process in engine._processes:
                if "node" not in process.name():
                    process.kill()


@contextmanager
def running_server(**settings: Any) -> Iterator[RunningServer]:
    config = compose(ServeConfig, **{"tasks": ("all",), "port": 0, **settings})
    config.check()
    ready = threading.Event()
    found: dict[str, Any] = {}
    listening = listen(config.host, config.port)

    async def work() -> None:
        async with open_stage(config, TaskSelection.of(config.played)) as stage:
            server = uvicorn.Server(configure(stage))
            found.update(stage=stage, loop=asyncio.get_running_loop(), server=server)
            ready.set()
            await server.serve(sockets=[listening])

    thread = threading.Thread(target=lambda: asyncio.run(work()))
    thread.start()
    try:
        while not ready.wait(0.1):
            assert thread.is_alive(), "the server did not start"
        port = listening.getsockname()[1]
        yield RunningServer(f"http://127.0.0.1:{port}", found["stage"], found["loop"])
    finally:
        if "server" in found:
            found["server"].should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def served() -> Iterator[RunningServer]:
    with running_server() as server:
        yield server


Serve = Callable[..., Any]


@pytest.fixture
def serve() -> Serve:
    return running_server
