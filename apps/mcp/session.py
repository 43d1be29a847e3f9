"""A session: a browser context of its own that an assistant acts in, call by call."""

import asyncio
import time
from collections.abc import Callable

from apps.mcp.record import Record
from webagent.action import Action, Answer, GiveUp
from webagent.browser import BrowserWorld
from webagent.errors import CallError, CaptchaError, GuardError, WorldError
from webagent.records import Ending, Observation
from webagent.timing import time_limit


class Session:
    """Calls to one session are done one after the other; those to others do not wait for them."""

    def __init__(
        self,
        name: str,
        world: BrowserWorld,
        record: Record,
        page: Observation,
        step_timeout: float,
    ) -> None:
        self.name = name
        self.page = page
        """As it was last seen."""
        self.when_over: Callable[[], object] = lambda: None
        self.used = time.monotonic()
        self._world = world
        self._record = record
        self._seconds = step_timeout
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
        """The page after the action, and whether the action was done.

        Raises `CallError` for a session that is over, `GuardError` and `WorldError` when they end
        it, `CaptchaError` for a page that only a person may pass; the session goes on then.
        """
        async with self._lock:
            self._check()
            try:
                with self._record.turn(self.page, action):
                    async with time_limit(self._seconds):
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
        """The page as it is now. Raises as `act`."""
        async with self._lock:
            self._check()
            self.page = await self._look()
            return self.page

    async def screenshot(self) -> bytes:
        """The viewport, as PNG. Raises as `act`."""
        async with self._lock:
            self._check()
            try:
                async with time_limit(self._seconds):
                    return await self._world.screenshot()
            except (WorldError, TimeoutError) as error:
                raise await self._failed(error) from error

    async def close(self, answer: str = "", failed: str = "") -> None:
        """The assistant is done, with what it found or why it could not be done."""
        async with self._lock:
            self._check()
            action = GiveUp(failed) if failed else Answer(answer)
            with self._record.turn(self.page, action):
                pass
            await self._end(Ending.GAVE_UP if failed else Ending.ANSWERED)

    async def leave(self, reason: str) -> None:
        """The assistant is gone, or has not been heard of. Safe for a session that is over."""
        async with self._lock:
            if not self._ended:
                await self._end(Ending.STOPPED, reason)

    def _check(self) -> None:
        self.used = time.monotonic()
        if self._ended:
            raise CallError(f"the session {self.name} is over: {self._ended}; call open_session")

    async def _look(self) -> Observation:
        try:
            async with time_limit(self._seconds):
                return await self._world.look()
        except (WorldError, TimeoutError) as error:
            raise await self._failed(error) from error

    async def _failed(self, error: Exception) -> WorldError:
        reason = str(error) or f"an action did not end within {self._seconds:g} seconds"
        await self._end(Ending.WORLD_FAILED, reason)
        return WorldError(reason)

    async def _end(self, ending: Ending, reason: str = "") -> None:
        self._ended = reason or str(ending)
        self.when_over()
        try:
            async with asyncio.timeout(self._seconds):
                await self._record.finish(ending, self.page, self._world, reason)
        finally:
            await self._world.close()
