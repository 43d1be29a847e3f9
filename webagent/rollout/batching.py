"""Requests of concurrent episodes, answered together."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Request = TypeVar("Request")
Result = TypeVar("Result")


class Batcher(Generic[Request, Result]):
    """Gathers the requests of one event-loop turn and hands them to one function.

    `answer` gets at most `max_batch` requests and gives as many results in the same order. It runs
    inline: while it computes, the loop stands still and the next batch gathers behind it. What it
    raises is raised to every requester of the batch. A cancelled request is left out if its batch
    has not been answered yet, and never disturbs the others.
    """

    def __init__(
        self, answer: Callable[[list[Request]], Sequence[Result]], max_batch: int = 64
    ) -> None:
        self._answer = answer
        self._max_batch = max_batch
        self._open: _Batch[Request, Result] | None = None

    async def __call__(self, request: Request) -> Result:
        """The function's result for this request."""
        batch = self._open
        if batch is None or batch.is_closed or len(batch.requests) >= self._max_batch:
            batch = self._open = _Batch(self._answer)
        return await batch.result_of(request)


class _Batch(Generic[Request, Result]):
    """One call of the function, a turn of the loop after the first request came in."""

    def __init__(self, answer: Callable[[list[Request]], Sequence[Result]]) -> None:
        self.is_closed = False
        self.requests: list[Request] = []
        self._waiters: list[asyncio.Future[dict[int, Result]]] = []
        self._answer = answer
        self._answered = asyncio.ensure_future(self._run())

    async def result_of(self, request: Request) -> Result:
        place, waiter = len(self.requests), asyncio.shield(self._answered)
        self.requests.append(request)
        self._waiters.append(waiter)
        return (await waiter)[place]

    async def _run(self) -> dict[int, Result]:
        await asyncio.sleep(0)
        self.is_closed = True
        wanted = [place for place, waiter in enumerate(self._waiters) if not waiter.done()]
        if not wanted:
            return {}
        results = self._answer([self.requests[place] for place in wanted])
        return dict(zip(wanted, results, strict=True))
