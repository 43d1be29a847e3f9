"""`webagent world`: the map of a run's pages, and how well they are predicted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tyro.conf import OmitArgPrefixes, Positional

from loop.console.output import CommandResult
from loop.flat import Important
from loop.world_models import read_success
from recipes.settings import resolve
from recipes.world_figures import MeasureChoice, measure
from tasks.suite import split_of
from webagent.errors import StoreError, UsageError
from webagent.store import Store
from worldmodel.map import MapEdge, SiteMap, build_map
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import transitions

_UNTRIED = 6


@dataclass(frozen=True)
class WorldConfig:
    """Map the site of a run, or measure how well its pages are predicted.

    The map is built from every real transition and printed.
    """

    run: Important[Positional[Path]] = Path()
    """The run folder. Default: the current folder."""
    to: Important[str] = ""
    """Words of a page: print the path to it from where episodes start."""
    test: Important[bool] = False
    """Include episodes on test seeds in the map."""
    measure: Important[Path | None] = None
    """Instead of the map, evaluate memory and its baselines on the run's episodes on test seeds,
    after learning from all others, and write the figures into this JSON file as rows of benchmark,
    model, figure, value, low, high. Rows of other benchmarks are kept, and those of other models
    that were measured on the same steps."""
    measured: OmitArgPrefixes[MeasureChoice] = field(default_factory=MeasureChoice)
    """Predictions that are measured."""


@dataclass(frozen=True, slots=True)
class MapShown:
    """The map."""

    site: str
    transitions: int
    kinds: int
    """Kinds of pages."""
    edges: int
    unexplored: int
    """Elements present on all pages of a kind that were never tried there."""
    way: list[str] = field(default_factory=list)
    """With `--to`: the actions of the path."""


@dataclass(frozen=True, slots=True)
class PredictionFacts:
    """What was measured."""

    run: str
    place: str
    """File of the rows."""
    count: int
    """Number of rows."""


def main(argv: Sequence[str]) -> CommandResult:
    """Map or measure. Raises `StoreError` for a run without real steps."""
    config = resolve(WorldConfig, "world", argv)
    if config.measure is not None:
        count = measure(config.run, config.measure, config.measured, argv)
        return CommandResult(PredictionFacts(str(config.run), str(config.measure), count))
    memory = RememberedWorld()
    with Store.look(config.run) as store:
        # One without a verdict counts as failed, as its pages are just as real.
        success = {episode: value or 0.0 for episode, value in read_success(store).items()}
        episodes = (
            each
            for each in store.trajectories()
            if not each.provenance.imagined and (config.test or split_of(each.task.seed) != "test")
        )
        memory.learn(transitions(episodes, success))
    if not memory.cases:
        raise StoreError(
            f"{config.run} contains no real step to map; collect some first:"
            " webagent collect --random-share 0.3"
        )
    site = build_map(memory.cases)
    start = memory.cases[0].kind
    way: Sequence[MapEdge] = ()
    if config.to:
        pages = site.find(config.to)
        if not pages:
            raise UsageError(f"no known page of {site.site} contains {config.to!r}")
        way = next(filter(None, (site.way(start, page.kind) for page in pages[:5])), ())
        if not way:
            raise UsageError(f"no way from {start} to {pages[0].kind} was seen")
    untried = sum(len(page.unexplored) for page in site.pages.values())
    counts = (site.transitions, len(site.pages), len(site.edges), untried)
    shown = MapShown(site.site, *counts, [edge.label for edge in way])
    _print(site, shown, way, config)
    return CommandResult(shown)


def _print(site: SiteMap, shown: MapShown, way: Sequence[MapEdge], config: WorldConfig) -> None:
    print(
        f"{site.site}: {shown.kinds} kinds of pages and {shown.edges} edges of"
        f" {shown.transitions:,} transitions"
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
                leads = ", ".join(f"{where} {count}" for where, count in edge.outcomes.items())
                adds = f"; adds {', '.join(edge.adds)}" if edge.adds else ""
                print(f"  {edge.label} → {leads}{adds}")
        if page.unexplored:
            more = len(page.unexplored) - _UNTRIED
            rest = f" and {more} more" if more > 0 else ""
            print(f"  never tried: {', '.join(page.unexplored[:_UNTRIED])}{rest}")
