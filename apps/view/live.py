"""Pages follow their runs: the state is told when asked, and sent whenever it changes."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from apps.view.pages import Pages

State = dict[str, str]

_LOOK_SECONDS = 0.5
_LEAST_SECONDS = 1.0
"""Between two messages, so that a busy run does not keep browsers rendering."""
_HEARTBEAT_SECONDS = 10.0


def routes(pages: Pages, ending: Callable[[], bool] = lambda: False) -> list[BaseRoute]:
    """`state` for who asks and `events` for who listens, of all runs and of each."""

    def asked(request: Request) -> Callable[[], State]:
        if "run" not in request.path_params:
            return pages.all_runs
        run = pages.archive.run(request.path_params["run"])
        return lambda: pages.state(run)

    def state(request: Request) -> Response:
        return JSONResponse(asked(request)())

    async def events(request: Request) -> Response:
        find = await run_in_threadpool(asked, request)
        return StreamingResponse(_events(find, ending), media_type="text/event-stream")

    return [
        Route("/state", state),
        Route("/events", events),
        Route("/run/{run}/state", state),
        Route("/run/{run}/events", events),
    ]


async def _events(find: Callable[[], State], ending: Callable[[], bool]) -> AsyncIterator[str]:
    told: State = {}
    last = 0.0
    while not ending():
        now = time.monotonic()
        state = await run_in_threadpool(find)
        if state != told and now - last >= _LEAST_SECONDS:
            told, last = state, now
            yield f"event: state\ndata: {json.dumps(state)}\n\n"
        elif now - last > _HEARTBEAT_SECONDS:
            last = now
            yield ": still here\n\n"
        await asyncio.sleep(_LOOK_SECONDS)
