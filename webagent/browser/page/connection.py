"""The DevTools connection of one page: commands, calls into its document, blocking dialogs."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cache
from importlib.resources import files
from secrets import token_hex
from typing import Any, TypeVar

from playwright.async_api import Dialog, Page
from playwright.async_api import Error as PlaywrightError

from webagent.browser.devtools import ProtocolSession
from webagent.errors import WorldError
from webagent.observation import listener_script, page_script
from webagent.observation.variants import PAGE_FUNCTIONS, variant_script

ISOLATED_WORLD = "webagent"
"""Name of the JavaScript world that shares the page's document and nothing else."""

_SIGNAL = f"webagent-{token_hex(8)}"
_TIMERS_QUESTION, _TIMERS_ANSWER, _LIVE = (
    f"{_SIGNAL}-{part}" for part in ("ask", "timers", "live")
)
_SHORT_TIMER_MS, _LONGER_TIMER_MS = 500, 1500
FLOOD_MESSAGES = 1000
"""More messages a second than these, over a page's web sockets and event streams, close the one
that brings them: several times what a market's ticker sends."""
_PARTS = (
    *("captcha.js", "locate.js", "operate.js", "through.js", "quiet.js", "secrets.js"),
    *("acted.js", "user_events.js"),
)
_FUNCTIONS = (
    "acted, actedAt, actedInFocus, actedValue, captchaOn, choose, chooseExactly, chosenFiles, "
    "dragHasStarted, dropIsWanted, dropWasTaken, extent, fileField, fileFieldOf, focusOn, "
    "handleOf, hasArrived, isAnimating, labelsOf, locate, middleOf, nextFrame, optionNamed, "
    "originsOf, pressedWith, readyToFill, replacedField, reportUserEvents, rest, scaleAt, "
    "scrollOn, throughFrame, tickOf, titleOf, typeSecret, unrest"
)


@cache
def isolated_script() -> str:
    """Return the script for the isolated world, which reads the page and finds elements."""
    folder = files(__package__)
    names = {"TIMERS_QUESTION": _TIMERS_QUESTION, "TIMERS_ANSWER": _TIMERS_ANSWER, "LIVE": _LIVE}
    secrets = [f"const {name} = {json.dumps(value)};" for name, value in names.items()]
    parts = [folder.joinpath(name).read_text(encoding="utf-8") for name in _PARTS]
    acting = "\n".join([*secrets, *parts])
    return page_script(_SIGNAL, acting + variant_script(), (_FUNCTIONS, *PAGE_FUNCTIONS))


@cache
def reporting_script() -> str:
    """Return the script for the page's own world, which reports what only the page knows."""
    return listener_script(_SIGNAL)


@cache
def timers_script() -> str:
    """Return the script for the page's own world that counts short timers of the wall clock."""
    return _call("timers.js", _TIMERS_QUESTION, _TIMERS_ANSWER, _SHORT_TIMER_MS, _LONGER_TIMER_MS)


@cache
def connections_script() -> str:
    """Return the script for the page's own world that reports live connections and ends floods."""
    return _call("connections.js", _LIVE, FLOOD_MESSAGES)


def _call(name: str, *arguments: str | int) -> str:
    source = files(__package__).joinpath(name).read_text(encoding="utf-8")
    function = source[source.index("(", source.index("\n(")) :].rstrip()
    return f"({function})({', '.join(map(json.dumps, arguments))});"


DIALOG_SECONDS = 5.0
"""How long the browser may take to close a dialog."""


class DialogOpen(WorldError):
    """A dialog is open: until it is answered the page's scripts stand still and answer nothing."""


class Dialogs:
    """The dialogs of one tab. By default Playwright dismisses each as it comes."""

    def __init__(self, page: Page) -> None:
        self.open: Dialog | None = None
        self.waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done while a dialog is open."""
        self.are_held = False
        self._page = page
        self._listens = False
        self._dismissing: asyncio.Future[None] | None = None

    def hold(self) -> None:
        """Keep dialogs open from here on until they are answered."""
        self.are_held = True
        if not self._listens:
            self._listens = True
            self._page.on("dialog", self._opened)

    @asynccontextmanager
    async def let_go(self) -> AsyncIterator[None]:
        """Dismiss dialogs as they come while the block runs, and one that is open.

        The listener stays: the browser hears of one that is added only some time afterwards, and
        would have dismissed the next dialog by then.
        """
        was_held, self.are_held = self.are_held, False
        if self.open is not None:
            await self.answer(accept=False)
        try:
            yield
        finally:
            self.are_held = was_held

    def describe(self) -> str:
        """Return what the open dialog says, and how it is answered; nothing when none is open."""
        if self.open is None:
            return ""
        return describe_dialog(self.open.type, self.open.message, self.open.default_value)

    async def answer(self, accept: bool, text: str = "") -> str:
        """Close the open dialog; return the reason when there is none."""
        dialog = self.open
        if dialog is None:
            return "no dialog is open"
        self.closed()
        try:
            async with asyncio.timeout(DIALOG_SECONDS):
                if accept and dialog.type == "prompt":
                    await dialog.accept(text or dialog.default_value)
                else:
                    await (dialog.accept() if accept else dialog.dismiss())
        except PlaywrightError as error:
            return f"the dialog was gone already ({error.message.splitlines()[0]})"
        except TimeoutError as error:
            raise WorldError("the browser does not close its dialog") from error
        return ""

    def closed(self) -> None:
        """Forget the dialog, which is answered or gone with its page."""
        self.open = None
        if self.waiting.done():
            self.waiting = asyncio.get_running_loop().create_future()

    def _opened(self, dialog: Dialog) -> None:
        if not self.are_held:
            self._dismissing = asyncio.ensure_future(ignore_closed(dialog.dismiss()))
            return
        self.open = dialog
        if not self.waiting.done():
            self.waiting.set_result(None)


def describe_dialog(kind: str, message: str, filled_in: str) -> str:
    """Return a dialog in words."""
    if kind == "beforeunload":
        message = "leave this page and lose what was not saved?"
    elif filled_in:
        message += f", with {filled_in!r} filled in"
    return f"the page opened a dialog ({kind}): {message}"


ANSWER_SECONDS = 15.0
"""How long the browser may take over one question before the page counts as hung."""
_CLOSING_SECONDS = 0.5
Result = TypeVar("Result")


@asynccontextmanager
async def world_failures() -> AsyncIterator[None]:
    """Raise whatever the browser raises as the one error that says that the world failed."""
    try:
        yield
    except PlaywrightError as error:
        raise WorldError(f"the browser failed: {error.message.splitlines()[0]}") from error
    except TimeoutError as error:
        raise WorldError("the browser did not answer in time") from error


async def has_closed(page: Page) -> bool:
    """Return whether a page that failed has closed, which its driver may say a moment later."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_CLOSING_SECONDS):
            while not page.is_closed():
                await asyncio.sleep(_CLOSING_SECONDS / 20)
    return page.is_closed()


@asynccontextmanager
async def unless_closed(page: Page) -> AsyncIterator[None]:
    """Pass over the failure of a page that closes meanwhile, by itself or by its opener."""
    try:
        yield
    except WorldError:
        if not await has_closed(page):
            raise


async def ignore_closed(call: Awaitable[None]) -> None:
    """Await a call of the driver, whose object may be gone with its page."""
    with suppress(PlaywrightError):
        await call


_LOST_CONTEXT = (
    "Cannot find context",
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "uniqueContextId not found",
)
_NODES_BY_NUMBER = {
    "serialization": "deep",
    "maxDepth": 1,
    "additionalParameters": {"maxNodeDepth": 0, "includeShadowTree": "none"},
}
"""Elements are answered with their backend node ids, and without what is in them."""
_PAGE_CLOSED = "the page was closed"
_REPLACED_SECONDS = 2.0
"""How long the page after one that is being replaced may take to begin."""


class PageConnection:
    """A page's session of the DevTools protocol, and our functions in its top document.

    Every method that waits raises `WorldError` when the page crashed, was closed or does not
    answer, and `DialogOpen` while one of its dialogs is open.
    """

    def __init__(self, page: Page, cdp: ProtocolSession, dialogs: Dialogs) -> None:
        self.cdp = cdp
        self.context: int | None = None
        """Our isolated world in the document, by the browser's number; None before the first."""
        self._is_ready = asyncio.Event()
        self._page = page
        self._dialogs = dialogs
        self._dead: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        page.on("crash", lambda _: self._die("the page crashed"))
        page.on("close", lambda _: self._die(_PAGE_CLOSED))
        cdp.on("close", lambda _: self._die(_PAGE_CLOSED))

    @property
    def is_closed(self) -> bool:
        """Return whether the page is closed, whoever heard of it first."""
        return self._page.is_closed() or (self._dead.done() and self._dead.result() == _PAGE_CLOSED)

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command of the protocol and return its answer."""
        async with world_failures():
            return await self.alive(self.cdp.send(method, params))

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        """Call the handler at each event of this kind."""
        self.cdp.on(event, handler)

    async def alive(self, work: Awaitable[Result]) -> Result:
        """Return the result of the work, unless the page dies or hangs first."""
        task = asyncio.ensure_future(work)
        both: set[asyncio.Future[Any]] = {task, self._dead, self._dialogs.waiting}
        try:
            await asyncio.wait(both, timeout=ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if self._dead.done():
                raise WorldError(self._dead.result())
            if self._dialogs.open is not None:
                raise DialogOpen(self._dialogs.describe())
            raise WorldError(f"the page at {self._page.url} gave no answer in {ANSWER_SECONDS:g} s")
        finally:
            task.cancel()

    def created(self, context: Mapping[str, Any]) -> None:
        """Note that an execution context has begun in the top document."""
        if context["name"] == ISOLATED_WORLD:
            self.context = context["id"]
            self._is_ready.set()

    def cleared(self) -> None:
        """Note that the document is gone, and that the next one has not begun."""
        self._is_ready.clear()

    async def evaluate(self, expression: str) -> Any:
        """Return the JSON value of an expression in the page's own world; of the next page's, where
        this one is just being replaced. Raises `WorldError` with what the page threw."""
        answer = await self._evaluate(expression)
        if answer is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_REPLACED_SECONDS):
                    await self.alive(self._is_ready.wait())
            answer = await self._evaluate(expression)
        if answer is None:
            raise WorldError(f"the page was replaced repeatedly on {expression[:80]!r}")
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            thrown = details.get("exception", {}).get("description", details.get("text", ""))
            raise WorldError(f"the page threw {thrown[:300]!r} on {expression[:80]!r}")
        return answer["result"].get("value")

    async def ask(self, function: str, *arguments: Any) -> Any:
        """Call one of our own functions in the isolated world; waits out navigations."""
        call = write_call(function, arguments)
        return (await self._ask(call, returnByValue=True)).get("value")

    async def ask_for_elements(self, function: str, *arguments: Any) -> tuple[str, list[int]]:
        """As `ask`, of a function that answers with a text and elements after it: the text, and the
        browser's own numbers for the elements (backend node ids)."""
        call = write_call(function, arguments)
        answer = await self._ask(call, serializationOptions=_NODES_BY_NUMBER)
        text, *nodes = answer["deepSerializedValue"]["value"]
        return text["value"], [node["value"]["backendNodeId"] for node in nodes]

    async def ask_now(self, function: str, *arguments: Any) -> Any:
        """As `ask`, but None where the page is just being replaced."""
        answer = await self._try(write_call(function, arguments), returnByValue=True)
        return answer.get("value") if answer is not None else None

    async def _evaluate(self, expression: str) -> dict[str, Any] | None:
        """Return the browser's answer; None where the page was replaced meanwhile."""
        try:
            return await self.send(
                "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
            )
        except WorldError as error:
            if self.is_closed or not _has_lost_context(str(error)):
                raise
            return None

    async def _ask(self, call: str, **how: Any) -> dict[str, Any]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                while True:
                    await self.alive(self._is_ready.wait())
                    answer = await self._try(call, **how)
                    if answer is not None:
                        return answer
        except TimeoutError as error:
            raise WorldError(f"the page at {self._page.url} does not answer") from error

    async def _try(self, call: str, **how: Any) -> dict[str, Any] | None:
        context = self.context
        where = {"expression": call, "contextId": context, "awaitPromise": True, **how}
        try:
            answer = await self.alive(self.cdp.send("Runtime.evaluate", where))
        except PlaywrightError as error:
            if not _has_lost_context(error.message):
                raise WorldError(f"the browser failed: {error.message.splitlines()[0]}") from error
            if self.context == context:
                self._is_ready.clear()
            return None
        if "exceptionDetails" in answer:
            raise WorldError(f"our script failed on {call}: {answer['exceptionDetails']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _die(self, reason: str) -> None:
        if not self._dead.done():
            self._dead.set_result(reason)


def _has_lost_context(message: str) -> bool:
    return any(phrase in message for phrase in _LOST_CONTEXT)


def write_call(function: str, arguments: Iterable[Any]) -> str:
    """Return the call of one of our functions as JavaScript."""
    return f"webagent.{function}({', '.join(json.dumps(each) for each in arguments)})"
