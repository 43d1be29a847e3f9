"""The sessions that are open: opened on demand, found by name, ended when nobody uses them."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from apps.mcp.record import PHASE, Record
from apps.mcp.session import Session
from apps.mcp.settings import McpConfig
from tasks.task import Task
from webagent.browser import Browser, BrowserWorld
from webagent.browser.sessions.profile import Profile
from webagent.errors import CallError, WebAgentError
from webagent.records import Provenance
from webagent.rollout import NullRecorder, Recorder
from webagent.store import Store
from webagent.timing import time_limit

logger = logging.getLogger(__name__)

_BLANK = "about:blank"
_LOOKS_EVERY = 0.25
"""Of the idle time, how often it is looked who is idle."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Where sessions are kept."""

    store: Store | None = None
    run: str = ""
    """Tells this server's sessions from those of others that keep theirs in the same folder."""

    @property
    def recorder(self) -> Recorder:
        """Takes the steps."""
        return self.store or NullRecorder()


class Sessions:
    """`async with Sessions(…) as sessions`; at the end all are closed and the browser with them.

    The browser starts with the first session and ends when there was none for some time.
    """

    def __init__(
        self, config: McpConfig, browser: Browser, profile: Profile, kept: Kept | None = None
    ) -> None:
        self._config = config
        self._browser = browser
        self._profile = profile
        self._kept = kept or Kept()
        self._open: dict[str, Session] = {}
        self._taken = 0
        self.opened = 0
        """How many there were so far."""
        self._last_used = time.monotonic()
        self._rounds: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._rounds = asyncio.create_task(self._make_rounds())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        closing = asyncio.ensure_future(self._close())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await closing
            raise

    def __len__(self) -> int:
        return len(self._open)

    async def open(self, goal: str, who: str) -> Session:
        """A new one, on an empty page. Raises `CallError` when there are too many, `WorldError`."""
        async with self.place():
            session = await self._start(goal, who)
        self._open[session.name] = session
        session.when_over = lambda: self._open.pop(session.name, None)
        return session

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Room for one more, taken while the block runs. Raises `CallError` where there is none."""
        most = self._config.max_sessions
        if len(self._open) + self._taken >= most:
            raise CallError(f"{most} sessions are open, the most there may be; close one first")
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1
            self._last_used = time.monotonic()

    def find(self, name: str) -> Session:
        """The session of this name. Raises `CallError`."""
        self._last_used = time.monotonic()
        if name not in self._open:
            raise CallError(
                f"no session {name!r:.40} is open; it was closed, lost, or idle for"
                f" {self._config.idle_minutes:g} minutes. Call open_session for a new one"
            )
        return self._open[name]

    async def _start(self, goal: str, who: str) -> Session:
        keeps = self._kept.store is not None and self._config.images
        keep = self._kept.store.images.add if self._kept.store and keeps else None
        async with AsyncExitStack() as undo:
            world = await self._browser.world(keep, self._profile)
            undo.push_async_callback(world.close)
            session = await self._begin(world, goal, who)
            undo.pop_all()
        return session

    async def _begin(self, world: BrowserWorld, goal: str, who: str) -> Session:
        task = Task(id="mcp/session@1", start_url=_BLANK, goal=goal, clock="real")
        async with time_limit(self._config.step_timeout):
            page = await world.reset(task)
        self.opened += 1
        provenance = Provenance(
            run=self._kept.run, arm=who or "assistant", phase=PHASE, index=self.opened
        )
        record = Record(task, provenance, self._kept.recorder, page)
        name = secrets.token_hex(6)
        return Session(name, world, record, page, self._config.step_timeout)

    async def _make_rounds(self) -> None:
        idle = 60 * self._config.idle_minutes
        while True:
            await asyncio.sleep(_LOOKS_EVERY * idle)
            oldest = time.monotonic() - idle
            late = [s for s in self._open.values() if s.used < oldest and not s.is_busy]
            await self._leave(late, f"nothing was done in it for {self._config.idle_minutes:g} min")
            if not self._open and not self._taken and self._last_used < oldest:
                await self._browser.close()

    async def _leave(self, sessions: list[Session], reason: str) -> None:
        await asyncio.gather(*(_leave(session, reason) for session in sessions))

    async def _close(self) -> None:
        if self._rounds is not None:
            self._rounds.cancel()
            with suppress(asyncio.CancelledError):
                await self._rounds
        await self._leave(list(self._open.values()), "the assistant left")
        await self._browser.close()


async def _leave(session: Session, reason: str) -> None:
    try:
        await session.leave(reason)
    except (WebAgentError, TimeoutError) as error:
        logger.warning("the session %s did not end in order: %s", session.name, error)
