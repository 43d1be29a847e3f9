"""The tabs of one episode: which are open, which is in front, and pop-ups as they come."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from playwright.async_api import BrowserContext, Download, Page, Route
from playwright.async_api import Error as PlaywrightError

from tasks.task import Json, Task
from webagent.action import Action
from webagent.browser.devtools import DevTools
from webagent.browser.failures import DocumentFailures, refuse_scheme
from webagent.browser.page.clock import LOAD_SECONDS, PageClock, RealClock, VirtualClock
from webagent.browser.page.connection import ignore_closed, unless_closed, world_failures
from webagent.browser.page.tab import Tab
from webagent.browser.sessions.files import (
    Downloads,
    SessionRecording,
    is_pdf,
    safe_name,
    write_pdf_page,
)
from webagent.browser.sessions.traffic import TrafficReplay
from webagent.errors import CaptchaError, WorldError
from webagent.guard.secret import Secrets
from webagent.guard.writes import SentWrite
from webagent.records import Observation
from webagent.timing import uncounted

logger = logging.getLogger(__name__)


class Handover(Protocol):
    """A person who can be asked for help."""

    async def hand_over(self, reason: str) -> None:
        """Say why help is wanted, and return once the person says that the agent may go on."""


@dataclass(frozen=True, slots=True)
class Captcha:
    """A test for being human that can be seen on a page."""

    kind: str
    """Whose it is, as `reCAPTCHA`, or `picture` for a site's own."""
    blocks: bool
    """Whether there is no page besides: nothing can be done until it is passed."""

    def describe(self) -> str:
        """Return the note for the agent."""
        where = "instead of its content" if self.blocks else "on it"
        return f"the page shows a captcha ({self.kind}) {where}; only a person may pass it"

    def error(self, url: str) -> CaptchaError:
        """Return the error that ends an episode which cannot go on from this address."""
        return CaptchaError(
            f"{url} shows a captcha ({self.kind}) instead of its content; captchas are never "
            "solved: use a login or an address that the site trusts, or a window with a person"
        )


_POPUP_SECONDS = 5.0
_OFFER_SECONDS = 2.0
_FOREIGN_SECONDS = 0.5
"""A window for another program's address has no page; the browser may show an empty one."""
_STOP_SECONDS = 3.0
_MOST_POPUPS = 8
"""Windows a page may open in one step; of a storm the rest is closed."""


Look: TypeAlias = Callable[[], Awaitable[Observation]]
"""Returns the page in front as it is now. Raises `WorldError`."""


class SessionGuard(Protocol):
    """What an episode's pages and actions are held to; `Enforcer` is one."""

    secrets: Secrets
    """The values that neither the model nor the store may see."""

    def begin(self, start_url: str, site: str = "") -> bool:
        """Apply the task's limits; return whether its first page may be opened at all."""

    def check_start(self) -> None:
        """Raise `GuardError` where the task's first page is closed by the policy."""

    def open_further(self, url: str) -> None:
        """Open another start page to the task. Raises `GuardError` where the policy closes it."""

    async def perform(
        self, action: Action, tabs: "Tabs", seen: Observation, look: Look | None = None
    ) -> str:
        """Do the action if it may be done, else return the reason; `look` shows the page as it is
        by then. Raises `GuardError`."""

    def check_outcome(self, action: Action, seen: Observation, led_to: Observation) -> str:
        """Return which contracts an action has broken. Raises `GuardError` to end the episode."""

    def take_notes(self) -> list[str]:
        """Return what was refused since the last call. Raises `GuardError` to end the episode."""

    def probing(self, page: Page, addresses: Iterable[str]) -> AbstractContextManager[list[str]]:
        """Let a probe's page reach these addresses' servers; yield what it was refused."""

    def sent_writes(self) -> list[SentWrite]:
        """Return what pages sent that may have changed something, where that is confirmed."""

    def evidence(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """Return the evidence without secrets, and under `guard` what was refused."""


class Tabs:
    """All pages of one browser context, in the order in which they were opened."""

    def __init__(
        self, context: BrowserContext, clock: PageClock, init: str, devtools: DevTools | None
    ) -> None:
        self.context = context
        self.clock = clock
        self.failures = DocumentFailures(context)
        self.devtools = devtools
        """The way to the pages past the driver; None where there is none."""
        self.downloads: Downloads | None = None
        """Where files go that pages hand out; None refuses them."""
        self.recording: SessionRecording | None = None
        self.replay: TrafficReplay | None = None
        """The recording that answers in place of the network."""
        self.leaving = AsyncExitStack()
        """What is to be undone when the pages are left, their context first of all."""
        self.guard: SessionGuard | None = None
        """What guards the pages, if anything does."""
        self._init = init
        self._tabs: list[Tab] = []
        self._active = 0
        self._arrived = asyncio.Event()
        self._arrivals: list[Page] = []
        self._expects_own = False
        self._holds_dialogs = False
        self._offers: list[Download] = []
        """Files that pages have offered and nothing has been said of yet."""
        self._offered = asyncio.Event()
        self._cancelling: asyncio.Future[None] | None = None

    @classmethod
    async def open(
        cls, context: BrowserContext, clock: PageClock, init: str, devtools: DevTools | None = None
    ) -> "Tabs":
        """Return the tabs of a fresh context: one, empty, with the wall clock until `start`."""
        tabs = cls(context, clock, init, devtools)

        def note_arrival(page: Page) -> None:
            if not tabs._expects_own:
                tabs._arrivals.append(page)
                tabs._arrived.set()

        context.on("page", note_arrival)
        context.on("requestfailed", lambda _: tabs._arrived.set())
        await tabs._adopt(await tabs.blank_page(), is_first=True)
        return tabs

    def begin(self, task: Task) -> None:
        """Let what these pages keep belong to an episode of the task from here on."""
        episode = safe_name(f"{task.name}-{task.seed}")
        if self.downloads:
            self.downloads.begin(episode)
        if self.recording:
            self.recording.episode = episode
        self.failures.begin(task)

    async def leave(self) -> None:
        """Close the context with all its pages, and put in place what is kept. Never raises."""
        await self.leaving.aclose()

    async def start(self, url: str, site: str = "") -> None:
        """Start the clock and load the first page, of this site if named. Raises `WorldError`."""
        if self.guard and not self.guard.begin(url, site):
            return
        if site:
            self.failures.follow_site(url)
        await self.clock.start(self.first)
        failure = await self.first.goto(url)
        if "ERR_ABORTED" in failure:
            await self._await_offer()
        if failure and not await self._show_pdf():
            if self._offers:
                failure = f"{url} is a file to download and no page; start at a page that links it"
            raise WorldError(failure)
        if not await self.clock.load(self.first):
            has_arrived = False
            with suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await self.first.stop_loading()
                    has_arrived = await self.first.ask("hasArrived")
            if not has_arrived:
                raise WorldError(f"{url} is still loading after {LOAD_SECONDS:g} s")
            self.first.notes.append(f"the page was still loading after {LOAD_SECONDS:g} s, stopped")
        if site:
            await self.first.hear_driver()
        self.failures.check_server()

    @property
    def active(self) -> Tab:
        """Return the tab in front."""
        return self._tabs[self._active]

    @property
    def first(self) -> Tab:
        """Return the tab the task started in, or the oldest that is left of it."""
        return self._tabs[0]

    @property
    def active_index(self) -> int:
        """Return the place of the tab in front, counted from 0."""
        return self._active

    @property
    def all(self) -> tuple[Tab, ...]:
        """Return the tabs in the order in which they were opened."""
        return tuple(self._tabs)

    def __len__(self) -> int:
        return len(self._tabs)

    async def new(self) -> None:
        """Open an empty tab in front."""
        await self._adopt(await self.blank_page())
        await self._start_clock()

    async def open_behind(self, urls: Sequence[str]) -> None:
        """Open the addresses in order, each in a tab of its own; the tab in front stays there.

        Raises `WorldError` where one cannot be opened, `GuardError` where one is closed to the
        task.
        """
        front = self._active
        for url in urls:
            if self.guard:
                self.guard.open_further(url)
            await self.new()
            if failure := await self.goto(url):
                raise WorldError(f"a further start page failed: {failure}")
        if urls:
            await self.focus(front)

    async def goto(self, url: str) -> str:
        """Open an address in the tab in front; return the reason when the browser cannot."""
        tab = self.active
        self.failures.note_opened(url)
        going = asyncio.ensure_future(tab.goto(url))
        loads = True
        try:
            while loads and not going.done():
                loads = await self.clock.load(tab)
                await asyncio.sleep(0)
            if going.done():
                failure = await going
                if "ERR_ABORTED" in failure:
                    if reason := await self.failures.explain_staying(tab):
                        return reason
                    await self._await_offer()
                    failure = "" if self._offers else failure
                return self.failures.judge(url, failure)
        finally:
            going.cancel()
        await tab.stop_loading()
        tab.unanswered = ""
        return self.failures.judge(url, f"cannot open {url}: no answer in {LOAD_SECONDS:g} s")

    async def focus(self, index: int) -> str:
        """Bring a tab to the front."""
        if not 0 <= index < len(self._tabs):
            return f"there is no tab {index}, only 0 to {len(self._tabs) - 1}"
        self._active = index
        async with world_failures():
            await self.active.page.bring_to_front()
        return ""

    async def close_active(self) -> None:
        """Close the tab in front; the one before it takes its place, or an empty one."""
        tab = self.active
        async with world_failures():
            await tab.page.close()
        await self._drop_closed()

    async def crash(self) -> None:
        """Take the renderers away from pages that are too busy to be closed."""
        await asyncio.gather(*(tab.send("Page.crash") for tab in self._tabs))

    async def settle(self, milliseconds: int) -> list[str]:
        """Let the last action take its effect everywhere; return what there is to say about it."""
        tab = self.active
        notes = [await self._settle_front(milliseconds)]
        came_to_nothing = tab.requested and not tab.loading
        staying = await self.failures.explain_staying(tab) if came_to_nothing else ""
        if (came_to_nothing and not staying) or tab.downloads_announced:
            await self._await_offer()
        notes.append(staying)
        if not tab.is_closed and (tab.downloads_announced or self.failures.is_on_site):
            async with unless_closed(tab.page):
                await tab.hear_driver()
        notes.append(await self._adopt_popups(tab))
        await self._drop_closed()
        if self.downloads:
            await self.downloads.settle()
        if self._offers:
            await self._show_pdf()
        elif came_to_nothing:
            tab.requested = ""
        while self.active is not tab:
            tab = self.active
            notes.append(await self._settle_front(milliseconds))
            await self._drop_closed()
        notes.append(await self.failures.find(self.active))
        notes.extend(note for each in self._tabs for note in each.take_notes())
        offers, self._offers = self._offers, []
        notes.extend(self.downloads.take_notes() if self.downloads else ())
        for offer in () if self.downloads else offers:
            if is_pdf(offer) and any(offer.url in each.framed for each in self._tabs):
                shown = f"the page shows a PDF in a frame, {offer.url[:200]}"
                notes.append(f"{shown}; goto opens its text")
            else:
                name = safe_name(offer.suggested_filename)
                notes.append(f"the page offered a file ({name}), refused: none are kept here")
        notes.extend(self.guard.take_notes() if self.guard else ())
        notes.extend(self.replay.take_notes() if self.replay else ())
        self.failures.check_server()
        return [note for note in notes if note]

    async def _settle_front(self, milliseconds: int) -> str:
        """Let the tab in front come to rest, which may close itself meanwhile."""
        async with unless_closed(self.active.page):
            return await self.clock.settle(self.active, milliseconds)
        return ""

    async def _await_offer(self) -> None:
        """Wait for the file that came in place of a page: the browser tells of it a moment after
        the navigation has ended, and the driver a moment later."""
        self._offered.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(0 if self._offers else _OFFER_SECONDS):
                await self._offered.wait()

    async def _show_pdf(self) -> bool:
        """Show the text of a PDF that has come in place of the page that the tab in front was to
        open; return whether one is shown. Raises `WorldError`."""
        tab = self.active
        if not tab.requested or not self._offers or not is_pdf(self._offers[-1]):
            return False
        tab.requested, offer = "", self._offers[-1]
        kept = await self.downloads.find(offer.url) if self.downloads else None
        if self.downloads and kept is None:  # stopped, as it says itself
            return False
        self._offers.remove(offer)
        page = await write_pdf_page(offer, kept)
        if not offer.url.startswith("http"):  # a file or a blob, whose answers cannot be replaced
            await self.goto("about:blank")
            await tab.evaluate(f"(document.write({json.dumps(page)}), document.close())")
            return True

        async def answer(route: Route) -> None:
            await route.fulfill(body=page, content_type="text/html; charset=utf-8")

        async with world_failures():
            await tab.page.route(lambda url: True, answer, times=1)
        return not await self.goto(offer.url)

    async def titles(self, front: str) -> tuple[str, ...]:
        """Return titles of all tabs in order, or addresses; the one in front is known already."""
        titles = []
        for tab in self._tabs:
            if tab is self.active:
                titles.append(front)
            else:
                title = tab.dialogs.describe()
                async with unless_closed(tab.page):
                    title = title or await tab.ask("titleOf")
                titles.append(title or tab.url)
        return tuple(titles)

    def urls(self) -> tuple[str, ...]:
        """Return the addresses of all tabs in order."""
        return tuple(tab.url for tab in self._tabs)

    async def captcha(self) -> Captcha | None:
        """Return the captcha that the tab in front shows; none where no site has made the page."""
        is_from_site = self.active.url.startswith("http")
        answer = await self.active.ask("captchaOn") if is_from_site else None
        return Captcha(answer["kind"], answer["blocks"]) if answer else None

    async def lend_to_person(self, until: Awaitable[None]) -> None:
        """Let the page's time run while a person uses it, for as long as they like."""
        tab, is_virtual = self.active, isinstance(self.clock, VirtualClock)
        if is_virtual:
            await tab.send("Emulation.setVirtualTimePolicy", policy="advance")
        with uncounted():
            await until
        if is_virtual:
            await tab.send("Emulation.setVirtualTimePolicy", policy="pause")

    async def hold_dialogs(self) -> None:
        """Keep the dialogs of all tabs open from here on until they are answered."""
        self._holds_dialogs = True
        for tab in self._tabs:
            await tab.hold_dialogs()

    async def accept_certificates(self, hosts: Collection[str]) -> None:
        """Open pages of these hosts whatever their certificates are, in all tabs from here on."""
        self.failures.insecure = hosts
        logger.warning("THE CERTIFICATES OF %s ARE NOT CHECKED", ", ".join(hosts))
        for tab in self._tabs:
            await tab.accept_certificates(hosts)

    async def close_dialogs(self) -> None:
        """Dismiss what is open, so that the pages answer."""
        for tab in self._tabs:
            if tab.dialogs.open is not None:
                await tab.dialogs.answer(accept=False)

    async def blank_page(self) -> Page:
        """Return a new page of this context that is none of the tabs. Raises `WorldError`."""
        self._expects_own = True
        try:
            async with world_failures():
                return await self.context.new_page()
        finally:
            self._expects_own = False

    async def _adopt(self, page: Page, *, is_first: bool = False) -> None:
        """Put a page in front as a tab."""

        def note_offer(download: Download) -> None:
            self._offers.append(download)
            self._offered.set()
            if self.downloads is None and not is_pdf(download):
                self._cancelling = asyncio.ensure_future(ignore_closed(download.cancel()))

        page.on("download", note_offer)
        script = self.clock.script + self._init
        tab = await Tab.open(page, script, is_blank=is_first, devtools=self.devtools)
        await self.clock.follow(tab)
        if self.failures.insecure:
            await tab.accept_certificates(self.failures.insecure)
        self._tabs.append(tab)
        self._active = len(self._tabs) - 1

    async def _start_clock(self) -> None:
        """Begin the time of a tab that has just come to the front."""
        await self.clock.start(self.active)
        if self._holds_dialogs:
            await self.active.hold_dialogs()

    async def _adopt_popups(self, opener: Tab) -> str:
        """Make tabs of the windows that the page opens; return the reason when some were closed."""
        adopted = 0
        while opener.popups_announced or self._arrivals:
            if not self._arrivals and (reason := await self._await_window(opener)):
                return reason
            if adopted == _MOST_POPUPS:
                return await self._close_arrivals(opener)
            opener.popups_announced = max(0, opener.popups_announced - 1)
            page = self._arrivals.pop(0)
            if foreign := refuse_scheme(opener.popup_url):
                await page.close()
                opener.popup_url = ""
                opener.notes.append(foreign)
            elif page.url == "":
                await self._await_offer()
                await page.close()
                if self._offers and is_pdf(self._offers[-1]):
                    await self.new()
                    self.active.requested = self._offers[-1].url
            if not page.is_closed():
                async with unless_closed(page):
                    await self._adopt(page)
                    adopted += 1
                    if not await RealClock().load(self.active):
                        await self.active.stop_loading()
                    await self._start_clock()
        return ""

    async def _await_window(self, opener: Tab) -> str:
        """Wait for the window that the page has announced; return why it does not come up."""
        foreign, reason = refuse_scheme(opener.popup_url), ""
        try:
            async with asyncio.timeout(_FOREIGN_SECONDS if foreign else _POPUP_SECONDS):
                while not self._arrivals:
                    self._arrived.clear()
                    if reason := await self.failures.explain_absence(opener.popup_url):
                        break
                    await self._arrived.wait()
        except TimeoutError:
            where = f" at {opener.popup_url[:200]}" if opener.popup_url else ""
            reason = foreign or f"the page opened a window{where} that did not come up"
        if reason:
            opener.popups_announced = 0
        return reason

    async def _close_arrivals(self, opener: Tab) -> str:
        """Close all further windows of a page, which opens no more; return what there is to say."""
        with suppress(WorldError, TimeoutError):
            async with asyncio.timeout(_POPUP_SECONDS):
                await opener.evaluate("void (window.open = () => null)")
        pages, self._arrivals = self._arrivals, []
        opener.popups_announced = 0
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_POPUP_SECONDS):
                await asyncio.gather(*(page.close() for page in pages))
        return f"the page opened more than {_MOST_POPUPS} windows at once; the others were closed"

    async def _drop_closed(self) -> None:
        front = self.active
        self._tabs = [tab for tab in self._tabs if not tab.is_closed]
        if not self._tabs:
            await self.new()
        elif front in self._tabs:
            self._active = self._tabs.index(front)
        else:
            self._active = min(max(0, self._active - 1), len(self._tabs) - 1)
