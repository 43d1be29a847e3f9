"""The frontier: a site as a graph of kinds of pages, and which of them to go to next.

After Go-Browse (arXiv 2506.03533): pages are nodes, the least explored are visited first. Unlike
there, pages of one kind are one node, so that five hundred products are a few.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import numpy as np

_VARIABLE = re.compile(r"\d|%|\+|^.{31,}$|^[0-9a-f]{8,}$")
_SEARCHES = re.compile(r"search|filter|/(find|go)$", re.IGNORECASE)
_ALIKE = 3
"""From so many pages on, differing in one part of the path only, that part is a variable."""

UNKNOWN_PATH = tuple("?" * 12)
"""The way to a page that only its address leads to: longer than any other."""


def mask_address(url: str) -> str:
    """The address with what differs from thing to thing as `*`: `/catalogue/*?page=*`."""
    parts = urlsplit(url)
    segments = ["*" if _VARIABLE.search(part) else part for part in parts.path.split("/")]
    keys = sorted({key for key, _ in parse_qsl(parts.query, keep_blank_values=True)})
    query = "&".join(f"{key}=*" for key in keys)
    return "/".join(segments).rstrip("/") + (f"?{query}" if query else "") or "/"


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

    def key(self, sighting: PageDescription) -> str:
        """The name of the page's kind: pattern of the path, and what fields and buttons there are;
        for a page that has none, what its address asks."""
        path, _, query = mask_address(sighting.url).partition("?")
        shape = "|".join(sorted(sighting.structure))
        segments = path.split("/")
        for place in range(2, len(segments)):
            if len(self._patterns.get(_slot(segments, place, shape), ())) >= _ALIKE:
                segments[place] = "*"
        return f"{'/'.join(segments)} {shape or query}"

    def see(self, sighting: PageDescription) -> tuple[PageNode, bool]:
        """The node of a page, and whether it is a new one."""
        path, _, _ = mask_address(sighting.url).partition("?")
        shape = "|".join(sorted(sighting.structure))
        segments = path.split("/")
        for place in range(2, len(segments)):
            slot = _slot(segments, place, shape)
            self._patterns.setdefault(slot, set()).add(segments[place])
        key = self.key(sighting)
        node = self.nodes.get(key)
        is_new = node is None
        if node is None:
            node = PageNode(key, sighting.url, sighting.title, sighting.way)
            self.nodes[key] = node
        elif len(sighting.way) < len(node.way):
            node.way, node.url = sighting.way, sighting.url
        node.offers |= sighting.offers
        return node, is_new

    def note(self, node: PageNode, page_action: str, surprise: float, found_new: bool) -> None:
        """Something was tried on a page."""
        node.tried[page_action] += 1
        node.surprise += surprise
        if page_action.startswith("link:"):
            self.links_tried[page_action] += 1
            node.followed += 1
            node.found += found_new

    def untried(self, node: PageNode) -> list[str]:
        """What a page offers that nobody has done; links count as done wherever they were."""
        return sorted(
            offer for offer in node.offers if not node.tried[offer] and not self.links_tried[offer]
        )

    def priority(self, node: PageNode) -> float:
        """How much is to be expected of going there: forms count whole, links by their yield."""
        left = self.untried(node)
        forms = sum(weigh_form(offer) for offer in left if offer.startswith("form:"))
        links = sum(offer.startswith("link:") for offer in left)
        buttons = any(offer.startswith("button:") for offer in left)
        promise = 0.1 + forms + buttons + node.link_yield * min(links, 10) / 2
        curious = 1.0 + self._curiosity * node.mean_surprise
        return promise * curious / (1 + node.visits) / (1 + 0.1 * len(node.way))

    def choose(self, count: int, rng: np.random.Generator) -> list[PageNode]:
        """The next pages to go to, best first; each counts as visited at once."""
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

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """By page and action, how often it was tried."""
        return {key: dict(node.tried) for key, node in self.nodes.items()}


def explored(nodes: Iterable[PageNode]) -> str:
    """A line for people: how many kinds of pages, and how much of what they offer was tried."""
    listed: Sequence[PageNode] = list(nodes)
    offers = sum(len(node.offers) for node in listed)
    tried = sum(len(node.offers & set(node.tried)) for node in listed)
    return f"{len(listed)} kinds of pages, {tried} of {offers} things on offer tried"


def weigh_form(offer: str) -> float:
    """How much is to be expected of a form: the more fields it has the more; little of one that
    searches, and less of one without a button, which is a filter more often than not."""
    _, _, rest = offer.partition("/")
    labels, _, button = rest.rpartition("/")
    if button == "Enter":
        return 0.2
    if _SEARCHES.search(offer):
        return 0.4
    return 1.0 + 0.5 * min(4, labels.count(","))


def _slot(segments: Sequence[str], place: int, shape: str) -> tuple[str, ...]:
    return (*segments[:place], "?", *segments[place + 1 :], shape)
