"""Running sites on loan: one world each, bounded, replaced when dead."""

import asyncio
import threading
import time

import pytest

from benchmarks.sites import Pool, SiteError
from tests.benchmarks.sites.conftest import FakeRunning


class Starter:
    """Starts fakes; each takes so many seconds."""

    def __init__(self, seconds=0.0, failures=0):
        self.started = []
        self.at_once = self.most_at_once = 0
        self._seconds, self._failures = seconds, failures
        self._turn = threading.Lock()

    def __call__(self):
        with self._turn:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(self._seconds)
        with self._turn:
            self.at_once -= 1
            if self._failures:
                self._failures -= 1
                raise SiteError("it does not start")
            self.started.append(FakeRunning())
            return self.started[-1]


async def test_each_lease_is_of_an_instance_of_its_own_and_no_more_are_lent_than_there_may_be():
    pool = Pool("diary@1", Starter(), most=2)
    first, second = await pool.lease(), await pool.lease()
    waiting = asyncio.ensure_future(pool.lease())
    await asyncio.sleep(0.05)

    assert first.running is not second.running
    assert not waiting.done()
    await pool.give_back(first)
    assert (await waiting).running is first.running
    assert pool.starts == 2
    await pool.close()


async def test_instances_start_in_parallel():
    starter = Starter(seconds=0.1)
    pool = Pool("diary@1", starter, most=4)
    await asyncio.gather(*(pool.lease() for _ in range(4)))

    assert starter.most_at_once > 1
    await pool.close()
    assert [each.stops for each in starter.started] == [1, 1, 1, 1]


async def test_a_dead_instance_is_replaced_when_it_is_asked_for_and_when_it_is_given_back():
    pool = Pool("diary@1", Starter(), most=1)
    lease = await pool.lease()
    await pool.give_back(lease)
    lease.running.is_dead = True
    second = await pool.lease()
    assert second.running is not lease.running

    second.running.is_ill = second.is_doubtful = True
    await pool.give_back(second)
    third = await pool.lease()
    assert third.running is not second.running
    await pool.close()
    assert [lease.running.stops, second.running.stops, third.running.stops] == [1, 1, 1]


async def test_a_dead_instance_is_told_by_its_lease():
    pool = Pool("diary@1", Starter(), most=1)
    lease = await pool.lease()
    lease.renew()
    lease.running.is_dead = True
    with pytest.raises(SiteError, match="it is dead"):
        lease.renew()
    await pool.close()


async def test_a_lease_that_nobody_uses_expires_for_those_who_wait():
    pool = Pool("diary@1", Starter(), most=1, idle_seconds=0.1)
    forgotten = await pool.lease()
    second = await asyncio.wait_for(pool.lease(), 5)

    assert second.running is not forgotten.running
    with pytest.raises(SiteError, match=r"the lease of diary@1 has expired: .* for 0.1 s"):
        forgotten.renew()
    await pool.give_back(forgotten)
    await pool.close()
    assert forgotten.running.stops == second.running.stops == 1


async def test_a_start_that_fails_leaves_room_for_the_next():
    pool = Pool("diary@1", Starter(failures=2), most=1)
    for _ in range(2):
        with pytest.raises(SiteError, match="it does not start"):
            await pool.lease()
    assert (await asyncio.wait_for(pool.lease(), 5)).running.stops == 0
    await pool.close()


async def test_an_instance_whose_asker_went_away_is_kept_for_the_next():
    starter = Starter(seconds=0.1)
    pool = Pool("diary@1", starter, most=1)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(pool.lease(), 0.02)
    lease = await asyncio.wait_for(pool.lease(), 5)

    assert lease.running is starter.started[0]
    assert len(starter.started) == 1
    await pool.close()


async def test_a_closed_pool_lends_no_more_and_lets_those_who_wait_go():
    starter = Starter()
    pool = Pool("diary@1", starter, most=1)
    lease = await pool.lease()
    waiting = asyncio.ensure_future(pool.lease())
    await asyncio.sleep(0.01)
    await pool.close()
    await pool.close()

    with pytest.raises(SiteError, match="pool is closed"):
        await waiting
    await pool.give_back(lease)
    assert starter.started[0].stops == 1


async def test_an_instance_that_starts_while_its_pool_closes_is_stopped():
    starter = Starter(seconds=0.1)
    pool = Pool("diary@1", starter, most=1)
    asking = asyncio.ensure_future(pool.lease())
    await asyncio.sleep(0.02)
    await pool.close()

    with pytest.raises(SiteError, match="pool is closed"):
        await asking
    assert [each.stops for each in starter.started] == [1]
