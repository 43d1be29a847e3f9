"""The frames of one page: reading what is in them, and acting there."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame as PlaywrightFrame

from webagent.browser.page.scripts import ISOLATED_WORLD, isolated_script
from webagent.observation import FramePath, PageView, insert_frames, number_marks, read_view

_GROUP = "webagent-shadows"


async def open_closed(session: CDPSession, context: int) -> bool:
    """Hand the closed shadow trees below the suspected hosts of a document to its isolated world.

    Whether there were any. Raises Playwright's `Error` when the document goes meanwhile.
    """
    suspected = {"expression": "webagent.takeHollow()", "contextId": context, "objectGroup": _GROUP}
    found = await session.send("Runtime.evaluate", suspected)
    listed = {"objectId": found["result"]["objectId"], "ownProperties": True}
    properties = (await session.send("Runtime.getProperties", listed))["result"]
    hosts = [each["value"]["objectId"] for each in properties if each["name"].isdigit()]
    described = await asyncio.gather(*(_describe(session, host) for host in hosts))
    roots = [root for node in described for root in _closed(node)]
    await asyncio.gather(*(_keep(session, context, root) for root in roots))
    await session.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
    return bool(roots)


async def _describe(session: CDPSession, host: str) -> dict[str, Any]:
    whole = {"objectId": host, "depth": -1, "pierce": True}
    node: dict[str, Any] = (await session.send("DOM.describeNode", whole))["node"]
    return node


def _closed(node: dict[str, Any]) -> Iterator[int]:
    """Yield the browser's numbers of the closed roots at or below a node."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        roots = node.get("shadowRoots", [])
        yield from (root["backendNodeId"] for root in roots if root["shadowRootType"] == "closed")
        waiting.extend((*roots, *node.get("children", [])))


async def _keep(session: CDPSession, context: int, root: int) -> None:
    wanted = {"backendNodeId": root, "executionContextId": context, "objectGroup": _GROUP}
    found = await session.send("DOM.resolveNode", wanted)
    call = {
        "objectId": found["object"]["objectId"],
        "functionDeclaration": "function () { webagent.keepShadow(this); }",
    }
    await session.send("Runtime.callFunctionOn", call)


FRAME_SECONDS = 1.0
"""How long a frame may take over one question; one that did not answer before gets a tenth."""
MOST_FRAMES = 60
"""Documents read in one look; those after them are said to show nothing."""
_POINTS = 12
"""Points of an element tried where something outside its frame may lie over some of them."""
_SILENT = "does not answer"


@dataclass(slots=True, eq=False)
class FrameDocument:
    """Our isolated world in the document of one frame."""

    session: CDPSession
    context: int
    frame: str
    parent: "FrameDocument | None" = None
    """Where the frame stands; None for the top document."""
    key: int = 0
    """The frame's number in its parent."""
    untold: dict[int, int] = field(default_factory=dict)
    """Marks given to its elements that it has not been told of yet, by provisional number."""
    is_silent: bool = False
    is_drawn: bool = False
    """Whether the browser surely knows where it lies, so that the mouse is told to it."""


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
        self._realms: dict[tuple[CDPSession, int], FrameDocument] = {}
        self._holders: dict[int, FrameDocument] = {}
        self.next_mark = 1
        """The first number that no element of a frame has."""
        self._sessions: dict[PlaywrightFrame, CDPSession] = {}
        self._follow_session: Callable[[CDPSession], Awaitable[None]] | None = None
        self._without_own: dict[PlaywrightFrame, str] = {}
        """Frames of the page's own process, by what they showed when that was found out."""

    def created(self, session: CDPSession, context: Mapping[str, Any]) -> None:
        """Note that an execution context has begun in a frame."""
        if context["name"] == ISOLATED_WORLD:
            realm = FrameDocument(session, context["id"], context["auxData"]["frameId"])
            self._realms[session, realm.context] = realm

    def destroyed(self, session: CDPSession, context: int) -> None:
        """Note that an execution context has ended."""
        self._realms.pop((session, context), None)

    def cleared(self, session: CDPSession) -> None:
        """Note that all execution contexts of a session have ended."""
        self._realms = {key: realm for key, realm in self._realms.items() if key[0] is not session}

    async def fill(self, page: PageView, options: Mapping[str, Any]) -> PageView:
        """Return the page with what its frames show. The options are those of the page's own
        look."""
        seen: dict[FramePath, PageView | str] = {}
        realms: dict[FramePath, FrameDocument] = {}
        options = {**options, "firstMark": 0, "within": [hole.index for hole in page.holes]}
        next_mark = await self._read(page, options, seen, realms)
        self._join(page, None, seen, realms)
        self.next_mark = next_mark
        return replace(insert_frames(page, seen), next_mark=next_mark)

    async def tell(self) -> None:
        """Have the frames know the numbers of their elements, as they are before the next look."""
        untold = [realm for realm in self._realms.values() if realm.untold]
        await asyncio.gather(*(self._call(realm, "titleOf") for realm in untold))

    async def ask(self, mark: int, function: str, *arguments: Any) -> Any:
        """Call one of our functions on the element of this mark, in the document it is in."""
        realm = self._holder(mark)
        if realm is None:
            return await self._tab.ask(function, mark, *arguments)
        more = (_POINTS,) if function == "locate" else arguments
        answer = await self._call(realm, function, mark, *more)
        if isinstance(answer, dict) and answer.get("mark", 0) < 0:
            return {**answer, "mark": self._give_mark(realm, answer["mark"])}
        if function in ("locate", "middleOf"):
            inner: FrameDocument | None = realm
            while inner is not None:
                if not inner.is_drawn and inner.session in self._sessions.values():
                    for _ in range(2):
                        await self._call(inner, "nextFrame")
                inner.is_drawn = True
                inner = inner.parent
            return await self._outward(mark, realm, answer, is_anywhere=function == "middleOf")
        return answer

    async def ask_all(self, function: str) -> list[Any]:
        """Return what one of our functions without arguments answers in each frame."""
        realms = list(self._realms.values())
        return await asyncio.gather(*(self._call(realm, function) for realm in realms))

    async def follow_sessions(self, follow: Callable[[CDPSession], Awaitable[None]]) -> None:
        """Do this with every session of a frame in another process, now and later."""
        self._follow_session = follow
        await asyncio.gather(*map(follow, self._sessions.values()))

    def mark_in(self, session: CDPSession, context: int, mark: int) -> int:
        """Return the number of an element, by the one that its frame knows it by so far."""
        realm = self._realms.get((session, context))
        if realm is None or mark >= 0:
            return mark
        return realm.untold.get(mark, 0)

    def place_of(self, mark: int) -> tuple[CDPSession, int] | None:
        """Return session and context of the frame that holds an element; None for the top
        document."""
        realm = self._holder(mark)
        return (realm.session, realm.context) if realm is not None else None

    def _give_mark(self, realm: FrameDocument, provisional: int) -> int:
        """Return the number of an element that was found between two looks."""
        mark, self.next_mark = self.next_mark, self.next_mark + 1
        realm.untold[provisional] = mark
        self._holders[mark] = realm
        return mark

    def _holder(self, mark: int) -> FrameDocument | None:
        realm = self._holders.get(mark)
        return realm if realm in self._realms.values() else None

    async def _read(
        self,
        page: PageView,
        options: Mapping[str, Any],
        seen: dict[FramePath, PageView | str],
        realms: dict[FramePath, FrameDocument],
    ) -> int:
        """Look into all frames at once, then into those of other processes that are new."""
        asked = set[FrameDocument]()
        next_mark = page.next_mark
        for _ in range(2):
            new = [realm for realm in self._realms.values() if realm not in asked][:MOST_FRAMES]
            asked.update(new)
            views = await asyncio.gather(*(self._look(realm, options) for realm in new))
            found = [(view, realm) for view, realm in zip(views, new, strict=True) if view]
            for view, realm in sorted(found, key=lambda each: each[0].path):
                seen[view.path], told = number_marks(view, next_mark)
                realms[view.path] = realm
                next_mark += len(told)
                realm.untold.update(told)
                self._holders.update(dict.fromkeys(told.values(), realm))
            if not _unseen(page, seen) or not await self._find_other_processes():
                break
        return next_mark

    def _join(
        self,
        page: PageView,
        parent: FrameDocument | None,
        seen: dict[FramePath, PageView | str],
        realms: Mapping[FramePath, FrameDocument],
    ) -> None:
        """Note in which document each frame stands, and which of them were not heard of."""
        for hole in page.holes:
            path = (*page.path, hole.index)
            realm, view = realms.get(path), seen.get(path)
            if realm is not None and isinstance(view, PageView):
                realm.parent, realm.key = parent, hole.key
                self._join(view, realm, seen, realms)
            elif any(each.is_silent for each in self._realms.values()):
                seen[path] = _SILENT

    async def _look(self, realm: FrameDocument, options: Mapping[str, Any]) -> PageView | None:
        answer = await self._call(realm, "observe", options)
        view = read_view(answer) if isinstance(answer, str) else None
        if view is not None and view.hollow and await self._opened(realm):
            answer = await self._call(realm, "observe", options)
            view = read_view(answer) if isinstance(answer, str) else None
        return view

    async def _opened(self, realm: FrameDocument) -> bool:
        """Return whether there were closed shadow trees in a frame that its next look goes into."""
        try:
            async with asyncio.timeout(FRAME_SECONDS):
                return await open_closed(realm.session, realm.context)
        except (PlaywrightError, TimeoutError):
            return False

    async def _call(self, realm: FrameDocument, function: str, *arguments: Any) -> Any:
        """Return the answer of a frame; an error that says so where there is none."""
        numbers = list(realm.untold.items())
        said = ", ".join(json.dumps(each) for each in arguments)
        expression = f"webagent.adopt({json.dumps(numbers)}), webagent.{function}({said})"
        answer = await self._evaluate(realm, expression)
        if answer is None:
            return {"error": "the frame does not answer"}
        for provisional, _ in numbers:
            realm.untold.pop(provisional, None)
        return answer.get("value")

    async def _evaluate(self, realm: FrameDocument, expression: str) -> dict[str, Any] | None:
        limit = FRAME_SECONDS / 10 if realm.is_silent else FRAME_SECONDS
        parameters = {
            "expression": expression,
            "contextId": realm.context,
            "returnByValue": True,
            "awaitPromise": True,
        }
        try:
            async with asyncio.timeout(limit):
                answer = await realm.session.send("Runtime.evaluate", parameters)
        except TimeoutError:
            realm.is_silent = True
            return None
        except PlaywrightError:
            self.destroyed(realm.session, realm.context)
            return None
        realm.is_silent = False
        result: dict[str, Any] = answer["result"]
        return None if "exceptionDetails" in answer else result

    async def _outward(
        self, mark: int, realm: FrameDocument, place: dict[str, Any], is_anywhere: bool = False
    ) -> dict[str, Any]:
        """Return a place in a frame as a place in the top document, through every frame between."""
        if "x" not in place:
            return place
        points = place.get("points") or [place]
        inner: FrameDocument | None = realm
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

    async def _find_other_processes(self) -> bool:
        """Take up the frames that have processes of their own; whether there was a new one."""
        frames = [
            frame
            for frame in self._tab.page.frames
            if frame.parent_frame is not None
            and frame not in self._sessions
            and self._without_own.get(frame) != frame.url
        ]
        found = await asyncio.gather(*(self._open(frame) for frame in frames))
        return any(found)

    async def _open(self, frame: PlaywrightFrame) -> bool:
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
                session.on("close", lambda _: self._closed(frame, session))
                await asyncio.gather(*_installed(session))
                if self._follow_session is not None:
                    await self._follow_session(session)
        except (PlaywrightError, TimeoutError):
            self._without_own[frame] = frame.url
            return False
        return True

    def _closed(self, frame: PlaywrightFrame, session: CDPSession) -> None:
        self.cleared(session)
        self._sessions.pop(frame, None)


def _installed(session: CDPSession) -> list[Coroutine[Any, Any, Any]]:
    """Return what a session of its own needs to know our scripts; the page's own world went before
    us."""
    script = {"source": isolated_script(), "worldName": ISOLATED_WORLD, "runImmediately": True}
    return [
        session.send("Page.enable"),
        session.send("Runtime.enable"),
        session.send("Page.addScriptToEvaluateOnNewDocument", script),
    ]


def _unseen(page: PageView, seen: Mapping[FramePath, PageView | str]) -> bool:
    """Return whether there is a frame whose document was not heard of."""
    views = [page, *(view for view in seen.values() if isinstance(view, PageView))]
    return any((*view.path, hole.index) not in seen for view in views for hole in view.holes)
