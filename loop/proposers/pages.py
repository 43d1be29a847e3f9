"""From a site's name alone, or from pages that were visited, as PAE does it.

Zhou et al., "Proposer-Agent-Evaluator" (ICML 2025): the proposer is shown the name of the site, or
screenshots of it, and asked for many tasks at once that need no login and stay right over time.
Here it may be shown the pages' text as well, for models that do not look at pictures, and a local
copy of a site may be changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from loop.proposers.request import Request, common_slots, shared_out
from loop.proposers.scope import Scope
from tasks.task import Task

_LONGEST = 4000
"""Characters of a page's text that are shown, at most."""


@dataclass(frozen=True, slots=True)
class PageSeen:
    """A page of the site as it was visited."""

    url: str
    title: str
    text: str
    screenshot: str = ""
    """Reference to its picture; empty where none was taken."""


def from_name(scope: Scope, count: int, known: Sequence[Task] = ()) -> list[Request]:
    """The request that tells the site's name and nothing else of it."""
    return [Request("pages", "name", count, common_slots(scope, count, known))] if count else []


def from_pages(
    scope: Scope,
    pages: Sequence[PageSeen],
    count: int,
    known: Sequence[Task] = (),
    at_once: int = 4,
) -> list[Request]:
    """Requests that show some pages each, `count` tasks in all."""
    groups = [pages[start : start + at_once] for start in range(0, len(pages), at_once)]
    shares = shared_out(count, len(groups))
    return [
        _request(scope, group, share, known)
        for group, share in zip(groups, shares, strict=True)
        if share
    ]


def told(pages: Sequence[PageSeen]) -> str:
    """The pages by number, as text."""
    return "\n\n".join(
        f"{number}. {page.title or 'without a title'}\n{page.url}\n{page.text[:_LONGEST]}"
        for number, page in enumerate(pages, 1)
    )


def _request(scope: Scope, pages: Sequence[PageSeen], count: int, known: Sequence[Task]) -> Request:
    return Request(
        "pages",
        "pages",
        count,
        common_slots(scope, count, known),
        {"pages": told(pages)},
        tuple(page.screenshot for page in pages if page.screenshot),
        tuple(f"the page {page.url}" for page in pages),
    )
