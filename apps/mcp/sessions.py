"""Browser sessions of assistants: opened on demand, recorded as episodes, closed when unused."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Self

from apps.mcp.settings import STEP_SECONDS, McpConfig
from tasks.task import Task
from webagent.action import Action, Answer, GiveUp
from webagent.browser import Browser, BrowserWorld
from webagent.browser.sessions.profile import Profile
from webagent.errors import CallError, CaptchaError, GuardError, WebAgentError, WorldError
from webagent.records import Decision, Ending, Observation, Provenance, Step, Trajectory
from webagent.rollout import NullRecorder, Recorder, World, episode_id
from webagent.store import Store
from webagent.timing import time_limit

SOURCE, PHASE = "assistant", "collect"
_SPARE, _LEAST_STEPS = 2, 10
"""Whoever plays the task again may take so many times the assistant's steps, and ten at least."""


class SessionEpisode:
    """A session's episode: begun with the session, a step for every action, closed in the end."""

    def __init__(
        self, task: Task, provenance: Provenance, recorder: Recorder, page: Observation
    ) -> None:
        name = episode_id(task, provenance)
        self.trajectory = Trajectory(name, task, task.goal, last=page, provenance=provenance)
        self._recorder = recorder
        self._began = self._last = time.monotonic()
        recorder.begin(self.trajectory)

    @contextmanager
    def turn(self, seen: Observation, action: Action) -> Iterator[None]:
        """Keep the step whatever comes of it. Raises `StoreError`."""
        now = time.monotonic()
        decision = Decision(
            action, source=SOURCE, weights=self.trajectory.provenance.arm, seconds=now - self._last
        )
        try:
            yield
        finally:
            self._last = time.monotonic()
            step, steps = Step(seen, decision, self._last - now), self.trajectory.steps
            self.trajectory = replace(self.trajectory, steps=(*steps, step))
            self._recorder.add_step(self.trajectory.id, len(steps), step)

    async def finish(
        self, ending: Ending, last: Observation | None, world: World, error: str = ""
    ) -> None:
        """Close the record. Raises `StoreError`."""
        task = self.trajectory.task
        evidence = self.trajectory.evidence
        if ending is not Ending.WORLD_FAILED:
            try:
                evidence = await world.evidence(task)
            except WorldError as failure:
                error = "; ".join(filter(None, (error, f"no evidence: {failure}")))
        taken = len(self.trajectory.steps)
        self.trajectory = replace(
            self.trajectory,
            task=replace(task, max_steps=max(_LEAST_STEPS, _SPARE * taken)),
            last=None if ending is Ending.WORLD_FAILED else last,
            ending=ending,
            evidence=evidence,
            error=error,
            seconds=time.monotonic() - self._began,
        )
        self._recorder.finish(self.trajectory)


class ToolSession:
    """Calls to one session are done one after the other; those to others do not wait for them."""

    def __init__(
        self, name: str, world: BrowserWorld, record: SessionEpisode, page: Observation
    ) -> None:
        self.name = name
        self.page = page
        """As it was last seen."""
        self.when_over: Callable[[], object] = lambda: None
        self.used = time.monotonic()
        self._world = world
        self._record = record
        self._lock = asyncio.Lock()
        self._ended = ""

    @property
    def episode(self) -> str:
        """The id of its episode."""
        return self._record.trajectory.id

    @property
    def steps(self) -> int:
        """How many actions were done."""
        return len(self._record.trajectory.steps)

    @property
    def is_busy(self) -> bool:
        """Whether a call is under way."""
        return self._lock.locked()

    async def act(self, action: Action) -> tuple[Observation, bool]:
        """Return the page after the action, and whether the action was done.

        Raises `CallError` for a session that is over, `GuardError` and `WorldError` when they end
        it, `CaptchaError` for a page that only a person may pass; the session goes on then.
        """
        async with self._lock:
            self._check()
            try:
                with self._record.turn(self.page, action):
                    async with time_limit(STEP_SECONDS):
                        self.page = await self._world.step(action)
            except CaptchaError:
                self.page = await self._look()
                raise
            except GuardError as error:
                await self._end(Ending.GUARD_REFUSED, str(error))
                raise
            except (WorldError, TimeoutError) as error:
                raise await self._failed(error) from error
            return self.page, not self._world.refusal

    async def look(self) -> Observation:
        """Return the page as it is now. Raises as `act`."""
        async with self._lock:
            self._check()
            self.page = await self._look()
            return self.page

    async def screenshot(self) -> bytes:
        """Return the viewport as PNG. Raises as `act`."""
        async with self._lock:
            self._check()
            try:
                async with time_limit(STEP_SECONDS):
                    return await self._world.screenshot()
            except (WorldError, TimeoutError) as error:
                raise await self._failed(error) from error

    async def close(self, answer: str = "", failed: str = "") -> None:
        """Close it: the assistant is done, with what it found or why it could not be done."""
        async with self._lock:
            self._check()
            action = GiveUp(failed) if failed else Answer(answer)
            with self._record.turn(self.page, action):
                pass
            await self._end(Ending.GAVE_UP if failed else Ending.ANSWERED)

    async def leave(self, reason: str) -> None:
        """Close it, as the assistant is gone or silent. Safe for a session that is over."""
        async with self._lock:
            if not self._ended:
                await self._end(Ending.STOPPED, reason)

    def _check(self) -> None:
        self.used = time.monotonic()
        if self._ended:
            raise CallError(f"the session {self.name} is over: {self._ended}; call open_session")

    async def _look(self) -> Observation:
        try:
            async with time_limit(STEP_SECONDS):
                return await self._world.look()
        except (WorldError, TimeoutError) as error:
            raise await self._failed(error) from error

    async def _failed(self, error: Exception) -> WorldError:
        reason = str(error) or f"an action did not end within {STEP_SECONDS:g} seconds"
        await self._end(Ending.WORLD_FAILED, reason)
        return WorldError(reason)

    async def _end(self, ending: Ending, reason: str = "") -> None:
        self._ended = reason or str(ending)
        self.when_over()
        try:
            async with asyncio.timeout(STEP_SECONDS):
                await self._record.finish(ending, self.page, self._world, reason)
        finally:
            await self._world.close()


logger = logging.getLogger(__name__)

_BLANK = "about:blank"
_LOOKS_EVERY = 0.25
"""Of the idle time, how often it is looked who is idle."""


@dataclass(frozen=True, slots=True)
class SessionStore:
    """Where sessions are kept."""

    store: Store | None = None
    run: str = ""
    """Tells this server's sessions from those of others that keep theirs in the same folder."""


class Sessions:
    """`async with Sessions(…) as sessions`; at the end all are closed and the browser with them.

    The browser starts with the first session and ends when there was none for some time.
    """

    def __init__(
        self,
        config: McpConfig,
        browser: Browser,
        profile: Profile,
        kept: SessionStore | None = None,
    ) -> None:
        self._config = config
        self._browser = browser
        self._profile = profile
        self._kept = kept or SessionStore()
        self._open: dict[str, ToolSession] = {}
        self._taken = 0
        self.opened = 0
        """How many there were so far."""
        self._last_used = time.monotonic()
        self._closer: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        idle = 60 * self._config.idle_minutes

        async def close_idle() -> None:
            while True:
                await asyncio.sleep(_LOOKS_EVERY * idle)
                oldest = time.monotonic() - idle
                late = [s for s in self._open.values() if s.used < oldest and not s.is_busy]
                reason = f"nothing was done in it for {self._config.idle_minutes:g} min"
                await self._leave(late, reason)
                if not self._open and not self._taken and self._last_used < oldest:
                    await self._browser.close()

        self._closer = asyncio.create_task(close_idle())
        return self

    async def __aexit__(self, *failure: object) -> None:
        closing = asyncio.ensure_future(self._close())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await closing
            raise

    def __len__(self) -> int:
        return len(self._open)

    async def open(self, goal: str, who: str) -> ToolSession:
        """Return a new one on an empty page. Raises `CallError` when there are too many."""
        store = self._kept.store
        keep = store.images.add if store is not None and self._config.store_screenshots else None
        async with self.place(), AsyncExitStack() as undo:
            world = await self._browser.world(keep, self._profile)
            undo.push_async_callback(world.close)
            task = Task(id="mcp/session@1", start_url=_BLANK, goal=goal, clock="real")
            async with time_limit(STEP_SECONDS):
                page = await world.reset(task)
            self.opened += 1
            provenance = Provenance(
                run=self._kept.run, arm=who or "assistant", phase=PHASE, index=self.opened
            )
            record = SessionEpisode(task, provenance, store or NullRecorder(), page)
            name = secrets.token_hex(6)
            session = ToolSession(name, world, record, page)
            undo.pop_all()
        self._open[name] = session
        session.when_over = lambda: self._open.pop(name, None)
        return session

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Take room for one more while the block runs. Raises `CallError` where there is none."""
        most = self._config.max_sessions
        if len(self._open) + self._taken >= most:
            raise CallError(f"{most} sessions are open, the maximum; close one first")
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1
            self._last_used = time.monotonic()

    def find(self, name: str) -> ToolSession:
        """Return the session of this name. Raises `CallError`."""
        self._last_used = time.monotonic()
        if name not in self._open:
            raise CallError(
                f"no session {name!r:.40} is open; it was closed, lost, or idle for"
                f" {self._config.idle_minutes:g} minutes. Call open_session for a new one"
            )
        return self._open[name]

    async def _leave(self, sessions: list[ToolSession], reason: str) -> None:
        left = await asyncio.gather(
            *(session.leave(reason) for session in sessions), return_exceptions=True
        )
        for session, error in zip(sessions, left, strict=True):
            if isinstance(error, WebAgentError | TimeoutError):
                logger.warning("the session %s did not end cleanly: %s", session.name, error)
            elif error is not None:
                raise error

    async def _close(self) -> None:
        if self._closer is not None:
            self._closer.cancel()
            with suppress(asyncio.CancelledError):
                await self._closer
        await self._leave(list(self._open.values()), "the assistant left")
        await self._browser.close()
