"""`webagent map`: a run's site as a map of its pages and the actions between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tyro.conf import Positional

from loop.console.output import CommandResult
from recipes.settings import resolve
from tasks.suite import split_of
from webagent.errors import StoreError, UsageError
from webagent.records import Trajectory
from webagent.store import Store
from worldmodel.drawing import draw_map
from worldmodel.map import MapEdge, SiteMap, build_map
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import transitions

_UNTRIED = 6


@dataclass(frozen=True)
class MapConfig:
    """Build the map of a run's site from every real transition, save it as the next version in
    RUN/map, and print it. Rules of the previous version with the source `person` are kept and
    override observations."""

    run: Positional[Path] = Path()
    """The run folder. Default: the current folder."""
    to: str = ""
    """Words of a page: print the path to it from where episodes start."""
    draw: Path | None = None
    """File for a drawing of the map, as HTML."""
    test: bool = False
    """Include episodes on test seeds."""


@dataclass(frozen=True, slots=True)
class MapShown:
    """The map."""

    file: str
    """File of the map."""
    site: str
    transitions: int
    kinds: int
    """Kinds of pages."""
    edges: int
    rules: int
    unexplored: int
    """Elements present on all pages of a kind that were never tried there."""
    way: list[str] = field(default_factory=list)
    """With `--to`: the actions of the path."""


def main(argv: Sequence[str]) -> CommandResult:
    """Build, save and print the map."""
    config = resolve(MapConfig, "map", argv)
    memory = RememberedWorld()
    with Store.look(config.run) as store:
        # One without a verdict counts as failed, as its pages are just as real.
        success: dict[str, float | None] = dict.fromkeys(store.ids("any"), 0.0)
        for episode, scores in store.scores().items():
            success[episode] = max(
                (s.value or 0.0 for s in scores if s.name == "success"), default=0.0
            )
        memory.learn(transitions(_episodes(store, config), success))
    if not memory.cases:
        raise StoreError(
            f"{config.run} contains no real step to map; collect some first:"
            " webagent collect --random-share 0.3"
        )
    site = build_map(memory.cases, SiteMap.load(config.run))
    file = site.save(config.run)
    start = memory.cases[0].kind
    way = _way(site, start, config.to) if config.to else []
    if config.draw is not None:
        config.draw.write_text(draw_map(site, start), encoding="utf-8")
    untried = sum(len(page.unexplored) for page in site.pages.values())
    counts = (site.transitions, len(site.pages), len(site.edges), len(site.rules), untried)
    shown = MapShown(str(file), site.site, *counts, [edge.label for edge in way])
    _print(site, shown, way, config)
    return CommandResult(shown)


def _episodes(store: Store, config: MapConfig) -> Iterator[Trajectory]:
    for episode in store.trajectories():
        if not episode.provenance.imagined and (
            config.test or split_of(episode.task.seed) != "test"
        ):
            yield episode


def _way(site: SiteMap, start: str, words: str) -> list[MapEdge]:
    pages = site.find(words)
    if not pages:
        raise UsageError(f"no known page of {site.site} contains {words!r}")
    for page in pages[:5]:
        if way := site.way(start, page.kind):
            return way
    raise UsageError(f"no way from {start} to {pages[0].kind} was seen")


def _print(site: SiteMap, shown: MapShown, way: Sequence[MapEdge], config: MapConfig) -> None:
    print(
        f"{site.site}: {shown.kinds} kinds of pages, {shown.edges} edges and {shown.rules} rules of"
        f" {shown.transitions:,} transitions, in {shown.file}"
    )
    if config.to:
        for number, edge in enumerate(way, 1):
            print(f"{number}. on {edge.page}: {edge.label} → {next(iter(edge.outcomes))}")
        return
    for page in site.pages.values():
        seen = f"{page.visits} steps, {page.different} addresses"
        print(f"\n{page.kind}  {page.title!r} ({seen})")
        for edge in site.edges:
            if edge.page == page.kind:
                told = ", ".join(f"{where} {count}" for where, count in edge.outcomes.items())
                adds = f"; adds {', '.join(edge.adds)}" if edge.adds else ""
                print(f"  {edge.label} → {told}{adds}")
        for rule in site.rules:
            if rule.page == page.kind and (rule.when or rule.source == "person"):
                when = f" when {rule.when}" if rule.when else ""
                print(f'  rule: {rule.op} {rule.role} "{rule.name}" → {rule.leads}{when}')
        if page.unexplored:
            more = len(page.unexplored) - _UNTRIED
            rest = f" and {more} more" if more > 0 else ""
            print(f"  never tried: {', '.join(page.unexplored[:_UNTRIED])}{rest}")
