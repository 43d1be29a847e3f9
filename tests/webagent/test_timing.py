"""Limits hold, and stand still while a person is at work."""

import asyncio

import pytest

from webagent.timing import time_limit, uncounted


async def test_a_person_may_take_longer_than_the_limit():
    async with time_limit(0.05), time_limit(0.04):
        with uncounted():
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.01)


async def test_what_was_left_of_the_limit_holds_afterwards():
    with pytest.raises(TimeoutError):
        async with time_limit(0.05):
            with uncounted():
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.5)


async def test_the_limit_holds_where_the_work_is_done_by_tasks():
    async def person() -> None:
        with uncounted():
            await asyncio.sleep(0.1)

    async with time_limit(0.05):
        await asyncio.gather(person(), person())


async def test_a_person_who_is_called_away_ends_it():
    async def lend() -> None:
        async with time_limit(0.01):
            with uncounted():
                await asyncio.sleep(5)

    lending = asyncio.create_task(lend())
    await asyncio.sleep(0.05)
    lending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await lending


async def test_without_a_limit_nothing_is_held_up():
    with uncounted():
        await asyncio.sleep(0)
