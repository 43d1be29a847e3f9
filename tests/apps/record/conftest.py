"""A person with a mouse and a keyboard, played by raw input events, and pages to use."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from typing import Any

import pytest
from playwright.async_api import CDPSession, Locator, Page

from apps.record.session import DemonstrationEpisode
from tasks.task import Task
from tests.fakes.listening import Handler, listening
from webagent.browser import Browser
from webagent.browser.sessions.profile import Profile
from webagent.browser.watching import BY_PAGE_SECONDS, SessionWatch
from webagent.records import Observation, Provenance, Trajectory
from webagent.store import Store

KEYS = {"Enter": (13, "\r"), "ArrowDown": (40, ""), " ": (32, " ")}


PATIENCE = 60
"""Seconds; for a machine that does much else."""


@dataclass
class Person:
    """Hands on one page."""

    page: Page
    cdp: CDPSession
    watch: SessionWatch

    async def see(self) -> None:
        """Wait until the page has come to rest, as people do."""
        await asyncio.sleep(0.05)
        async with asyncio.timeout(PATIENCE):
            await self.watch.is_resting.wait()

    async def until(self, holds: Callable[[Observation], bool]) -> None:
        """Wait until the page is seen to be so, and has come to rest."""
        async with asyncio.timeout(PATIENCE):
            while not holds(self.watch.seen) or not self.watch.is_resting.is_set():
                await asyncio.sleep(0.02)

    async def until_titled(self, title: str) -> None:
        """Wait until the page of this title is seen."""
        await self.until(lambda seen: seen.title == title)

    async def pause(self) -> None:
        """Wait so long that what is done next is not taken for what the page did itself."""
        await self.see()
        await asyncio.sleep(BY_PAGE_SECONDS)

    async def click(self, where: str | Locator, *, count: int = 1, button: str = "left") -> None:
        """Click on the middle of an element."""
        x, y = await self.middle(where)
        for number in range(1, count + 1):
            await self.mouse("mouseMoved", x, y)
            await self.mouse("mousePressed", x, y, button=button, clickCount=number)
            await self.mouse("mouseReleased", x, y, button=button, clickCount=number)

    async def use(self, where: str | Locator, text: str = "") -> None:
        """Click on an element, type into it, and see what comes of it."""
        await self.click(where)
        await self.type(text)
        await self.see()

    async def drag(self, where: str, to: str) -> None:
        """Press on one element, let go on another."""
        x, y = await self.middle(where)
        to_x, to_y = await self.middle(to)
        await self.mouse("mouseMoved", x, y)
        await self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for share in (0.3, 0.6, 1.0):
            way = (x + (to_x - x) * share, y + (to_y - y) * share)
            await self.mouse("mouseMoved", *way, button="left", buttons=1)
        await self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)

    async def hover(self, where: str) -> None:
        """Move the mouse onto an element."""
        await self.mouse("mouseMoved", *await self.middle(where))

    async def middle(self, where: str | Locator) -> tuple[float, float]:
        """Of an element, in the viewport."""
        found = self.page.locator(where) if isinstance(where, str) else where
        box = await found.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    async def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """One event of the mouse."""
        await self.cdp.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    async def type(self, text: str) -> None:
        """Letter by letter."""
        for letter in text:
            await self.key(letter, text=letter)

    async def key(self, key: str, text: str | None = None, modifiers: int = 0) -> None:
        """One key, down and up."""
        code, said = KEYS.get(key, (0, text or ""))
        named = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        shown = {"text": said} if said else {}
        kind = "keyDown" if said else "rawKeyDown"
        await self.cdp.send("Input.dispatchKeyEvent", {"type": kind, **named, **shown})
        await self.cdp.send("Input.dispatchKeyEvent", {"type": "keyUp", **named})

    async def backspace(self) -> None:
        """Take the last letter back."""
        named = {"key": "Backspace", "code": "Backspace", "windowsVirtualKeyCode": 8}
        await self.cdp.send("Input.dispatchKeyEvent", {"type": "keyDown", **named})
        await self.cdp.send("Input.dispatchKeyEvent", {"type": "keyUp", **named})

    async def at(self, page: Page) -> "Person":
        """The same person at another tab."""
        return Person(page, await hands_on(page), self.watch)


async def hands_on(page: Page) -> CDPSession:
    """A way to send input to a page, and to answer its dialogs."""
    session = await page.context.new_cdp_session(page)
    await session.send("Page.enable")
    return session


@dataclass
class Recorded:
    """A demonstration under way, and in the end what was kept."""

    person: Person
    said: list[str]
    store: Store
    done: Trajectory | None = None

    @property
    def actions(self) -> list[str]:
        """What was kept, as it is written."""
        from webagent.action import format_action

        return [format_action(step.decision.action) for step in self.done.steps]


Recording = Callable[..., Any]


@pytest.fixture
def recording(browser: Browser, store: Store) -> Recording:
    """`async with recording(url) as recorded:` what its person does is kept."""

    @asynccontextmanager
    async def record(url: str, *, goal: str = "Do it", answer: str = "") -> AsyncIterator[Recorded]:
        said: list[str] = []
        task = Task(id="recorded/test@1", start_url=url, goal=goal, clock="real")
        provenance = Provenance(phase="demonstrate", arm="person")
        demonstration = DemonstrationEpisode(task, provenance, store, said.append)
        keep = demonstration.pictures.take
        world = await browser.world(keep_image=keep, profile=Profile(dialogs="ask"))
        watch = SessionWatch(world, await world.reset(task), demonstration.hear)
        await watch.begin()
        watching = asyncio.ensure_future(watch.run())
        page = world.tabs().active.page
        person = Person(page, await hands_on(page), watch)
        recorded = Recorded(person, said, store)
        await person.see()
        try:
            yield recorded
            if not watch.ended.is_set():
                await person.see()
        finally:
            watch.ended.set()
            await watching
            await world.close()
        recorded.done = demonstration.finish(watch.seen, goal, answer)

    return record


class Pages(Handler):
    """Serves pages by path, and notes what was sent to it."""

    pages: dict[str, str]
    posted: list[str]

    def do_GET(self) -> None:
        """The page of this path, with what was asked for on it."""
        path, _, query = self.path.partition("?")
        body = self.pages.get(path)
        self.send((body or "").replace("QUERY", query), 404 if body is None else 200)

    def do_POST(self) -> None:
        """Keep what was sent, and say thanks."""
        length = int(self.headers["Content-Length"])
        self.posted.append(self.rfile.read(length).decode(errors="replace"))
        self.send("<title>Thanks</title><h1>Thanks</h1>")


@dataclass
class Server:
    """A site of a few pages."""

    address: str
    pages: dict[str, str]
    posted: list[str]


@pytest.fixture
def site() -> Iterator[Server]:
    """A site on this machine, to which pages can be added."""
    handler = type("Handler", (Pages,), {"pages": {}, "posted": []})
    with listening(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        yield Server(address, handler.pages, handler.posted)  # type: ignore[attr-defined]
