"""A browser as a world: fresh for every episode, with a page that waits while one thinks."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from tasks.task import Json, Task
from webagent.action import Action
from webagent.browser.page.captcha import Captcha, Handover
from webagent.browser.page.capture import Members, PageSource
from webagent.browser.page.dialogs import DialogWaits
from webagent.browser.perform import perform
from webagent.browser.sessions.profile import Profile
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError
from webagent.observation import PageView
from webagent.observation.variants import Variant
from webagent.records import Node, Observation

KeepImage = Callable[[bytes], str]
"""Stores a PNG and answers with the reference to it."""
_LULL_SECONDS = 0.002
"""A policy that has been silent for so long is thinking; then there is time for other work."""


class TabSource(Protocol):
    """Where a world gets its pages from: a browser that stays warm."""

    async def open_tabs(self, task: Task, profile: Profile) -> Tabs:
        """A fresh context for the task, as the profile asks, with one empty tab in it."""
        ...

    def renew(self, tabs: Tabs) -> None:
        """The tabs are in use. Raises `WorldError` when they were taken back or are lost."""
        ...

    async def close_tabs(self, tabs: Tabs) -> None:
        """Close a context and all that is in it. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Pages being opened for an episode to come."""

    task: Task
    url: str
    """What is loaded in them; empty for a blank page."""
    tabs: asyncio.Task[Tabs]

    def fits(self, task: Task) -> bool:
        """Whether another task can be played in them, its address apart."""
        return _surroundings(self.task) == _surroundings(task)


def _surroundings(task: Task) -> tuple[object, ...]:
    return (task.hooks.init, task.viewport, task.clock)


class BrowserWorld:
    """Plays episodes in real pages, one at a time; get one from `Browser.world`."""

    def __init__(
        self,
        source: TabSource,
        keep_image: KeepImage | None = None,
        profile: Profile | None = None,
        variant: Variant | None = None,
        handover: Handover | None = None,
    ) -> None:
        """Screenshots are taken where they can be kept; `variant` says what else is captured;
        `handover` is asked for help with captchas."""
        self._source = source
        self._keep_image = keep_image
        self._profile = profile or Profile()
        self._variant = variant
        self._handover = handover
        self._tabs: Tabs | None = None
        self._task: Task | None = None
        self._next: _Prepared | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._may_open = asyncio.Event()
        self._lull: asyncio.TimerHandle | None = None
        self._next_mark = 1
        self._goal = ""
        self._asked_about: set[str] = set()
        self._seen: Observation | None = None
        self.refusal = ""
        """Why the last action could not be done; empty when it was done, whatever came of it."""

    async def reset(self, task: Task) -> Observation:
        """Start the task in a fresh context. Raises `WorldError`."""
        self._leave()
        with self._at_work():
            tabs = self._tabs = await self._take_prepared(task)
            self._task, self._next_mark, self._seen = task, 1, None
            if tabs.guard:
                tabs.guard.check_start()
            self._asked_about.clear()
            if task.hooks.start:
                await tabs.first.evaluate(f"(() => {{ {task.hooks.start} }})()")
            tabs.begin(task)
            if self._profile.dialogs == "ask":
                tabs.hold_dialogs()
            notes = await tabs.settle(task.settle_ms)
            self._goal = task.goal
            if task.hooks.goal:
                self._goal = str(await tabs.first.evaluate(task.hooks.goal))
            self._seen = await self._observe(task, tabs, notes)
            self._seen = await self._past_captcha(task, tabs, self._seen)
        self._make_ready(task, "")
        return self._seen

    async def step(self, action: Action) -> Observation:
        """Do the action, let the page come to rest and look at it. Raises `WorldError`."""
        tabs, task, before = self._playing()
        with self._at_work():
            try:
                self.refusal = ""
                self.refusal = reason = await _perform(action, tabs, before)
                notes = [reason] if reason else await tabs.settle(task.settle_ms)
                after = await self._observe(task, tabs, notes)
                after = await self._past_captcha(task, tabs, after)
            except DialogWaits:
                after = _facing_dialog(tabs, before)
        if not after.outcome and replace(after, outcome=before.outcome) == before:
            after = replace(after, outcome="no effect")
        self._seen = after
        return after

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """The value of every evidence expression; None where the page threw."""
        if self._tabs is None:
            raise WorldError("no episode is being played; call reset first")
        values: dict[str, Json] = {}
        if task.evidence:
            await self._tabs.close_dialogs()
            values = await self._tabs.first.evaluate(_all_of(task.evidence))
        return self._tabs.guard.evidence(values) if self._tabs.guard else values

    async def mark_all(self) -> Members:
        """Gives every element of the tab in front a mark, so that any can be acted on."""
        members = await self.source().members(mark_all=True)
        self._next_mark = max(self._next_mark, members.next_mark)
        return members

    def source(self) -> PageSource:
        """The tab in front, for those who want more of it than its lines."""
        tabs, task, _ = self._playing()
        return PageSource(tabs.active, task.hooks.ignore, self._next_mark)

    def urls(self) -> tuple[str, ...]:
        """Addresses of the open tabs, in order."""
        return self._playing()[0].urls()

    async def screenshot(self) -> bytes:
        """The viewport of the tab in front, as PNG."""
        tabs, _, _ = self._playing()
        return await tabs.active.screenshot()

    async def prepare(self, task: Task) -> None:
        """Begin to load the next episode's page now, so that its `reset` need not wait."""
        self._make_ready(task, task.start_url)

    async def close(self) -> None:
        """Close all pages of this world; the browser stays."""
        self._leave()
        self._forget_prepared()
        while self._background:
            await asyncio.gather(*self._background)

    def _make_ready(self, task: Task, url: str) -> None:
        ready = self._next
        if ready is not None and ready.fits(task) and ready.url in ("", url):
            if ready.url == url:
                return
            self._next = _Prepared(task, url, asyncio.create_task(self._load(ready.tabs, url)))
            return
        self._forget_prepared()
        opening = asyncio.create_task(self._open(task))
        if url:
            opening = asyncio.create_task(self._load(opening, url))
        self._next = _Prepared(task, url, opening)

    async def _open(self, task: Task) -> Tabs:
        """Pages for an episode to come. A new page costs as much as several steps, so it is opened
        while the policy thinks, or once it is wanted."""
        await self._may_open.wait()
        return await self._source.open_tabs(task, self._profile)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """The processor belongs to the episode being played."""
        if self._lull is not None:
            self._lull.cancel()
        self._may_open.clear()
        try:
            yield
        except WorldError as error:
            if self._tabs is None or self._tabs.guard is None:
                raise
            raise self._tabs.guard.masked_error(error) from None
        finally:
            loop = asyncio.get_running_loop()
            self._lull = loop.call_later(_LULL_SECONDS, self._may_open.set)

    async def _take_prepared(self, task: Task) -> Tabs:
        """The prepared pages; where they fail, the browser may have died since, so fresh ones."""
        was_prepared = self._next is not None and self._next.fits(task)
        try:
            return await self._take(task)
        except WorldError:
            if not was_prepared:
                raise
        return await self._take(task)

    async def _take(self, task: Task) -> Tabs:
        self._make_ready(task, task.start_url)
        self._may_open.set()
        ready, self._next = self._next, None
        if ready is None:
            raise WorldError("the world was closed while an episode began")
        tabs = await ready.tabs
        self._source.renew(tabs)
        return tabs

    async def _load(self, opening: asyncio.Task[Tabs], url: str) -> Tabs:
        tabs = await opening
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self._source.close_tabs, tabs)
            self._source.renew(tabs)
            await tabs.start(url)
            undo.pop_all()
        return tabs

    def _forget_prepared(self) -> None:
        if self._next is not None:
            self._may_open.set()
            self._in_background(self._close_when_open(self._next.tabs))
            self._next = None

    def _leave(self) -> None:
        if self._tabs is not None:
            self._in_background(self._source.close_tabs(self._tabs))
        self._tabs = self._task = self._seen = None

    async def _close_when_open(self, opening: asyncio.Task[Tabs]) -> None:
        with suppress(WorldError):
            await self._source.close_tabs(await opening)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _playing(self) -> tuple[Tabs, Task, Observation]:
        if self._tabs is None or self._task is None or self._seen is None:
            raise WorldError("no episode is being played; call reset first")
        self._source.renew(self._tabs)
        return self._tabs, self._task, self._seen

    async def _observe(self, task: Task, tabs: Tabs, notes: list[str]) -> Observation:
        (view, over, captured), screenshot = await asyncio.gather(
            self._read(tabs, task), self._photograph(tabs)
        )
        page = Observation(
            goal=self._goal,
            url=view.url,
            title=view.title,
            nodes=view.nodes,
            tabs=await tabs.titles(view.title),
            active_tab=tabs.active_index,
            focus=view.focus,
            outcome="; ".join(notes),
            over=over,
            scroll=view.scroll,
            viewport=task.viewport,
            screenshot=screenshot,
            captured=captured,
        )
        return tabs.guard.masked(page) if tabs.guard else page

    async def _past_captcha(self, task: Task, tabs: Tabs, seen: Observation) -> Observation:
        """The page once a person has passed its captcha, where there is a person; else the page as
        it is, with the captcha named. Raises `CaptchaError` when there is nothing besides."""
        captcha = await tabs.captcha()
        if captcha is None or (not captcha.blocks and seen.url in self._asked_about):
            return _with_note(seen, captcha)
        if self._handover is not None:
            self._asked_about.add(seen.url)
            await tabs.lend_to_person(self._handover.hand_over(captcha.said()))
            seen = await self._observe(task, tabs, await tabs.settle(task.settle_ms))
            captcha = await tabs.captcha()
        if captcha is not None and captcha.blocks:
            self._seen = seen
            raise captcha.error(seen.url)
        return _with_note(seen, captcha)

    async def _read(self, tabs: Tabs, task: Task) -> tuple[PageView, bool, str]:
        """The lines, and after them what is captured beside: by then they have their marks."""
        view, over = await self._look(tabs, task)
        return view, over, await self._capture(task, tabs)

    async def _photograph(self, tabs: Tabs) -> str:
        return self._keep_image(await tabs.active.screenshot()) if self._keep_image else ""

    async def _capture(self, task: Task, tabs: Tabs) -> str:
        if self._variant is None or self._variant.capture is None:
            return ""
        source = PageSource(tabs.active, task.hooks.ignore, self._next_mark)
        return await self._variant.capture(source)

    async def _look(self, tabs: Tabs, task: Task) -> tuple[PageView, bool]:
        view, over = await asyncio.gather(
            tabs.active.look(ignore=task.hooks.ignore, firstMark=self._next_mark),
            self._is_over(tabs, task),
        )
        self._next_mark = view.next_mark
        return view, over

    async def _is_over(self, tabs: Tabs, task: Task) -> bool:
        over = task.hooks.over and _or(f"Boolean({task.hooks.over})", "false")
        return bool(over) and await tabs.first.evaluate(over) is True


def _with_note(seen: Observation, captcha: Captcha | None) -> Observation:
    notes = [seen.outcome] if seen.outcome else []
    return replace(seen, outcome="; ".join([*notes, captcha.said()])) if captcha else seen


def _facing_dialog(tabs: Tabs, before: Observation) -> Observation:
    """What there is to see while a dialog is open: the dialog and nothing else. The page behind it
    stands still and cannot be asked."""
    said = tabs.active.dialogs.said()
    page = replace(
        before,
        nodes=(Node(0, "text", said),),
        focus=0,
        outcome='a dialog is open; answer it with dialog("accept") or dialog("dismiss")',
        scroll=(0, 0),
        screenshot="",
        captured="",
    )
    return tabs.guard.masked(page) if tabs.guard else page


async def _perform(action: Action, tabs: Tabs, seen: Observation) -> str:
    return await (tabs.guard.perform(action, tabs, seen) if tabs.guard else perform(action, tabs))


def _all_of(evidence: Mapping[str, str]) -> str:
    items = ", ".join(
        f"{json.dumps(name)}: {_or(f'({expression}) ?? null', 'null')}"
        for name, expression in evidence.items()
    )
    return f"({{{items}}})"


def _or(expression: str, otherwise: str) -> str:
    """The expression's value; where it throws, as on a page the agent went off to, the other."""
    return f"(() => {{ try {{ return {expression}; }} catch (error) {{ return {otherwise}; }} }})()"
