"""Running sites on loan: each to one world at a time, replaced when it is dead."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from benchmarks.sites.site import SiteError

IDLE_SECONDS = 900.0
"""A loan that nobody has used for so long may be taken back when others wait."""


class Running(Protocol):
    """A site that runs, wherever; its calls block."""

    @property
    def base(self) -> str:
        """Its real address, as `http://127.0.0.1:PORT`."""
        ...

    @property
    def database(self) -> Path | None:
        """Its SQLite file as it is now, where it has one that can be read from here."""
        ...

    @property
    def saved_database(self) -> Path | None:
        """The same file in the state that it was put into last."""
        ...

    def login(self, role: str) -> dict[str, Any]:
        """Return what a browser knows in which this account is logged in."""
        ...

    def renew_login(self, role: str) -> None:
        """Log in anew an account whose login has run out; a reset follows. Raises `SiteError`."""
        ...

    def reset(self) -> float:
        """Put the first state in place; the seconds that took. Raises `SiteError`."""
        ...

    def check(self) -> None:
        """Raises `SiteError` when it is known to be dead; costs next to nothing."""
        ...

    def is_healthy(self) -> bool:
        """Return whether it answers."""
        ...

    def stop(self) -> None:
        """End it and give back what it holds. Safe to call twice."""
        ...


class Lease:
    """One running site in the hands of one world."""

    def __init__(self, running: Running, name: str, idle_seconds: float) -> None:
        self.running = running
        self.is_doubtful = False
        """Whether something went wrong in these hands, so that its health is to be looked at."""
        self.has_failed = False
        """Whether its server failed at something that it was sent, so that it is started anew."""
        self.name = name
        """Of the site."""
        self._idle_seconds = idle_seconds
        self._used = time.monotonic()
        self._is_over = False

    def renew(self) -> None:
        """Say that it is in use. Raises `SiteError` when it was taken back, or the site is dead."""
        if self._is_over:
            raise SiteError(
                f"the lease of {self.name} has expired: it was not used for"
                f" {self._idle_seconds:g} s and others were waiting"
            )
        self._used = time.monotonic()
        self.running.check()

    def is_idle(self) -> bool:
        """Return whether it may be taken back."""
        return time.monotonic() - self._used > self._idle_seconds

    def end(self) -> bool:
        """It is in nobody's hands now; whether it was until here."""
        was_over, self._is_over = self._is_over, True
        return not was_over


class Pool:
    """At most so many running copies of one site. Starts them when they are wanted, side by side,
    and keeps those that were given back for the next who asks."""

    def __init__(
        self, name: str, start: Callable[[], Running], most: int, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        """`start` makes one; it is called in a thread and raises `SiteError`."""
        if most < 1:
            raise ValueError(f"a pool holds at least one instance, asked for {most}")
        self.name = name
        self.starts = 0
        """How many were started; more than were ever used at once means that some were replaced."""
        self._start = start
        self._idle_seconds = idle_seconds
        self._room = asyncio.Semaphore(most)
        self._ready: list[Running] = []
        self._lent: set[Lease] = set()
        self._work: set[asyncio.Future[None]] = set()
        self._is_closed = False

    async def lease(self) -> Lease:
        """Lease a running site, in whatever state it is. Waits where all are lent. Raises
        `SiteError` when none can be started."""
        while True:
            try:
                async with asyncio.timeout(min(5.0, self._idle_seconds / 4)):
                    await self._room.acquire()
                break
            except TimeoutError:
                # Loans that nobody uses end, and their sites: pages may still be open on them.
                for idle in [each for each in self._lent if each.is_idle() and each.end()]:
                    self._lent.discard(idle)
                    self._begin(asyncio.to_thread(idle.running.stop))
                    self._room.release()
        try:
            self._check_open()
        except SiteError:
            self._room.release()
            raise
        running = None
        while self._ready and running is None:
            running = self._ready.pop()
            try:
                running.check()
            except SiteError:
                self._begin(asyncio.to_thread(running.stop))
                running = None
        lease = Lease(running or await self._start_new(), self.name, self._idle_seconds)
        self._lent.add(lease)
        if self._is_closed:
            await self.close()
            self._check_open()
        return lease

    async def give_back(self, lease: Lease) -> None:
        """Take back a lease; safe to call twice. A dead instance makes room for a new one."""

        async def keep_or_stop() -> None:
            running = lease.running
            is_good = not lease.has_failed and (
                not lease.is_doubtful or await asyncio.to_thread(running.is_healthy)
            )
            if is_good and not self._is_closed:
                self._ready.append(running)
            else:
                await asyncio.to_thread(running.stop)
            self._room.release()

        if lease.end():
            self._lent.discard(lease)
            await asyncio.shield(self._begin(keep_or_stop()))

    async def close(self) -> None:
        """Stop all instances, lent ones too. Safe to call twice."""
        self._is_closed = True
        await asyncio.gather(*self._work)
        for lease in [lease for lease in self._lent if lease.end()]:
            self._ready.append(lease.running)
            self._room.release()
        held, self._ready = self._ready, []
        self._lent.clear()
        await asyncio.gather(*(asyncio.to_thread(each.stop) for each in held))

    def _check_open(self) -> None:
        if self._is_closed:
            raise SiteError(f"{self.name} is not available: its pool is closed")

    async def _start_new(self) -> Running:
        """Start one. Where the caller is cancelled meanwhile it is kept for the next."""
        self.starts += 1
        starting = asyncio.ensure_future(asyncio.to_thread(self._start))

        async def keep() -> None:
            with suppress(SiteError):
                self._ready.append(await starting)
            self._room.release()

        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            self._begin(keep())
            raise
        except SiteError:
            self._room.release()
            raise

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Future[None]:
        """Do it beside; the pool does not close before it is done."""
        task = asyncio.ensure_future(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return task
