"""The frames of one page: reading what is in them, and acting there."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame as PlaywrightFrame
from playwright.async_api import Page

from webagent.browser.devtools import ProtocolSession
from webagent.browser.page.connection import ISOLATED_WORLD, isolated_script, write_call
from webagent.observation import FramePath, PageView, insert_frames, number_marks, read_view

_GROUP = "webagent-shadows"


async def open_closed(session: ProtocolSession, context: int) -> bool:
    """Hand the closed shadow trees below the suspected hosts of a document to its isolated world.

    Return whether there were any. Raises Playwright's `Error` when the document goes meanwhile.
    """
    suspected = {"expression": "webagent.takeHollow()", "contextId": context, "objectGroup": _GROUP}
    found = await session.send("Runtime.evaluate", suspected)
    listed = {"objectId": found["result"]["objectId"], "ownProperties": True}
    properties = (await session.send("Runtime.getProperties", listed))["result"]
    hosts = [each["value"]["objectId"] for each in properties if each["name"].isdigit()]
    whole = {"depth": -1, "pierce": True}
    described = await asyncio.gather(
        *(session.send("DOM.describeNode", {"objectId": host, **whole}) for host in hosts)
    )
    closed: list[int] = []
    waiting = [answer["node"] for answer in described]
    while waiting:
        node = waiting.pop()
        roots = node.get("shadowRoots", [])
        closed += [root["backendNodeId"] for root in roots if root["shadowRootType"] == "closed"]
        waiting.extend((*roots, *node.get("children", [])))

    async def keep(root: int) -> None:
        wanted = {"backendNodeId": root, "executionContextId": context, "objectGroup": _GROUP}
        resolved = await session.send("DOM.resolveNode", wanted)
        function = "function () { webagent.keepShadow(this); }"
        call = {"objectId": resolved["object"]["objectId"], "functionDeclaration": function}
        await session.send("Runtime.callFunctionOn", call)

    await asyncio.gather(*map(keep, closed))
    await session.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
    return bool(closed)


FRAME_SECONDS = 1.0
"""How long a frame may take over one question; one that did not answer before gets a tenth."""
MOST_FRAMES = 60
"""Documents read in one look; those after them are said to show nothing."""
_POINTS = 12
"""Points of an element tried where something outside its frame may lie over some of them."""


@dataclass(slots=True, eq=False)
class FrameDocument:
    """Our isolated world in the document of one frame."""

    session: ProtocolSession
    context: int
    parent: "FrameDocument | None" = None
    """Where the frame stands; None for the top document."""
    key: int = 0
    """The frame's number in its parent."""
    unsent_marks: dict[int, int] = field(default_factory=dict)
    """Marks given to its elements and not sent to it yet, by provisional number."""
    is_silent: bool = False
    is_rendered: bool = False
    """Whether the browser is known to know where it lies, so that it receives the mouse."""


class FrameHost(Protocol):
    """The tab whose top document the frames lie in."""

    page: Page

    async def ask(self, function: str, *arguments: Any) -> Any:
        """Call one of our functions in the top document."""


class Frames:
    """All documents below the top one, of this process and of others.

    A frame that hangs, goes or crashes costs what is in it, and at most `FRAME_SECONDS`.
    """

    def __init__(self, tab: FrameHost) -> None:
        self._tab = tab
        self._documents: dict[tuple[ProtocolSession, int], FrameDocument] = {}
        self._holders: dict[int, FrameDocument] = {}
        self.next_mark = 1
        """The first number that no element of a frame has."""
        self._sessions: dict[PlaywrightFrame, ProtocolSession] = {}
        self._follow_session: Callable[[ProtocolSession], Awaitable[None]] | None = None
        self._without_own: dict[PlaywrightFrame, str] = {}
        """Frames of the page's own process, by what they showed when that was found out."""

    def created(self, session: ProtocolSession, context: Mapping[str, Any]) -> None:
        """Note that an execution context has begun in a frame."""
        if context["name"] == ISOLATED_WORLD:
            self._documents[session, context["id"]] = FrameDocument(session, context["id"])

    def destroyed(self, session: ProtocolSession, context: int) -> None:
        """Note that an execution context has ended."""
        self._documents.pop((session, context), None)

    def cleared(self, session: ProtocolSession) -> None:
        """Note that all execution contexts of a session have ended."""
        kept = {key: each for key, each in self._documents.items() if key[0] is not session}
        self._documents = kept

    async def fill(self, page: PageView, options: Mapping[str, Any]) -> PageView:
        """Return the page with what its frames show, given the options that it was read with.

        All known frames are read at once, then those of other processes that are new.
        """
        seen: dict[FramePath, PageView | str] = {}
        documents: dict[FramePath, FrameDocument] = {}
        options = {**options, "firstMark": 0, "within": [hole.index for hole in page.holes]}
        read = set[FrameDocument]()
        next_mark = page.next_mark
        for _ in range(2):
            new = [each for each in self._documents.values() if each not in read][:MOST_FRAMES]
            read.update(new)
            views = await asyncio.gather(*(self._look(document, options) for document in new))
            found = [(view, each) for view, each in zip(views, new, strict=True) if view]
            for view, document in sorted(found, key=lambda each: each[0].path):
                seen[view.path], numbers = number_marks(view, next_mark)
                documents[view.path] = document
                next_mark += len(numbers)
                document.unsent_marks.update(numbers)
                self._holders.update(dict.fromkeys(numbers.values(), document))
            known = [page, *(view for view in seen.values() if isinstance(view, PageView))]
            are_all_seen = all((*v.path, hole.index) in seen for v in known for hole in v.holes)
            if are_all_seen:
                break
            # Frames in processes of their own that are not followed yet.
            frames = [
                frame
                for frame in self._tab.page.frames
                if frame.parent_frame is not None
                and frame not in self._sessions
                and self._without_own.get(frame) != frame.url
            ]
            if not any(await asyncio.gather(*map(self._open, frames))):
                break
        self._join(page, None, seen, documents)
        self.next_mark = next_mark
        return replace(insert_frames(page, seen), next_mark=next_mark)

    async def tell(self) -> None:
        """Have the frames know the numbers of their elements, as they are before the next look."""
        waiting = [document for document in self._documents.values() if document.unsent_marks]
        await asyncio.gather(*(self._call(document, "titleOf") for document in waiting))

    async def ask(self, mark: int, function: str, *arguments: Any) -> Any:
        """Call one of our functions on the element of this mark, in the document it is in."""
        document = self._holder(mark)
        if document is None:
            return await self._tab.ask(function, mark, *arguments)
        more = (_POINTS,) if function == "locate" else arguments
        answer = await self._call(document, function, mark, *more)
        if isinstance(answer, dict) and answer.get("mark", 0) < 0:
            # An element that was found between two looks.
            given, self.next_mark = self.next_mark, self.next_mark + 1
            document.unsent_marks[answer["mark"]] = given
            self._holders[given] = document
            return {**answer, "mark": given}
        if function not in ("locate", "middleOf"):
            return answer
        inner: FrameDocument | None = document
        while inner is not None:
            if not inner.is_rendered and inner.session in self._sessions.values():
                for _ in range(2):
                    await self._call(inner, "nextFrame")
            inner.is_rendered = True
            inner = inner.parent
        return await self._outward(mark, document, answer, is_anywhere=function == "middleOf")

    async def ask_all(self, function: str) -> list[Any]:
        """Return what one of our functions without arguments answers in each frame."""
        documents = list(self._documents.values())
        return await asyncio.gather(*(self._call(document, function) for document in documents))

    async def follow_sessions(self, follow: Callable[[ProtocolSession], Awaitable[None]]) -> None:
        """Do this with every session of a frame in another process, now and later."""
        self._follow_session = follow
        await asyncio.gather(*map(follow, self._sessions.values()))

    def mark_in(self, session: ProtocolSession, context: int, mark: int) -> int:
        """Return the number of an element, by the one that its frame knows it by so far."""
        document = self._documents.get((session, context))
        return mark if document is None or mark >= 0 else document.unsent_marks.get(mark, 0)

    def place_of(self, mark: int) -> tuple[ProtocolSession, int] | None:
        """Return session and context of the frame with this element; None for the top document."""
        document = self._holder(mark)
        return (document.session, document.context) if document is not None else None

    def _holder(self, mark: int) -> FrameDocument | None:
        document = self._holders.get(mark)
        return document if document in self._documents.values() else None

    def _join(
        self,
        page: PageView,
        parent: FrameDocument | None,
        seen: dict[FramePath, PageView | str],
        documents: Mapping[FramePath, FrameDocument],
    ) -> None:
        """Note in which document each frame stands, and which of them were not heard of."""
        for hole in page.holes:
            path = (*page.path, hole.index)
            document, view = documents.get(path), seen.get(path)
            if document is not None and isinstance(view, PageView):
                document.parent, document.key = parent, hole.key
                self._join(view, document, seen, documents)
            elif any(each.is_silent for each in self._documents.values()):
                seen[path] = "does not answer"

    async def _look(self, document: FrameDocument, options: Mapping[str, Any]) -> PageView | None:
        """Return what a frame shows, its closed shadow trees included; None without an answer."""
        answer = await self._call(document, "observe", options)
        view = read_view(answer) if isinstance(answer, str) else None
        if view is None or not view.hollow:
            return view
        try:
            async with asyncio.timeout(FRAME_SECONDS):
                if not await open_closed(document.session, document.context):
                    return view
        except (PlaywrightError, TimeoutError):
            return view
        answer = await self._call(document, "observe", {**options, "again": True})
        return read_view(answer) if isinstance(answer, str) else None

    async def _call(self, document: FrameDocument, function: str, *arguments: Any) -> Any:
        """Return the answer of a frame; an error that says so where there is none."""
        numbers = list(document.unsent_marks.items())
        call = f"{write_call('adopt', [numbers])}, {write_call(function, arguments)}"
        where = {"contextId": document.context, "returnByValue": True, "awaitPromise": True}
        failure = {"error": "the frame does not answer"}
        try:
            async with asyncio.timeout(FRAME_SECONDS / 10 if document.is_silent else FRAME_SECONDS):
                answer = await document.session.send(
                    "Runtime.evaluate", {"expression": call, **where}
                )
        except TimeoutError:
            document.is_silent = True
            return failure
        except PlaywrightError:
            self.destroyed(document.session, document.context)
            return failure
        document.is_silent = False
        if "exceptionDetails" in answer:
            return failure
        for provisional, _ in numbers:
            document.unsent_marks.pop(provisional, None)
        return answer["result"].get("value")

    async def _outward(
        self, mark: int, document: FrameDocument, place: dict[str, Any], is_anywhere: bool
    ) -> dict[str, Any]:
        """Return a place in a frame as a place in the top document, through every frame between."""
        if "x" not in place:
            return place
        points = place.get("points") or [place]
        inner: FrameDocument | None = document
        while inner is not None and points:
            arguments = (inner.key, points, is_anywhere)
            if inner.parent is None:
                answer = await self._tab.ask("throughFrame", *arguments)
            else:
                answer = await self._call(inner.parent, "throughFrame", *arguments)
            if "error" in answer:
                return {"error": f"element {mark} {answer['error']}"}
            points, inner = answer["points"], inner.parent
        first: dict[str, Any] = points[0]
        return first

    async def _open(self, frame: PlaywrightFrame) -> bool:
        """Open a session for a frame; return whether it has a process of its own."""

        def forget(session: ProtocolSession) -> None:
            self.cleared(session)
            self._sessions.pop(frame, None)

        try:
            async with asyncio.timeout(FRAME_SECONDS):
                session = await self._tab.page.context.new_cdp_session(frame)
                self._sessions[frame] = session
                session.on(
                    "Runtime.executionContextCreated",
                    lambda event: self.created(session, event["context"]),
                )
                session.on(
                    "Runtime.executionContextDestroyed",
                    lambda event: self.destroyed(session, event["executionContextId"]),
                )
                session.on("Runtime.executionContextsCleared", lambda _: self.cleared(session))
                session.on("close", lambda _: forget(session))
                # Without the script for the page's own world, which has begun already.
                script = {"source": isolated_script(), "worldName": ISOLATED_WORLD}
                await asyncio.gather(
                    session.send("Page.enable"),
                    session.send("Runtime.enable"),
                    session.send(
                        "Page.addScriptToEvaluateOnNewDocument", {**script, "runImmediately": True}
                    ),
                )
                if self._follow_session is not None:
                    await self._follow_session(session)
        except (PlaywrightError, TimeoutError):
            self._without_own[frame] = frame.url
            return False
        return True
