"""The map of a site: kinds of pages, the actions between them, and certain rules."""

import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from webagent.errors import StoreError
from worldmodel.cases import Occasion, TransitionCase
from worldmodel.kinds import mask_address
from worldmodel.lines import mask

VERSION = 1
FOLDER = "map"
"""Folder of the maps in a run folder: one file per version, the newest is used."""
_CERTAIN = 3
"""Observations from which a consistent outcome counts as a rule."""
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
class MapRule:
    """An outcome that always follows; it overrides memory."""

    page: str
    op: str
    role: str
    name: str
    leads: str
    """A kind of page, `stays`, `nothing` or `over`."""
    when: str = ""
    """A condition on the page before: `textbox "Search" is filled`; empty for always."""
    tries: int = 0
    source: str = "seen"
    """`seen`, or `person` for rules written into the map by a person: those are kept when the map
    is rebuilt, and may contradict observations."""

    def applies(self, there: Occasion) -> bool:
        """Return whether the rule covers an action on a page."""
        node = there.node
        role, name = (node.role, mask(node.name)) if node else ("", "")
        same = (self.page, self.op, self.role) == (there.kind, there.op, role)
        return same and self.name in ("*", name) and (not self.when or self.when in facts_of(there))


@dataclass(slots=True)
class SiteMap:
    """Kinds of pages, edges between them, rules."""

    pages: dict[str, MapPage]
    edges: list[MapEdge]
    rules: list[MapRule]
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

    def save(self, run: Path) -> Path:
        """Write the map as the next version, unless nothing changed. Returns the file."""
        folder = run / FOLDER
        folder.mkdir(exist_ok=True)
        text = json.dumps({"version": VERSION, **asdict(self)}, indent=1, ensure_ascii=False)
        numbers = [int(file.stem) for file in folder.glob("*.json") if file.stem.isdigit()]
        last = folder / f"{max(numbers, default=0)}.json"
        if numbers and last.read_text(encoding="utf-8") == text:
            return last
        file = folder / f"{max(numbers, default=0) + 1}.json"
        file.write_text(text, encoding="utf-8")
        return file

    @classmethod
    def load(cls, run: Path) -> "SiteMap | None":
        """Return the newest version in a run folder; None where there is none.

        Raises `StoreError` for a file that is no map, a map of another version, and rules that
        contradict each other.
        """
        numbers = [int(f.stem) for f in (run / FOLDER).glob("*.json") if f.stem.isdigit()]
        if not numbers:
            return None
        file = run / FOLDER / f"{max(numbers)}.json"
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
            if stored.pop("version") != VERSION:
                raise StoreError(
                    f"{file} is a map of another version; build it: webagent world {run}"
                )
            pages = {kind: MapPage(**page) for kind, page in stored["pages"].items()}
            edges = [MapEdge(**edge) for edge in stored["edges"]]
            rules = [MapRule(**rule) for rule in stored["rules"]]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StoreError(
                f"{file} cannot be read as a map ({error}); mend it, or move it away and build it"
                f" again: webagent world {run}"
            ) from error
        check_rules(rules, str(file))
        return cls(pages, edges, rules, stored["transitions"], stored["site"])


def read_rules(run: Path, cases: Sequence[TransitionCase]) -> list[MapRule]:
    """Return the rules that a person wrote into a run's map. Raises `StoreError` for the map of
    another site, and as `SiteMap.load`."""
    site = SiteMap.load(run)
    rules = [rule for rule in site.rules if rule.source == "person"] if site else []
    known = {case.kind for case in cases}
    if site and rules and not known & set(site.pages):
        raise StoreError(
            f"the map in {run / FOLDER} is of {site.site}, and no page of this run is on it;"
            f" move it away and build it again: webagent world {run}"
        )
    return rules


def check_rules(rules: Iterable[MapRule], where: str) -> None:
    """Raise `StoreError` if a person's rules contradict each other."""
    known: dict[tuple[str, ...], MapRule] = {}
    for rule in rules:
        if rule.source != "person":
            continue
        key = (rule.page, rule.op, rule.role, rule.name, rule.when)
        other = known.setdefault(key, rule)
        if other.leads != rule.leads:
            raise StoreError(
                f'{where} holds two rules for {rule.op} {rule.role} "{rule.name}" on {rule.page}:'
                f" one leads to {other.leads}, the other to {rule.leads}; leave one of them out"
            )


def build_map(cases: Sequence[TransitionCase], old: SiteMap | None = None) -> SiteMap:
    """Return the map of remembered transitions, with a person's rules from an old one."""
    edges = merge_lists(_edges(cases))
    tried = {(e.page, e.role, e.name) for e in edges}
    pages = _pages(cases, tried)
    kept = [rule for rule in old.rules if rule.source == "person"] if old else []
    hosts = Counter(c.situation.observation.url.split("/", 3)[2] for c in cases)
    site = hosts.most_common(1)[0][0] if hosts else ""
    return SiteMap(pages, edges, [*kept, *_rules(cases)], len(cases), site)


def outcome_of(case: TransitionCase) -> str:
    """Return the outcome of an action: a kind of page, `stays`, `nothing` or `over`."""
    return case.effect[1] if case.effect[0] == "goes" else case.effect[0]


def facts_of(there: Occasion) -> set[str]:
    """Return the facts a rule's condition can use: which fields are filled and which are empty."""
    filled, empty = there.filled - there.empty, there.empty
    found = {f'{role} "{name}" is filled' for role, name in filled}
    return found | {f'{role} "{name}" is empty' for role, name in empty}


def _key(case: TransitionCase) -> tuple[str, str, str, str]:
    node = case.node
    role, name = (node.role, mask(node.name)) if node else ("", "")
    return case.kind, case.op, role, name


def _edges(cases: Sequence[TransitionCase]) -> list[MapEdge]:
    groups: defaultdict[tuple[str, str, str, str], list[TransitionCase]] = defaultdict(list)
    for case in cases:
        if case.op not in ("answer", "give_up"):
            groups[_key(case)].append(case)
    found = []
    for key, group in groups.items():
        adds: list[str] = []
        if all(case.effect[0] == "stays" for case in group):
            common = set.intersection(*(set(c.after.names - c.before.names) for c in group))
            nodes = zip(group[0].after.named, group[0].after.nodes, strict=True)
            adds = [node.name for name, node in nodes if name in common and node.name]
        counts = Counter(outcome_of(case) for case in group)
        found.append(MapEdge(*key, dict(counts.most_common()), adds[:_EXAMPLES]))
    return found


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


def _rules(cases: Sequence[TransitionCase]) -> list[MapRule]:
    groups: defaultdict[tuple[str, str, str, str], list[TransitionCase]] = defaultdict(list)
    for case in cases:
        if case.op in ("click", "press"):
            groups[_key(case)].append(case)
    found = []
    for key, group in sorted(groups.items()):
        counts = Counter(outcome_of(case) for case in group)
        if len(counts) == 1 and len(group) >= _CERTAIN:
            found.append(MapRule(*key, next(iter(counts)), tries=len(group)))
        elif len(group) >= 2 * _CERTAIN:
            found += _conditions(key, group)
    return found


def _conditions(key: tuple[str, str, str, str], group: Sequence[TransitionCase]) -> list[MapRule]:
    """Return rules for an action with two outcomes, by what differs on the page before."""
    observed = [(facts_of(case), outcome_of(case)) for case in group]
    for fact in sorted({fact for facts, _ in observed for fact in facts}):
        yes = [outcome for facts, outcome in observed if fact in facts]
        no = [outcome for facts, outcome in observed if fact not in facts]
        is_telling = len(set(yes)) == 1 == len(set(no)) and set(yes) != set(no)
        if is_telling and min(len(yes), len(no)) >= _CERTAIN:
            text, _, state = fact.rpartition(" ")
            other = f"{text} {'empty' if state == 'filled' else 'filled'}"
            return [
                MapRule(*key, yes[0], when=fact, tries=len(yes)),
                MapRule(*key, no[0], when=other, tries=len(no)),
            ]
    return []
