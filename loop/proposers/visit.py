"""Visiting a site's pages: a walk along its links, different kinds of pages first."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from urllib.parse import urldefrag, urlsplit

import numpy as np

from loop.proposers.manual import Chapter, chapters
from loop.proposers.pages import PageSeen
from loop.proposers.scope import Scope
from tasks.task import Task
from webagent.errors import WorldError
from webagent.observation.variants import variant_named
from webagent.records import Observation
from webagent.rollout.world import World

OpenWorld = Callable[[], Awaitable[World]]

_MOST_TOKENS = 1500
_LINKS = "[...document.links].map((link) => link.href).slice(0, 400)"
_PAGE = "document.documentElement.outerHTML"
_VARIABLE = re.compile(r"\d+|%[0-9a-f]{2}|[0-9a-f]{8,}", re.IGNORECASE)
_LEAVING = re.compile(r"log-?out|sign-?out|logoff|delete|remove|unsubscribe", re.IGNORECASE)
_FILES = re.compile(r"\.(?:zip|tar|gz|pdf|png|jpe?g|gif|svg|css|js|xml|rss|ico)$", re.IGNORECASE)


async def visit(
    open_world: OpenWorld, start: Task, scope: Scope, count: int, seed: int = 0
) -> list[PageSeen]:
    """Up to `count` pages of the site, from where the task starts along links.

    Only pages are opened, and nothing is pressed. A page that does not open is passed over; the
    first one has to. Raises `WorldError`.
    """
    rng = np.random.default_rng(seed)
    waiting, met = [start.start_url], {_plain(start.start_url)}
    seen: list[PageSeen] = []
    world = await open_world()
    try:
        while waiting and len(seen) < count:
            url = waiting.pop(_next(waiting, seen, rng))
            task = replace(start, start_url=url, evidence={"links": _LINKS}, checks=(), records=())
            try:
                page = await world.reset(task)
                links = (await world.evidence(task)).get("links")
            except WorldError:
                if not seen:
                    raise
                continue
            if not scope.holds(page.url):
                continue
            seen.append(page_seen(page))
            for link in links if isinstance(links, list) else ():
                plain = _plain(str(link))
                if plain not in met and _is_worth_opening(plain, scope):
                    met.add(plain)
                    waiting.append(plain)
    finally:
        await world.close()
    return seen


async def visit_manual(open_world: OpenWorld, start: Task) -> list[Chapter]:
    """The chapters of the page that the task starts on. Raises `WorldError`."""
    world = await open_world()
    try:
        task = replace(start, evidence={"page": _PAGE}, checks=(), records=())
        page = await world.reset(task)
        source = (await world.evidence(task)).get("page")
    finally:
        await world.close()
    return chapters(str(source or ""), page.url)


def page_seen(page: Observation) -> PageSeen:
    """A page as a proposer is shown it."""
    text = variant_named("text").write(page, _MOST_TOKENS)
    return PageSeen(page.url, page.title, text, page.screenshot)


def _next(waiting: list[str], seen: list[PageSeen], rng: np.random.Generator) -> int:
    """Which address to open: one of a kind that was seen least, among those any."""
    kinds = [_kind(page.url) for page in seen]
    counts = [kinds.count(_kind(url)) for url in waiting]
    fewest = [index for index, count in enumerate(counts) if count == min(counts)]
    return int(rng.choice(fewest))


def _kind(url: str) -> str:
    """An address with what differs from thing to thing taken out."""
    parts = urlsplit(url)
    keys = sorted(pair.partition("=")[0] for pair in parts.query.split("&"))
    return f"{_VARIABLE.sub('*', parts.path)}?{'&'.join(keys)}"


def _plain(url: str) -> str:
    return urldefrag(url)[0]


def _is_worth_opening(url: str, scope: Scope) -> bool:
    path = urlsplit(url).path
    return scope.holds(url) and not _FILES.search(path) and not _LEAVING.search(url)
