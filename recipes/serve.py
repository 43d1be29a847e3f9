"""`webagent serve`: serve tasks to trainers and evaluators, until a signal arrives."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from apps.listening import LOOPBACK, address_of, listen
from apps.serve.settings import ServeConfig
from loop.console.output import CommandResult, emit, run_until_stopped
from loop.measurement.environment import check_environment
from loop.measurement.selection import TaskSelection
from recipes.settings import resolve
from webagent.errors import UsageError


@dataclass(frozen=True, slots=True)
class TasksServed:
    """What is served and where; printed at the start."""

    address: str
    """The `base_url` for clients."""
    suite: str
    tasks: list[str]
    max_sessions: int


def main(argv: Sequence[str]) -> CommandResult:
    """Serve until a signal; raises `SetupError` if something is missing, `Stopped` then."""
    config = resolve(ServeConfig, "serve", argv)
    config.check()
    chosen = TaskSelection.of(config.played)
    check_environment(config.played, chosen)
    from apps.serve.server import serve
    from apps.serve.sessions import find_unscored, open_stage

    if name := find_unscored(config, chosen):
        raise UsageError(
            f"{name} has no checks, so it has no reward; name a judge with --judge, as"
            " judge:webvoyager, or give the task an answer"
        )
    with listen(config.host, config.port) as listening:
        address = address_of(config.host, listening.getsockname()[1])
        served = TasksServed(address, chosen.suite.id, list(chosen.names), config.max_sessions)

        async def work() -> None:
            async with open_stage(config, chosen) as stage:
                emit(asdict(served))
                print(f"{address}  (Ctrl-C ends it)", flush=True)
                if config.host not in LOOPBACK:
                    print("anyone with the token can play; nothing is encrypted", flush=True)
                await serve(stage, listening)

        run_until_stopped(work(), "nothing is kept of the episodes")
    return CommandResult(served)
