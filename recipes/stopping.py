"""Ctrl-C and SIGTERM as an orderly end: what is open is closed before the process goes."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):
    """The work was stopped by a signal, and has cleaned up after itself."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.status = 128 + number
        """The exit status that says so."""


def run_until_stopped(work: Coroutine[Any, Any, Result]) -> Result:
    """Run it in an event loop of its own; a signal cancels it. Raises `Stopped` after its end."""
    return asyncio.run(_watched(work))


async def _watched(work: Coroutine[Any, Any, Result]) -> Result:
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
        raise Stopped(seen[0]) from None
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
