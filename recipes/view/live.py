"""Whether a run goes on: told when asked, and sent whenever something was stored."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from recipes.view.archive import Run
from recipes.view.pages import Pages

_LOOK_SECONDS = 0.5
_LEAST_SECONDS = 1.0
"""Between two messages, so that a busy run does not keep browsers rendering."""
_HEARTBEAT_SECONDS = 10.0
_FRESH_SECONDS = 60.0
"""A run that stored something so lately is taken to go on."""


def routes(pages: Pages, ending: Callable[[], bool] = lambda: False) -> list[BaseRoute]:
    """`/run/NAME/state` for who asks, `/run/NAME/events` for who listens."""

    def state(request: Request) -> Response:
        return JSONResponse(state_of(pages.run(request)))

    async def events(request: Request) -> Response:
        run = await run_in_threadpool(pages.run, request)
        return StreamingResponse(_events(run, ending), media_type="text/event-stream")

    return [Route("/run/{run}/state", state), Route("/run/{run}/events", events)]


def state_of(run: Run) -> dict[str, str]:
    """`version`, which changes with the store, and whether the run goes on, in words."""
    seconds = max(0.0, time.time() - run.changed())
    running = seconds < _FRESH_SECONDS
    text = "live" if running else f"last stored {_ago(seconds)} ago"
    return {"version": run.version(), "kind": "running" if running else "rest", "text": text}


async def _events(run: Run, ending: Callable[[], bool]) -> AsyncIterator[str]:
    told: dict[str, str] = {}
    last = 0.0
    while not ending():
        now = time.monotonic()
        state = await run_in_threadpool(state_of, run)
        if state != told and now - last >= _LEAST_SECONDS:
            told, last = state, now
            yield f"event: state\ndata: {json.dumps(state)}\n\n"
        elif now - last > _HEARTBEAT_SECONDS:
            last = now
            yield ": still here\n\n"
        await asyncio.sleep(_LOOK_SECONDS)


def _ago(seconds: float) -> str:
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"
