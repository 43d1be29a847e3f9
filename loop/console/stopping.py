"""Ctrl-C and SIGTERM as an orderly end: what is open is closed before the process goes."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from loop.console.outcome import Stopped

Result = TypeVar("Result")

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_until_stopped(work: Coroutine[Any, Any, Result], kept: str = "", next: str = "") -> Result:
    """Run it in an event loop of its own; a signal cancels it. Raises `Stopped` after its end.

    `kept` and `next` go into what is said then: what is safe, and the command that goes on.
    """
    return asyncio.run(_watched(work, kept, next))


async def _watched(work: Coroutine[Any, Any, Result], kept: str, next: str) -> Result:
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
    seen: list[int] = []

    def stop(number: int) -> None:
        seen.append(number)
        task.cancel()

    for number in SIGNALS:
        loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not seen:
            raise
        raise Stopped(seen[0], kept, next) from None
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
