"""The map of a site: kinds of pages and the actions between them."""

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from worldmodel.cases import TransitionCase
from worldmodel.kinds import mask_address
from worldmodel.lines import mask

_LIST = 4
"""Names from which elements with the same effect are combined as `*`."""
_SHARED = 0.8
_LINES = 12
_EXAMPLES = 3
_OFFERS = ("link", "button", "tab", "checkbox", "radio", "combobox", "textbox", "menuitem")


@dataclass(slots=True)
class MapPage:
    """A kind of page."""

    kind: str
    url: str
    """A URL of this kind."""
    title: str
    visits: int = 0
    addresses: list[str] = field(default_factory=list)
    """Some of the seen URLs."""
    different: int = 0
    """Number of seen URLs."""
    lines: list[str] = field(default_factory=list)
    """Beginnings of the first lines that the pages of the kind share."""
    unexplored: list[str] = field(default_factory=list)
    """Elements that were never tried."""


@dataclass(slots=True)
class MapEdge:
    """An action on a kind of page, with its outcomes."""

    page: str
    op: str
    role: str
    name: str
    """Name of the element, numbers masked; `*` for any of a list."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """Count of each outcome: a kind of page, `stays`, `nothing` or `over`."""
    adds: list[str] = field(default_factory=list)
    """Lines that appeared every time."""

    @property
    def tries(self) -> int:
        """Return how often the action was performed."""
        return sum(self.outcomes.values())

    @property
    def label(self) -> str:
        """The action in words."""
        return " ".join(each for each in (self.op, self.role, f'"{self.name}"') if each)


@dataclass(slots=True)
class SiteMap:
    """Kinds of pages and edges between them."""

    pages: dict[str, MapPage]
    edges: list[MapEdge]
    transitions: int = 0
    site: str = ""

    def way(self, start: str, goal: str) -> list[MapEdge] | None:
        """Return the shortest likely path from one kind of page to another; None if none is
        known."""
        out: defaultdict[str, list[tuple[str, MapEdge]]] = defaultdict(list)
        for edge in self.edges:
            for where, count in edge.outcomes.items():
                if where in self.pages and 2 * count >= edge.tries:
                    out[edge.page].append((where, edge))
        seen, left = {start}, deque([(start, list[MapEdge]())])
        while left:
            here, way = left.popleft()
            if here == goal:
                return way
            for where, edge in out[here]:
                if where not in seen:
                    seen.add(where)
                    left.append((where, [*way, edge]))
        return None

    def find(self, words: str) -> list[MapPage]:
        """Return kinds of pages whose title, URL or lines contain the words, the best first."""
        wanted = words.lower().split()
        found = []
        for page in self.pages.values():
            text = " ".join((page.kind, page.title, *page.addresses, *page.lines)).lower()
            hits = sum(word in text for word in wanted)
            found += [(-hits, -page.visits, page)] if hits else []
        return [page for _, _, page in sorted(found, key=lambda each: each[:2])]


def build_map(cases: Sequence[TransitionCase]) -> SiteMap:
    """Return the map of remembered transitions."""
    groups: defaultdict[tuple[str, str, str, str], list[TransitionCase]] = defaultdict(list)
    for case in cases:
        if case.op not in ("answer", "give_up"):
            role, name = (case.node.role, mask(case.node.name)) if case.node else ("", "")
            groups[case.kind, case.op, role, name].append(case)
    found = []
    for key, group in groups.items():
        adds: list[str] = []
        if all(case.effect[0] == "stays" for case in group):
            common = set.intersection(*(set(c.after.names - c.before.names) for c in group))
            nodes = zip(group[0].after.named, group[0].after.nodes, strict=True)
            adds = [node.name for name, node in nodes if name in common and node.name]
        effects = (case.effect for case in group)
        counts = Counter(target[0] if kind == "goes" else kind for kind, *target in effects)
        found.append(MapEdge(*key, dict(counts.most_common()), adds[:_EXAMPLES]))
    edges = merge_lists(found)
    tried = {(e.page, e.role, e.name) for e in edges}
    pages = _pages(cases, tried)
    hosts = Counter(c.situation.observation.url.split("/", 3)[2] for c in cases)
    site = hosts.most_common(1)[0][0] if hosts else ""
    return SiteMap(pages, edges, len(cases), site)


def merge_lists(edges: Sequence[MapEdge]) -> list[MapEdge]:
    """Return the edges, with those of many names and the same outcome combined as `*`."""
    groups: defaultdict[tuple[str, ...], list[MapEdge]] = defaultdict(list)
    for edge in edges:
        groups[edge.page, edge.op, edge.role, *edge.outcomes].append(edge)
    found = []
    for group in groups.values():
        if len(group) < _LIST or len(group[0].outcomes) > 1:
            found += group
            continue
        counts: Counter[str] = Counter()
        for edge in group:
            counts.update(edge.outcomes)
        first = group[0]
        found.append(MapEdge(first.page, first.op, first.role, "*", dict(counts)))
    return sorted(found, key=lambda edge: (edge.page, -edge.tries, edge.label))


def _pages(cases: Sequence[TransitionCase], tried: set[tuple[str, str, str]]) -> dict[str, MapPage]:
    seen: defaultdict[str, list[TransitionCase]] = defaultdict(list)
    for case in cases:
        seen[case.kind].append(case)
    found = {}
    for kind, group in sorted(seen.items(), key=lambda each: -len(each[1])):
        first = group[0].situation.observation
        urls = Counter(case.situation.observation.url for case in group)
        lines: Counter[int] = Counter(name for case in group for name in case.before.names)
        shared = {name for name, count in lines.items() if count >= _SHARED * len(group)}
        named = zip(group[0].before.named, group[0].before.nodes, strict=True)
        common = [node for name, node in named if name in shared and node.name]
        # What all pages of the kind offer and nobody has tried there.
        untried = [
            f'{node.role} "{node.name}"'
            for node in common
            if node.mark
            and node.role in _OFFERS
            and not {(kind, node.role, mask(node.name)), (kind, node.role, "*")} & tried
        ]
        page = MapPage(kind, first.url, first.title, len(group))
        page.addresses = [url for url, _ in urls.most_common(_EXAMPLES)]
        page.different = len(urls)
        page.lines = list(dict.fromkeys(node.name[:80] for node in common))[:_LINES]
        page.unexplored = list(dict.fromkeys(untried))
        found[kind] = page
    for case in cases:
        after = case.transition.after
        if (kind := mask_address(after.url)) not in found:
            found[kind] = MapPage(kind, after.url, after.title, 0, [after.url], 1)
    return found
