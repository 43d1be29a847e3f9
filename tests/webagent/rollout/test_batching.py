"""Concurrent requests are answered together, and one requester's fate is never another's."""

import asyncio

import pytest

from webagent.rollout import Batcher


class Doubler:
    """Doubles, and remembers which requests came together."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.batcher = Batcher(self)

    def __call__(self, requests: list[int]) -> list[int]:
        self.batches.append(requests)
        return [2 * request for request in requests]


async def test_requests_of_one_turn_are_answered_together_and_in_order() -> None:
    double = Doubler()
    assert await asyncio.gather(*map(double.batcher, range(5))) == [0, 2, 4, 6, 8]
    assert double.batches == [[0, 1, 2, 3, 4]]


async def test_requests_that_follow_each_other_are_answered_one_by_one() -> None:
    double = Doubler()
    assert [await double.batcher(n) for n in range(3)] == [0, 2, 4]
    assert double.batches == [[0], [1], [2]]


async def test_loops_that_ask_again_and_again_stay_together() -> None:
    double = Doubler()

    async def climb(start: int) -> int:
        for _ in range(3):
            start = await double.batcher(start)
        return start

    assert await asyncio.gather(climb(1), climb(10)) == [8, 80]
    assert double.batches == [[1, 10], [2, 20], [4, 40]]


async def test_an_error_reaches_every_requester_and_the_next_batch_works() -> None:
    def refuse(requests: list[int]) -> list[int]:
        if 13 in requests:
            raise ValueError("unlucky")
        return requests

    batcher = Batcher(refuse)
    answers = await asyncio.gather(batcher(1), batcher(13), return_exceptions=True)
    assert [str(answer) for answer in answers] == ["unlucky", "unlucky"]
    assert await batcher(1) == 1


async def test_too_few_results_are_an_error_not_a_hang() -> None:
    batcher: Batcher[int, int] = Batcher(lambda requests: requests[:-1])
    with pytest.raises(ValueError, match="shorter"):
        await batcher(1)


async def test_a_cancelled_request_is_left_out_and_the_others_are_answered() -> None:
    double = Doubler()
    waiting = [asyncio.create_task(double.batcher(n)) for n in range(3)]
    await asyncio.sleep(0)  # all three have asked, none is answered
    waiting[1].cancel()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert (answers[0], answers[2]) == (0, 4)
    assert isinstance(answers[1], asyncio.CancelledError)
    assert double.batches == [[0, 2]]


async def test_a_batch_that_everyone_left_is_not_computed() -> None:
    double = Doubler()
    waiting = asyncio.create_task(double.batcher(1))
    asyncio.get_running_loop().call_soon(waiting.cancel)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await double.batcher(2) == 4
    assert double.batches == [[2]]
