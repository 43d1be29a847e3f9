"""One tab: a page with the scripts that run in it and what it reports by itself."""

import asyncio
import base64
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import CDPSession, Page

from webagent.action.actions import Button
from webagent.browser.devtools import DevTools, ProtocolSession
from webagent.browser.page.connection import (
    ISOLATED_WORLD,
    Dialogs,
    PageConnection,
    Result,
    isolated_script,
    reporting_script,
    world_failures,
)
from webagent.browser.page.frames import Frames, open_closed
from webagent.errors import WorldError
from webagent.observation import PageView, read_view


@dataclass(frozen=True, slots=True)
class FileChooser:
    """A request for files that waits for its answer."""

    field: int
    """The browser's number of the file field."""
    takes: str
    """`one` or `several`."""

    def describe(self) -> str:
        """Return the note for the agent."""
        several = "files" if self.takes == "several" else "a file"
        return f"the page asks for {several}; give {several} with upload_file(0, path)"


DRAG_SECONDS = 2.0
"""How long the browser may take to hand over a native drag."""


class NativeDrags:
    """What is being dragged on one page, once the page has let a native drag begin."""

    def __init__(self, connection: PageConnection) -> None:
        self._connection = connection
        self._taken: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def intercept(self) -> None:
        """Have the browser hand native drags over from here on."""
        self._connection.on(
            "Input.dragIntercepted", lambda event: self._taken.put_nowait(event["data"])
        )
        await self._connection.send("Input.setInterceptDrags", enabled=True)

    @property
    def has_begun(self) -> bool:
        """Return whether the browser has taken over a drag that began with the mouse."""
        return not self._taken.empty()

    async def data(self) -> dict[str, Any] | None:
        """Return what the drag that has just begun carries; None when the browser says nothing."""
        try:
            async with asyncio.timeout(DRAG_SECONDS):
                return await self._connection.alive(self._taken.get())
        except TimeoutError:
            return None

    def forget(self) -> None:
        """Forget what was dragged before and never dropped."""
        while self.has_begun:
            self._taken.get_nowait()


DATA_SECONDS = 10.0
"""How long a page may wait for its data before the episode goes on without it."""
FRAME_SECONDS = 1.0
"""How long a page may take to draw its next frame; one that draws none has nothing to hear of."""
_STARVED_TASKS = 100
"""So many tasks may run in one moment before virtual time goes on regardless."""
_COPYING = {"permission": {"name": "clipboard-write"}, "setting": "granted"}
"""Granted, as a browser does by itself where a person clicks "Copy"."""
_MOST_ARRIVALS = 10
"""Documents in a row, each in place of the one before; a log-in at another site needs five."""
_MOST_FRAMED = 20
_BETWEEN_PAGES = "Not attached to an active page"
_UNDRAWN = "Unable to capture screenshot"
"""Said of a window that has only just opened."""


class Tab:
    """A page to read and to act on; what it reports by itself is kept for the step.

    Every method raises `WorldError` when the page crashed, was closed or does not answer.
    """

    def __init__(self, page: Page, cdp: ProtocolSession, driver: CDPSession) -> None:
        self.page = page
        self._driver = driver
        self.notes: list[str] = []
        """What happened without being asked for, such as a dialog; read and emptied each step."""
        self.url = page.url
        """The address of the top document."""
        self.unreachable = ""
        """The address that the browser shows an error for in place of a document."""
        self.failure = ""
        """The browser's reason for that, or for the end of the document being missing."""
        self.has_arrived = False
        """Whether a document has come since this was last looked at."""
        self.arrivals = 0
        """How many documents have come since the page was last given time."""
        self.requested = ""
        """The address of the document that is on its way; empty once it has come."""
        self.unanswered = ""
        """The address that gave no answer until loading was stopped; read and emptied each step."""
        self.loading = False
        self.loading_changed = asyncio.Event()
        self.popups_announced = 0
        self.popup_url = ""
        """The address of the window that was announced last."""
        self.downloads_announced = 0
        self.framed: deque[str] = deque(maxlen=_MOST_FRAMED)
        """Addresses that frames of the page were last led to."""
        self.dialogs = Dialogs(page)
        self.chooser: FileChooser | None = None
        """What the page's request for files is answered through."""
        self.modifiers = 0
        """Bits of the modifier keys that are held: 1 Alt, 2 Control, 4 Meta, 8 Shift."""
        self.pressed: Button | None = None
        """The mouse button that is held."""
        self.mouse: tuple[float, float] | None = None
        """Where the mouse was last put, in CSS pixels of the viewport."""
        self._connection = PageConnection(page, cdp, self.dialogs)
        self._judging: asyncio.Future[dict[str, Any]] | None = None
        self.drags = NativeDrags(self._connection)
        self._expired = asyncio.Event()
        self._held_since: float | None = None
        self._let_pass = 0.0
        """Seconds of virtual time, at most, since it was first held."""
        self.frame = ""
        """The browser's name of the top document's frame."""
        self._frames = Frames(self)

    @classmethod
    async def open(
        cls,
        page: Page,
        main_world: str = "",
        *,
        is_blank: bool = False,
        devtools: DevTools | None = None,
    ) -> "Tab":
        """Take over a page: from here on its documents carry our scripts, and `main_world` in the
        page's own world. A blank page that is about to be left goes without. Without `devtools`
        all that is asked of the page goes through the driver."""
        script, now = "Page.addScriptToEvaluateOnNewDocument", not is_blank
        main = reporting_script() + main_world
        async with world_failures():
            cdp: ProtocolSession = (driver := await page.context.new_cdp_session(page))
            if devtools is not None:
                target = (await driver.send("Target.getTargetInfo"))["targetInfo"]
                cdp = await devtools.attach(target["targetId"])
            tab = cls(page, cdp, driver)
            top = (await tab.send("Page.getFrameTree"))["frameTree"]["frame"]
            tab.frame = top["id"]
            tab._arrive(top)
            tab._listen()
            requests = [
                tab.send("Page.enable"),
                tab.send("Runtime.enable"),
                tab.drags.intercept(),
                tab.send("Page.setInterceptFileChooserDialog", enabled=True),
                tab.send(
                    script, source=isolated_script(), worldName=ISOLATED_WORLD, runImmediately=now
                ),
                tab.send(script, source=main, runImmediately=now),
            ]
            if devtools is not None and is_blank:
                place = {"browserContextId": target["browserContextId"]}
                requests.append(devtools.send("Browser.setPermission", _COPYING | place))
            await asyncio.gather(*requests)
        return tab

    @property
    def is_closed(self) -> bool:
        """Return whether the page is closed, whoever heard of it first."""
        return self._connection.is_closed

    @property
    def is_restless(self) -> bool:
        """Return whether the page goes on replacing itself, so that no rest is to be waited for."""
        return self.arrivals > _MOST_ARRIVALS

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command of the DevTools protocol and return its answer."""
        return await self._connection.send(method, **params)

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        """Listen to an event of the DevTools protocol."""
        self._connection.on(event, handler)

    async def alive(self, work: Awaitable[Result]) -> Result:
        """Return the result of the work, unless the page dies or hangs first."""
        return await self._connection.alive(work)

    async def evaluate(self, expression: str) -> Any:
        """Return the JSON value of an expression in the page's own world."""
        return await self._connection.evaluate(expression)

    async def ask(self, function: str, *arguments: Any) -> Any:
        """Call one of our functions in the top document; waits out navigations."""
        return await self._connection.ask(function, *arguments)

    async def ask_now(self, function: str, *arguments: Any) -> Any:
        """As `ask`, but None where the page is just being replaced."""
        return await self._connection.ask_now(function, *arguments)

    async def ask_for_elements(self, function: str, *arguments: Any) -> tuple[str, list[int]]:
        """As `ask`; return the text and the backend node ids of the elements that follow it."""
        return await self._connection.ask_for_elements(function, *arguments)

    async def ask_about(self, mark: int, function: str, *arguments: Any) -> Any:
        """As `ask`, of the element with this mark, in whatever frame it is."""
        return await self._frames.ask(mark, function, *arguments)

    async def follow_sessions(self, follow: Callable[[ProtocolSession], Awaitable[None]]) -> None:
        """Do this with every session that documents of the page are reached by, now and later."""
        await follow(self._connection.cdp)
        await self._frames.follow_sessions(follow)

    def mark_in(self, session: ProtocolSession, context: int, mark: int) -> int:
        """Return the number of an element, by the one that its document knows it by so far."""
        return self._frames.mark_in(session, context, mark)

    async def tell_frames(self) -> None:
        """Have frames know their marks, for a function that looks into several documents."""
        await self._frames.tell()

    async def view(self, **options: Any) -> PageView:
        """Return what the page and its frames show; see `observe` in observe.js for options."""
        options |= {
            "firstMark": max(options["firstMark"], self._frames.next_mark),
            "mouse": self.mouse,
        }
        view = read_view(await self.ask("observe", options))
        if view.hollow and self._connection.context is not None:
            async with world_failures():
                opened = await self.alive(
                    open_closed(self._connection.cdp, self._connection.context)
                )
            options |= {"again": True}
            view = read_view(await self.ask("observe", options)) if opened else view
        return await self._frames.fill(view, options) if view.holes else view

    async def hear_driver(self) -> None:
        """Wait until the driver has reported all that it had from the browser: downloads and
        responses are noted from there, and come by another way than the page's own answers."""
        self.downloads_announced = 0
        async with world_failures():
            await self.alive(self._driver.send("Target.getTargetInfo"))

    async def hold_dialogs(self) -> None:
        """Keep dialogs open from here on until they are answered. A driver that has not heard of it
        yet would answer the next one by itself."""
        self.dialogs.hold()
        await self.hear_driver()

    async def accept_certificates(self, hosts: Collection[str]) -> None:
        """Open pages of these hosts whatever their certificates are, from here on."""

        def judge(event: dict[str, Any]) -> None:
            is_accepted = urlsplit(event["requestURL"]).hostname in hosts
            action = "continue" if is_accepted else "cancel"
            if not is_accepted:
                self.notes.append(f"{event['requestURL'][:200]}: {event['errorType']}")
            method = "Security.handleCertificateError"
            self._judging = asyncio.ensure_future(
                self.send(method, eventId=event["eventId"], action=action)
            )

        self.on("Security.certificateError", judge)
        await self.send("Security.enable")
        await self.send("Security.setOverrideCertificateErrors", override=True)
        if urlsplit(self.unreachable).hostname in hosts:  # a pop-up had been refused before
            await self.goto(self.unreachable)

    async def goto(self, url: str) -> str:
        """Begin to open an address; return the reason when the browser cannot."""
        self._set_loading(True)
        self.arrivals = 0
        answer = await self.send("Page.navigate", url=url)
        failure = str(answer.get("errorText", ""))
        if failure:
            failure = "; ".join([failure, *self.notes])
            self._set_loading(False)
        return f"cannot open {url}: {failure}" if failure else ""

    async def stop_loading(self) -> None:
        """Have the page as far as it has come, as with a browser's stop button."""
        self.unanswered, self.requested = self.requested, ""
        try:
            await self.send("Page.stopLoading")
        except WorldError as error:
            if _BETWEEN_PAGES not in str(error):
                raise
        self._set_loading(False)

    async def go_in_history(self, offset: int) -> str:
        """Begin to go so many pages forward; return the reason when there is no such page."""
        try:
            history = await self.send("Page.getNavigationHistory")
            index = history["currentIndex"] + offset
            if not 0 <= index < len(history["entries"]):
                return "there is no page to go to in that direction"
            await self.send("Page.navigateToHistoryEntry", entryId=history["entries"][index]["id"])
        except WorldError as error:
            if _BETWEEN_PAGES not in str(error):
                raise
            return "the page was just being replaced"
        return ""

    async def upload(self, mark: int, paths: Sequence[str]) -> str:
        """Put files into a file field; return the reason when it is not one."""
        top = (self._connection.cdp, self._connection.context)
        session, context = self._frames.place_of(mark) or top
        field = {"expression": f"webagent.fileField({mark})", "contextId": context}
        async with world_failures():
            answer = await self.alive(session.send("Runtime.evaluate", field))
            found = answer["result"].get("objectId")
            if found is None:
                return f"element {mark} is not a file field"
            files = {"files": list(paths), "objectId": found}
            await self.alive(session.send("DOM.setFileInputFiles", files))
        return ""

    async def answer_chooser(self, paths: Sequence[str]) -> str:
        """Give files to the page that asked for them; return the reason when it no longer asks."""
        chooser, self.chooser = self.chooser, None
        if chooser is None:
            return "nothing on the page asks for a file"
        self.notes = [note for note in self.notes if note != chooser.describe()]
        try:
            await self.send("DOM.setFileInputFiles", files=list(paths), backendNodeId=chooser.field)
        except WorldError:
            if self.is_closed:
                raise
            return "the field that asked for a file is gone"
        return ""

    async def remind_of_mouse(self, *, takes_text: bool = True) -> None:
        """Tell the page where the mouse is. When something else has come to lie there, the browser
        does so by itself with some later frame; nothing must depend on when that is. A page that
        draws no frame in time hears of it later.

        A move waits for a frame, but for what is typed after it the browser hurries: where the page
        takes no text, typing none is the way not to wait.
        """
        if self.mouse is None or self.pressed is not None:
            return
        x, y = self.mouse
        where = {"x": x, "y": y, "modifiers": self.modifiers}
        sent: list[Awaitable[Any]] = [
            self.do_input("Input.dispatchMouseEvent", type="mouseMoved", **where)
        ]
        if not takes_text:
            sent.append(self.send("Input.insertText", text=""))
        with suppress(TimeoutError):
            async with asyncio.timeout(FRAME_SECONDS):
                await asyncio.gather(*sent)

    async def do_input(self, method: str, **parameters: Any) -> None:
        """Send an input event of the mouse or the keyboard, at the page's own time.

        Where virtual time has run ahead of the wall clock, an event of now would be older than a
        page that has been opened since; when such an event leads to another address in the same
        document, Chromium's renderer crashes.
        """
        if self._held_since is not None:
            parameters["timestamp"] = max(time.time(), self._held_since + self._let_pass)
        await self.send(method, **parameters)

    async def hold_time(self, start: float) -> None:
        """Begin virtual time, at so many seconds since 1970, and let it stand still."""
        if self._held_since is None:
            self._held_since = time.time()
        await self.send("Emulation.setVirtualTimePolicy", policy="pause", initialVirtualTime=start)

    async def drag_has_started(self) -> bool:
        """Return whether the page or one of its frames began a native drag and let it go on."""
        answers = [await self.ask("dragHasStarted"), *await self._frames.ask_all("dragHasStarted")]
        return any(answer is True for answer in answers)

    async def next_frame(self) -> None:
        """Wait until the page has heard of scrolling and of ended animations; not for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FRAME_SECONDS):
                await self.ask("nextFrame")

    async def screenshot(self) -> bytes:
        """Return the viewport as PNG."""
        try:
            answer = await self.send("Page.captureScreenshot", format="png", optimizeForSpeed=True)
        except WorldError as error:
            if _UNDRAWN not in str(error):
                raise
            await self.next_frame()
            answer = await self.send("Page.captureScreenshot", format="png", optimizeForSpeed=True)
        return base64.b64decode(answer["data"])

    async def print_page(self) -> bytes:
        """Return the page as PDF, backgrounds included. Raises `WorldError`."""
        answer = await self.send("Page.printToPDF", printBackground=True)
        return base64.b64decode(answer["data"])

    def take_notes(self) -> list[str]:
        """Return the notes so far, which are then forgotten."""
        notes, self.notes = self.notes, []
        return notes

    async def advance(
        self, milliseconds: int, *, waits: bool = True, within: float | None = None
    ) -> bool:
        """Let virtual time run and stand still again; False when the page waits for data.

        It waits so for `within` seconds, `DATA_SECONDS` by default; not at all unless `waits`.
        While a navigation waits for its server the browser does not even take the command.
        """
        self._expired.clear()
        self._let_pass += milliseconds / 1000
        try:
            async with asyncio.timeout(DATA_SECONDS if within is None else within):
                await self.send(
                    "Emulation.setVirtualTimePolicy",
                    policy="pauseIfNetworkFetchesPending" if waits else "advance",
                    budget=max(1, milliseconds),
                    maxVirtualTimeTaskStarvationCount=0 if waits else _STARVED_TASKS,
                )
                await self.alive(self._expired.wait())
        except TimeoutError:
            return False
        return True

    def _listen(self) -> None:
        """Register for what the page reports by itself."""
        session = self._connection.cdp

        def begin_context(event: dict[str, Any]) -> None:
            context = event["context"]
            if context["auxData"]["frameId"] != self.frame:
                self._frames.created(session, context)
            else:
                self._connection.created(context)

        def clear_contexts(_event: dict[str, Any]) -> None:
            self._connection.cleared()
            self._frames.cleared(session)

        def note_dialog(event: dict[str, Any]) -> None:
            if event["type"] != "beforeunload" and not self.dialogs.are_held:
                kind, message = event["type"], event["message"]
                self.notes.append(f"the page opened a dialog ({kind}), dismissed: {message}")

        def note_chooser(event: dict[str, Any]) -> None:
            field = event.get("backendNodeId")
            takes = "several" if event["mode"] == "selectMultiple" else "one"
            self.chooser = FileChooser(field, takes) if field else None
            unanswerable = "the page asks for a file in a way that cannot be answered"
            self.notes.append(self.chooser.describe() if self.chooser else unanswerable)

        self.on("Runtime.executionContextCreated", begin_context)
        self.on(
            "Runtime.executionContextDestroyed",
            lambda event: self._frames.destroyed(session, event["executionContextId"]),
        )
        self.on("Runtime.executionContextsCleared", clear_contexts)
        self.on("Emulation.virtualTimeBudgetExpired", lambda _: self._expired.set())
        self.on("Page.javascriptDialogOpening", note_dialog)
        self.on("Page.fileChooserOpened", note_chooser)

        def count_download(_event: dict[str, Any]) -> None:
            self.downloads_announced += 1

        self.on("Page.windowOpen", self._count_popup)
        self.on("Page.downloadWillBegin", count_download)
        self._follow_loading()
        self._follow_questions()

    def _count_popup(self, event: dict[str, Any]) -> None:
        self.popups_announced += 1
        self.popup_url = str(event.get("url", ""))

    def _follow_loading(self) -> None:
        """Set `loading` and `url` as the top document's navigations begin and end."""

        def begin(event: dict[str, Any]) -> None:
            if event.get("disposition") in ("newTab", "newWindow"):
                # By a click with Control or Shift: nothing loads here, and no windowOpen follows.
                self._count_popup(event)
            elif event["frameId"] == self.frame and event.get("navigationType") != "sameDocument":
                self._set_loading(True)
                self.requested = event.get("url", self.requested)
            elif "url" in event:
                self.framed.append(event["url"])

        def end(event: dict[str, Any]) -> None:
            if event["frameId"] == self.frame:
                if "url" in event:
                    self.url, self.requested = event["url"], ""
                self._set_loading(False)

        self.on("Page.frameNavigated", lambda event: self._arrive(event["frame"]))
        for event in ("frameRequestedNavigation", "frameStartedNavigating", "frameStartedLoading"):
            self.on(f"Page.{event}", begin)
        for event in ("frameStoppedLoading", "navigatedWithinDocument"):
            self.on(f"Page.{event}", end)

    def _arrive(self, frame: Mapping[str, Any]) -> None:
        if frame["id"] == self.frame:
            self.url = frame["url"] + frame.get("urlFragment", "")
            self.unreachable, self.requested = frame.get("unreachableUrl", ""), ""
            self.failure, self.has_arrived = "", True
            self.arrivals += 1
            if self.is_restless:
                self._expired.set()

    def _follow_questions(self) -> None:
        """Forget dialogs as they close, and with "stay here" the navigation that had asked: the
        browser reports no end of one that it never began."""
        asks_to_leave = False

        def opened(event: dict[str, Any]) -> None:
            nonlocal asks_to_leave
            asks_to_leave = event["type"] == "beforeunload"

        def closed(event: dict[str, Any]) -> None:
            self.dialogs.closed()
            if asks_to_leave and not event["result"]:
                self._set_loading(False)

        self.on("Page.javascriptDialogOpening", opened)
        self.on("Page.javascriptDialogClosed", closed)

    def _set_loading(self, loading: bool) -> None:
        self.loading = loading
        self.loading_changed.set()
