"""A person's hands on the agent's page: what they do comes as steps, one by one."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from apps.record.demonstration import Pictures
from apps.record.draft import Draft
from apps.record.privacy import private, private_action
from apps.record.translator import Translator
from webagent.browser import BrowserWorld
from webagent.browser.watching import SessionWatch
from webagent.errors import WorldError
from webagent.records import Observation
from webagent.store import Store

_LAST_LOOK_SECONDS = 3.0


class Hands:
    """What a person does in one world, whenever they are at work there."""

    def __init__(self, world: BrowserWorld, store: Store, say: Callable[[str], object]) -> None:
        self.watch: SessionWatch | None = None
        """Where the person is being watched; None while the agent is at work."""
        self._world = world
        self._store = store
        self._say = say
        self._pictures = Pictures()
        self._deeds: asyncio.Queue[Draft | None] = asyncio.Queue()
        self._translator: Translator | None = None
        self._watching: asyncio.Future[None] | None = None

    async def take(self) -> None:
        """The person begins, with the page before them. Raises `WorldError`."""
        tabs = self._world.tabs()
        await tabs.focus(tabs.active_index)
        self._world.keep_images(self._pictures.take)
        known = self._translator
        self._translator = Translator(self._deeds.put_nowait, self._left_out)
        if known is not None:
            self._translator.secrets |= known.secrets
            self._translator.secret_marks |= known.secret_marks
        watch = SessionWatch(self._world, await self._world.look(), self._translator.hear)
        await watch.begin()
        self.watch, self._watching = watch, asyncio.ensure_future(watch.run())
        self._say("the page is yours; what you do is kept. Enter hands it back")

    async def let_go(self, *, is_patient: bool = True) -> None:
        """The person is done; what is left to tell of is told, then the end of it. Patience waits
        for the page to come to rest."""
        watch, watching, translator = self.watch, self._watching, self._translator
        if watch is None or watching is None or translator is None:
            return
        self.watch = self._watching = None
        if is_patient and not watching.done():
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST_LOOK_SECONDS):
                    await watch.is_resting.wait()
        watch.ended.set()
        with suppress(WorldError):
            await watching
        translator.finish(watch.seen)
        self._deeds.put_nowait(None)

    async def next_deed(self) -> Draft | None:
        """The next thing the person did, with secrets left out; None once they are done."""
        deed = await self._deeds.get()
        if deed is None or self._translator is None:
            return None
        hidden = private_action(deed.action, self._translator.secrets)
        return replace(deed, action=hidden, seen=self.shown(deed.seen))

    async def look(self) -> Observation:
        """The page as it is now. Raises `WorldError`."""
        return self.shown(await self._world.look())

    def shown(self, page: Observation) -> Observation:
        """The page without what the person has typed in secret, its picture kept."""
        if self._translator is None:
            return page
        secrets, marks = self._translator.secrets, self._translator.secret_marks
        return self._pictures.kept(private(page, secrets, marks), self._store)

    def _left_out(self, what: str) -> None:
        self._say(f"not kept as a step: {what}")
