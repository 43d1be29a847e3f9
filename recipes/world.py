"""`webagent world`: the map of a run's pages, how well they are predicted, the predicted site."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tyro.conf import OmitArgPrefixes, Positional

from apps.listening import LOOPBACK, address_of, listen
from loop.console.output import CommandResult
from loop.console.pulse import current
from loop.flat import Important
from loop.world_models import read_success
from recipes.settings import resolve
from recipes.world_figures import MeasureChoice, measure
from tasks.suite import split_of
from webagent.errors import StoreError, UsageError
from webagent.store import Store
from worldmodel.map import MapEdge, SiteMap, build_map
from worldmodel.recall import RememberedWorld
from worldmodel.simulate import start_at
from worldmodel.transitions import transitions

_UNTRIED = 6


@dataclass(frozen=True)
class WorldConfig:
    """Map the site of a run, measure how well its pages are predicted, or serve the predicted site.

    The map is built from every real transition and printed.
    """

    run: Important[Positional[Path]] = Path()
    """The run folder. Default: the current folder."""
    to: Important[str] = ""
    """Words of a page: print the path to it from where episodes start."""
    test: Important[bool] = False
    """Include episodes on test seeds in the map."""
    serve: Important[bool] = False
    """Instead of the map, serve the site as memory predicts it to a browser on this machine, from
    the first page of an episode, until Ctrl-C."""
    episode: str = ""
    """With --serve: id of that episode, or its first characters. Default: the run's first."""
    port: int = 7788
    """With --serve: port to listen on."""
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
    """What was measured, or served."""

    run: str
    place: str
    """File of the rows, or the address of the predicted site."""
    count: int
    """Number of rows, or of the real steps that the site is predicted from."""


def main(argv: Sequence[str]) -> CommandResult:
    """Map, measure or serve. Raises `UsageError` for several at once."""
    config = resolve(WorldConfig, "world", argv)
    if config.serve and config.measure is not None:
        raise UsageError("--serve and --measure each replace the map; give one")
    if config.serve:
        return _serve(config)
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


def _serve(config: WorldConfig) -> CommandResult:
    """Serve the predicted site until Ctrl-C. Raises `UsageError` for an episode that is not there,
    and as `listen` does."""
    from apps.predicted_site import PredictedSite, server_of

    with Store.look(config.run) as store:
        real = [each for each in store.trajectories() if not each.provenance.imagined]
        success = read_success(store)
    # Whoever has seen no failure, or no success, cannot tell which action leads to one.
    knows_success = len({value >= 0.5 for value in success.values() if value is not None}) == 2
    memory = RememberedWorld()
    memory.learn(transitions(real, success if knows_success else dict.fromkeys(success, 0.0)))
    first = next((e for e in real if e.steps and e.id.startswith(config.episode)), None)
    if first is None:
        raise UsageError(
            f"{config.run} has no episode with steps whose id begins {config.episode!r}"
        )
    site = PredictedSite(memory, start_at(first), memory.page_at, knows_success)
    count = len(memory.cases)
    with listen(LOOPBACK[0], config.port) as listening, suppress(KeyboardInterrupt):
        address = f"{address_of(LOOPBACK[0], listening.getsockname()[1])}/"
        print(f"{address} is predicted from {count:,} real steps (Ctrl-C ends it)", flush=True)
        if pulse := current():
            pulse.displays += 1  # from here on a person is at work
        server_of(site).run(sockets=[listening])
    return CommandResult(PredictionFacts(str(config.run), address, count))
