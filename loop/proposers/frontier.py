"""The frontier: a site as a graph of kinds of pages, and which of them to go to next.

After Go-Browse (arXiv 2506.03533): pages are nodes, the least explored are visited first. Unlike
there, pages of one kind are one node, so that five hundred products are a few.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from worldmodel.kinds import mask_address

_SEARCHES = re.compile(r"search|filter|/(find|go)$", re.IGNORECASE)
_ALIKE = 3
"""From so many pages on, differing in one part of the path only, that part is a variable."""

UNKNOWN_PATH = tuple("?" * 12)
"""The way to a page that only its address leads to: longer than any other."""


@dataclass(slots=True)
class PageNode:
    """A kind of page: what is offered on it, and what has been tried."""

    key: str
    url: str
    """Where it was first seen."""
    title: str
    way: tuple[str, ...]
    """Names of the links that lead there from the start page, the shortest known."""
    offers: set[str] = field(default_factory=set)
    """What can be done there: `form:...`, `button:...`, `link:...`."""
    tried: Counter[str] = field(default_factory=Counter)
    visits: int = 0
    """Episodes that were sent there."""
    followed: int = 0
    found: int = 0
    """Links followed from there, and how many led to a page not known before."""
    surprise: float = 0.0
    """Sum over what was tried there."""

    @property
    def link_yield(self) -> float:
        """Expected share of links that lead to a new kind of page, from a prior of one half."""
        return (self.found + 1) / (self.followed + 2)

    @property
    def mean_surprise(self) -> float:
        """Over what was tried; what was never tried surprises by one."""
        count = self.tried.total()
        return (1.0 + self.surprise) / (1 + count)


@dataclass(frozen=True, slots=True)
class PageDescription:
    """A page as it was met."""

    url: str
    title: str
    structure: frozenset[str]
    """Its fields and buttons, by label and kind; what pages of one kind share."""
    offers: frozenset[str]
    way: tuple[str, ...]


class Frontier:
    """The pages known so far, and an order among them."""

    def __init__(self, curiosity: float = 1.0) -> None:
        """`curiosity`: how much surprise raises a page's priority; 0 for counts alone."""
        self.nodes: dict[str, PageNode] = {}
        self.links_tried: Counter[str] = Counter()
        """By name, whatever the page: a site's menu is the same everywhere."""
        self._curiosity = curiosity
        self._patterns: dict[tuple[str, ...], set[str]] = {}

    def see(self, page: PageDescription) -> PageNode:
        """Return the node of a page's kind, a new one where the kind was not known.

        A kind is the pattern of the path with what fields and buttons there are; for a page that
        has none, with the keys of its query.
        """
        path, _, query = mask_address(page.url).partition("?")
        shape = "|".join(sorted(page.structure))
        segments = path.split("/")
        places = range(2, len(segments))
        for place in places:
            slot = _slot(segments, place, shape)
            self._patterns.setdefault(slot, set()).add(segments[place])
        for place in places:
            if len(self._patterns.get(_slot(segments, place, shape), ())) >= _ALIKE:
                segments[place] = "*"
        key = f"{'/'.join(segments)} {shape or query}"
        node = self.nodes.setdefault(key, PageNode(key, page.url, page.title, page.way))
        if len(page.way) < len(node.way):
            node.way, node.url = page.way, page.url
        node.offers |= page.offers
        return node

    def note(self, node: PageNode, offer: str, surprise: float, found_new: bool) -> None:
        """Count an offer of a page as tried, with its surprise and whether it led to a new page."""
        node.tried[offer] += 1
        node.surprise += surprise
        if offer.startswith("link:"):
            self.links_tried[offer] += 1
            node.followed += 1
            node.found += found_new

    def untried(self, node: PageNode) -> list[str]:
        """Return what a page offers that was never tried; a link counts as tried on any page."""
        return sorted(
            offer for offer in node.offers if not node.tried[offer] and not self.links_tried[offer]
        )

    def priority(self, node: PageNode) -> float:
        """Return the promise of going there: forms count whole, links by their yield."""
        left = self.untried(node)
        forms = sum(weigh_form(offer) for offer in left if offer.startswith("form:"))
        links = sum(offer.startswith("link:") for offer in left)
        buttons = any(offer.startswith("button:") for offer in left)
        promise = 0.1 + forms + buttons + node.link_yield * min(links, 10) / 2
        curious = 1.0 + self._curiosity * node.mean_surprise
        return promise * curious / (1 + node.visits) / (1 + 0.1 * len(node.way))

    def choose(self, count: int, rng: np.random.Generator) -> list[PageNode]:
        """Return the next pages to go to, best first; each counts as visited at once."""
        chosen = []
        for _ in range(count):
            if not self.nodes:
                break
            names = sorted(self.nodes)
            jitter = rng.random(len(names)) * 1e-3
            scores = [self.priority(self.nodes[name]) for name in names]
            best = int(np.argmax(np.asarray(scores) + jitter))
            node = self.nodes[names[best]]
            node.visits += 1
            chosen.append(node)
        return chosen


def weigh_form(offer: str) -> float:
    """Return how much to expect of a form: the more fields it has the more.

    Little of one that searches, and less of one without a button, which mostly is a filter.
    """
    _, _, rest = offer.partition("/")
    labels, _, button = rest.rpartition("/")
    if button == "Enter":
        return 0.2
    if _SEARCHES.search(offer):
        return 0.4
    return 1.0 + 0.5 * min(4, labels.count(","))


def _slot(segments: Sequence[str], place: int, shape: str) -> tuple[str, ...]:
    return (*segments[:place], "?", *segments[place + 1 :], shape)
