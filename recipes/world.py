"""`webagent world`: how well a run's pages are predicted, and the predicted site."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tyro.conf import OmitArgPrefixes, Positional

from apps.predicted_site import PredictedSite, listen
from loop.console.output import CommandResult
from loop.console.pulse import current
from loop.flat import Important
from loop.world_models import read_success
from recipes.settings import resolve
from recipes.world_figures import MeasureChoice, measure
from webagent.errors import UsageError
from webagent.store import Store
from worldmodel.recall import RememberedWorld
from worldmodel.simulate import start_at
from worldmodel.transitions import transitions


@dataclass(frozen=True)
class WorldConfig:
    """Measure how well memory and its baselines predict the pages of a run's test seeds, after
    learning from all other real steps; or serve the predicted site."""

    run: Important[Positional[Path]] = Path()
    """The run folder. Default: the current folder."""
    serve: Important[bool] = False
    """Instead of measuring, serve the site as memory predicts it to a browser on this machine, from
    the first page of an episode, until Ctrl-C."""
    episode: str = ""
    """With --serve: id of that episode, or its first characters. Default: the run's first
    episode."""
    port: int = 7788
    """With --serve: port to listen on."""
    measure: Important[Path | None] = None
    """JSON file to write the figures into as well, as rows of benchmark, model, figure, value, low,
    high. Rows of other benchmarks are kept, and those of other models that were measured on the
    same steps."""
    measured: OmitArgPrefixes[MeasureChoice] = field(default_factory=MeasureChoice)
    """Predictions that are measured."""


@dataclass(frozen=True, slots=True)
class PredictionFacts:
    """What was measured, or served."""

    run: str
    place: str
    """File of the rows, or the address of the predicted site."""
    count: int
    """Number of rows, or of the real steps that the site is predicted from."""


def main(argv: Sequence[str]) -> CommandResult:
    """Measure or serve. Raises `UsageError` for both at once."""
    config = resolve(WorldConfig, "world", argv)
    if config.serve and config.measure is not None:
        raise UsageError("--serve measures nothing; leave --measure out")
    if config.serve:
        return _serve(config)
    count = measure(config.run, config.measure, config.measured, argv)
    return CommandResult(PredictionFacts(str(config.run), str(config.measure or ""), count))


def _serve(config: WorldConfig) -> CommandResult:
    """Serve the predicted site until Ctrl-C. Raises `UsageError` for an episode that is not there
    and a port that is taken."""
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
    try:
        server = listen(site, config.port)
    except OSError as error:
        raise UsageError(f"port {config.port} cannot be used: {error}; name another") from error
    address = f"http://127.0.0.1:{server.server_port}/"
    print(
        f"{address} is predicted from {len(memory.cases):,} real steps (Ctrl-C ends it)", flush=True
    )
    if pulse := current():
        pulse.displays += 1  # from here on a person is at work
    with server, suppress(KeyboardInterrupt):
        server.serve_forever()
    return CommandResult(PredictionFacts(str(config.run), address, len(memory.cases)))
