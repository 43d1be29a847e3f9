"""A browser as a world: fresh for every episode, with a page that waits while one thinks."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tasks.task import Json, Task
from webagent.action import Action
from webagent.action.actions import Fill
from webagent.browser.evidence.probes import ActedElements, capture_evidence
from webagent.browser.evidence.read_back import read_back
from webagent.browser.failures import refuse_file
from webagent.browser.page.connection import DialogOpen, has_closed, unless_closed
from webagent.browser.page.source import PageElements, PageSource
from webagent.browser.perform import perform
from webagent.browser.preloading import PagePreloader, PreloadSlots, StartSlots, TabSource
from webagent.browser.sessions.login import LoginsOf
from webagent.browser.sessions.profile import Profile
from webagent.browser.tabs import Handover, Tabs
from webagent.errors import CaptchaError, ServerError, WorldError
from webagent.observation import PageView
from webagent.observation.variants import ObservationVariant
from webagent.records import Node, Observation
from webagent.timing import Background

_GONE = re.compile(r"(?:no )?element (\d+) (?:is gone from the page|on this page)")
_MARKS = ("mark", "source", "target")
_NEAR = 40
"""CSS pixels that an element may have moved by while the page rebuilt it; more for larger ones."""
_MOST_REBUILT = 1
"""How often an action is tried again: a page that goes on rebuilding itself is not run after."""
_LONGEST_COMPARED = 200
"""Characters of a field that is compared with what was typed; a long one is shown in part."""
KeepImage = Callable[[bytes], str]
"""Stores a PNG and returns the reference to it."""


class ViewerPictures:
    """Keeps screenshots for people who look at episodes later, up to a number of them.

    Agents are not shown them, and what changes in them alone is no effect of an action.
    """

    def __init__(self, keep: KeepImage, most: int) -> None:
        self._keep, self.left = keep, most

    def __call__(self, image: bytes) -> str:
        """Keep the screenshot; return its reference."""
        self.left -= 1
        return self._keep(image)

    @property
    def is_full(self) -> bool:
        """Return whether no more are kept."""
        return self.left <= 0


class BrowserWorld:
    """Plays episodes in real pages, one at a time; get one from `Browser.world`."""

    def __init__(  # noqa: PLR0913 - each is a separate decision of the caller
        self,
        source: TabSource,
        keep_image: KeepImage | None = None,
        keep_picture: KeepImage | None = None,
        profile: Profile | None = None,
        variant: ObservationVariant | None = None,
        handover: Handover | None = None,
        preload_slots: PreloadSlots | None = None,
        start_slots: StartSlots | None = None,
        logins: LoginsOf | None = None,
        on_close: Callable[["BrowserWorld"], object] | None = None,
    ) -> None:
        """Screenshots are taken where they can be kept, and pictures that probes take go to
        `keep_picture`; `variant` says what else is captured; `handover` is asked for help with
        captchas; `preload_slots` and `start_slots` are what the worlds of a browser share for pages
        that are kept ready and for episodes that start; `logins` has those that tasks begin with;
        `on_close` is called at the end of `close`.
        """
        self.refusal = ""
        """Why the last action could not be done; empty when it was done, whatever came of it."""
        self.keeps_pages = False
        """Whether a further task begins on the pages as the one before left them."""
        self._source = source
        self._keep_image = keep_image
        self._keep_picture = keep_picture
        self._profile = profile or Profile()
        self._preloader = PagePreloader(
            source, self._profile, preload_slots or PreloadSlots(), logins
        )
        self._start_slots = start_slots or StartSlots()
        self._variant = variant
        self._handover = handover
        self._on_close = on_close
        self._tabs: Tabs | None = None
        self._task: Task | None = None
        self._background = Background()
        self._next_mark = 1
        self._goal = ""
        self._asked_about: set[str] = set()
        self._seen: Observation | None = None
        self._acted: ActedElements | None = None

    async def reset(self, task: Task) -> Observation:
        """Start in a fresh context, or on open pages if it `keeps_pages`. Raises `WorldError`."""
        if self.keeps_pages and self._tabs is not None:
            self._task, self._goal = task, task.goal
            return await self.look()
        self._leave()
        with self._at_work():
            async with self._start_slots.turn():
                tabs, notes = await self._start(task)
            self._goal = task.goal
            if task.hooks.goal:
                self._goal = str(await tabs.first.evaluate(task.hooks.goal))
            self._seen = await self._see(task, tabs, notes)
        self._preloader.begin(task, "")
        return self._seen

    async def step(self, action: Action) -> Observation:
        """Do the action, let the page come to rest and look at it. Raises `WorldError`."""
        tabs, task, before = self._playing()
        with self._at_work():
            try:
                self.refusal = "" if tabs.guard else refuse_file(action, task.start_url)
                self.refusal = reason = self.refusal or await self._do(action, task, tabs, before)
                notes = [reason] if reason else await tabs.settle(task.settle_ms)
                after = await self._see(task, tabs, notes)
                if not reason:
                    broken = tabs.guard.check_outcome(action, before, after) if tabs.guard else ""
                    reports = filter(None, (after.outcome, broken, find_altered(action, after)))
                    after = replace(after, outcome="; ".join(reports))
            except DialogOpen:
                after = _facing_dialog(tabs, before)
        same = replace(after, outcome=before.outcome)
        before = replace(before, nodes=tuple(n for n in before.nodes if n.kind != "passed"))
        if isinstance(self._keep_image, ViewerPictures):
            same = replace(same, screenshot=before.screenshot)
        if not after.outcome and same == before:
            after = replace(after, outcome="no effect")
        self._seen = after
        return after

    async def look(self) -> Observation:
        """Return the page once it has come to rest, whoever has changed it. Raises `WorldError`."""
        tabs, task, before = self._playing()
        with self._at_work():
            try:
                after = await self._observe(task, tabs, await tabs.settle(task.settle_ms))
            except DialogOpen:
                after = _facing_dialog(tabs, before)
        self._seen = after
        return after

    def keep_images(self, keep: KeepImage) -> None:
        """Keep screenshots so from here on, where any are taken."""
        self._keep_image = keep if self._keep_image else None

    def tabs(self) -> Tabs:
        """Return the open pages, for those who watch a person use them."""
        return self._playing()[0]

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """Return the value of every evidence expression, None where the page threw; the task's
        records, and what its probes find. Raises `WorldError`."""
        if self._tabs is None:
            raise WorldError("no episode is being played; call reset first")
        values: dict[str, Json] = {}
        if self._tabs.guard and (sent := self._tabs.guard.sent_writes()):
            await read_back(self._tabs, sent, task.hooks.init)
        if task.evidence:
            await self._tabs.close_dialogs()
            items = ", ".join(
                f"{json.dumps(name)}: {_or(f'({expression}) ?? null', 'null')}"
                for name, expression in task.evidence.items()
            )
            values = await self._tabs.first.evaluate(f"({{{items}}})")
        if task.probes or task.records:
            values |= await capture_evidence(task, self._tabs, self._acted, self._keep_picture)
        self._tabs.failures.check_server()
        return self._tabs.guard.evidence(values) if self._tabs.guard else values

    async def mark_all(self) -> PageElements:
        """Give every element of the tab in front a mark, so that any can be acted on."""
        members = await self.source().members(mark_all=True)
        self._next_mark = max(self._next_mark, members.next_mark)
        return members

    def source(self) -> PageSource:
        """Return the tab in front, for those who want more of it than its lines."""
        tabs, task, _ = self._playing()
        return PageSource(tabs.active, task.hooks.ignore, self._next_mark)

    def urls(self) -> tuple[str, ...]:
        """Return the addresses of the open tabs, in order."""
        return self._playing()[0].urls()

    async def screenshot(self) -> bytes:
        """Return the viewport of the tab in front, as PNG."""
        return await self._playing()[0].active.screenshot()

    async def prepare(self, task: Task) -> None:
        """Begin to load the next episode's page now, so that its `reset` need not wait."""
        self._preloader.begin(task, task.start_url)

    async def close(self) -> None:
        """Close all pages of this world; the browser stays."""
        self._leave()
        await self._preloader.close()
        await self._background.finish()
        if self._on_close:
            self._on_close(self)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Keep the processor for the episode being played, and secrets out of its failures."""
        with self._preloader.wait():
            try:
                yield
            except WorldError as error:
                if self._tabs is None or self._tabs.guard is None:
                    raise
                raise type(error)(self._tabs.guard.secrets.masked(str(error))) from None

    def _leave(self) -> None:
        if self._tabs is not None:
            self._background.start(self._source.close_tabs(self._tabs))
        self._tabs = self._task = self._seen = None

    async def _start(self, task: Task) -> tuple[Tabs, list[str]]:
        """Return fresh pages of the task once they are at rest, and what came up meanwhile."""
        tabs = self._tabs = await self._preloader.take(task)
        self._task, self._next_mark, self._seen = task, 1, None
        self._acted = ActedElements() if "elements" in task.records else None
        if tabs.guard:
            tabs.guard.check_start()
        self._asked_about.clear()
        if task.hooks.start:
            await tabs.first.evaluate(f"(() => {{ {task.hooks.start} }})()")
        tabs.begin(task)
        await tabs.open_behind(task.further_urls)
        if "ask" in (self._profile.dialogs, task.dialogs):
            await tabs.hold_dialogs()
        return tabs, await tabs.settle(task.settle_ms)

    def _playing(self) -> tuple[Tabs, Task, Observation]:
        if self._tabs is None or self._task is None or self._seen is None:
            raise WorldError("no episode is being played; call reset first")
        self._source.renew(self._tabs)
        return self._tabs, self._task, self._seen

    async def _do(self, action: Action, task: Task, tabs: Tabs, seen: Observation) -> str:
        """Do the action; return the reason why not. An element that the page has rebuilt since it
        was seen is found again where role, name and place leave no doubt."""
        reason = await self._do_once(action, task, tabs, seen)
        rebuilt: list[str] = []
        while (gone := _GONE.fullmatch(reason)) and len(rebuilt) < _MOST_REBUILT:
            now = await self._observe(task, tabs, [])
            node = find_rebuilt(int(gone[1]), seen, now)
            if node is None:
                return reason
            fields: dict[str, Any] = {
                name: node.mark for name in _MARKS if getattr(action, name, 0) == int(gone[1])
            }
            rebuilt.append(
                f"the page had rebuilt element {gone[1]}; done on {node.mark}, the {node.role} of"
                " the same name in its place"
            )
            action, seen = replace(action, **fields), now
            reason = await self._do_once(action, task, tabs, seen)
        tabs.active.notes.extend(() if reason else rebuilt)
        return reason

    async def _do_once(self, action: Action, task: Task, tabs: Tabs, seen: Observation) -> str:
        async def look() -> Observation:
            return await self._observe(task, tabs, [])

        async def do() -> str:
            async with unless_closed(tabs.active.page):  # by what the action did
                if tabs.guard:
                    return await tabs.guard.perform(action, tabs, seen, look)
                return await perform(action, tabs)
            return ""

        if self._acted is None:
            return await do()
        elements = await self._acted.look(action, tabs)
        try:
            reason = await do()
        except DialogOpen:
            self._acted.keep(elements)
            raise
        if not reason:
            await self._acted.keep_with_value(elements, action, tabs)
        return reason

    async def _see(self, task: Task, tabs: Tabs, notes: list[str]) -> Observation:
        """Return the tab in front past its captcha; where it closes itself meanwhile, the next."""
        while True:
            front = tabs.active
            try:
                seen = await self._observe(task, tabs, notes)
                captcha = await tabs.captcha()
                was_asked_about = captcha and not captcha.blocks and seen.url in self._asked_about
                if captcha and not was_asked_about and self._handover is not None:
                    self._asked_about.add(seen.url)
                    await tabs.lend_to_person(self._handover.hand_over(captcha.describe()))
                    seen = await self._observe(task, tabs, await tabs.settle(task.settle_ms))
                    captcha = await tabs.captcha()
                if captcha is None:
                    return seen
                if captcha.blocks:
                    self._seen = seen
                    raise captcha.error(seen.url)
                return replace(
                    seen, outcome="; ".join(filter(None, (seen.outcome, captcha.describe())))
                )
            except WorldError as error:
                is_lost = isinstance(error, CaptchaError | ServerError)
                if is_lost or not await has_closed(front.page):
                    raise
            notes = [*notes, *await tabs.settle(task.settle_ms)]

    async def _observe(self, task: Task, tabs: Tabs, notes: list[str]) -> Observation:
        """Return the tab in front, read again if the page had not heard of the mouse, or if what
        the action brought was still on its way: virtual time alone moves no animation."""
        view, is_over, captured, screenshot = await self._look(task, tabs)
        if (view.lost_mouse or view.is_animating) and task.clock == "virtual":
            if view.lost_mouse:
                await tabs.active.remind_of_mouse()
            notes = [*notes, *await tabs.settle(task.settle_ms)]
            view, is_over, captured, screenshot = await self._look(task, tabs, again=True)
        notes = [
            *notes,
            tabs.failures.describe_status(view.url, view.status, is_empty=not view.nodes),
        ]
        page = Observation(
            goal=self._goal,
            url=view.url,
            title=view.title,
            nodes=view.nodes,
            tabs=await tabs.titles(view.title),
            active_tab=tabs.active_index,
            focus=view.focus,
            outcome="; ".join(dict.fromkeys(filter(None, notes))),
            over=is_over,
            scroll=view.scroll,
            viewport=task.viewport,
            screenshot=screenshot,
            captured=captured,
        )
        return tabs.guard.secrets.masked_page(page) if tabs.guard else page

    async def _look(
        self, task: Task, tabs: Tabs, *, again: bool = False
    ) -> tuple[PageView, bool, str, str]:
        """Return the tab in front, whether the episode is over, what is captured besides the lines
        once these have given elements their marks, and the screenshot taken meanwhile."""

        async def read_is_over() -> bool:
            over = task.hooks.over and _or(f"Boolean({task.hooks.over})", "false")
            return bool(over) and await tabs.first.evaluate(over) is True

        async def read() -> tuple[PageView, bool, str]:
            view, is_over = await asyncio.gather(
                tabs.active.view(ignore=task.hooks.ignore, firstMark=self._next_mark, again=again),
                read_is_over(),
            )
            self._next_mark = view.next_mark
            if self._variant is None or self._variant.capture is None:
                return view, is_over, ""
            source = PageSource(tabs.active, task.hooks.ignore, self._next_mark)
            return view, is_over, await self._variant.capture(source)

        async def photograph() -> str:
            keep = self._keep_image
            if keep is None or (isinstance(keep, ViewerPictures) and keep.is_full):
                return ""
            return keep(await tabs.active.screenshot())

        (view, is_over, captured), screenshot = await asyncio.gather(read(), photograph())
        return view, is_over, captured, screenshot


def find_rebuilt(mark: int, before: Observation, now: Observation) -> Node | None:
    """Return the element that has come in place of one that is gone: new, of the same role, name
    and kind, near where that was, and on both pages the only one so. None where there is none."""
    gone = before.node(mark)
    if gone is None or not gone.name or before.url != now.url:
        return None

    def find_alike(page: Observation) -> list[Node]:
        wanted = (gone.role, gone.name, gone.kind)
        return [n for n in page.nodes if n.mark and (n.role, n.name, n.kind) == wanted]

    found = find_alike(now)
    if len(found) != 1 or len(find_alike(before)) != 1 or before.node(found[0].mark):
        return None
    (x, y, width, height), (left, top, _, _) = gone.box, found[0].box
    moved = top + now.scroll[0] - y - before.scroll[0]
    is_near = abs(left - x) <= max(width, _NEAR) and abs(moved) <= max(height, _NEAR)
    return found[0] if is_near else None


def find_altered(action: Action, now: Observation) -> str:
    """Return that a field does not hold what was typed into it: a page takes away what it does not
    expect. What it adds, and space and case, count as nothing."""
    if not isinstance(action, Fill) or (field := now.node(action.mark)) is None:
        return ""
    if field.kind == "input:password" or len(field.value) > _LONGEST_COMPARED:
        return ""
    held = iter("".join(field.value.casefold().split()))
    is_kept = all(letter in held for letter in "".join(action.text.casefold().split()))
    typed = f"the {len(action.text)} characters typed"
    return (
        "" if is_kept or not field.value else f"element {field.mark} does not hold all of {typed}"
    )


def _facing_dialog(tabs: Tabs, before: Observation) -> Observation:
    page = observe_dialog(before, tabs.active.dialogs.describe())
    return tabs.guard.secrets.masked_page(page) if tabs.guard else page


def observe_dialog(before: Observation, dialog: str) -> Observation:
    """Return the dialog as all there is to see: the page behind it cannot be asked."""
    return replace(
        before,
        nodes=(Node(0, "text", dialog),),
        focus=0,
        outcome='a dialog is open; answer it with dialog("accept") or dialog("dismiss")',
        scroll=(0, 0),
        screenshot="",
        captured="",
    )


def _or(expression: str, otherwise: str) -> str:
    """Return the expression in JavaScript with another value where it throws."""
    return f"(() => {{ try {{ return {expression}; }} catch (error) {{ return {otherwise}; }} }})()"
