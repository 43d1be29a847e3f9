"""`webagent replay`: replay stored episodes without a model, adapting to changed pages."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from apps.replay.recordings import ReplayConfig, load_recordings, replay_all
from loop.console.output import CommandResult, Status, run_until_stopped
from loop.folder import RunFolder
from recipes.settings import resolve
from webagent.browser.sessions.profile import named_profile
from webagent.errors import UsageError


@dataclass(frozen=True, slots=True)
class Replays:
    """The results of the replays."""

    run: str = ""
    """The folder in which the replays are stored."""
    good: int = 0
    """Number completed whose rules hold, where the task has some."""
    completed: int = 0
    """Number completed."""
    refused: int = 0
    """Number not completed: refused, or failed because of the browser or site."""
    episodes: list[dict[str, Any]] = field(default_factory=list)
    """The replayed episodes, with `episode`, `replay`, `task`, `seed`, `outcome`, `refusal`,
    `healed`, `ending`, `score`, `score_reason` and, for every step, the recorded and the replayed
    action."""


def main(argv: Sequence[str]) -> CommandResult:
    """Replay; done if every episode was completed and its checks hold, where it has some."""
    config = resolve(ReplayConfig, "replay", argv)
    if config.run == Path():
        raise UsageError("expected a run: webagent replay RUN [EPISODE …]")
    if config.url and not config.url.startswith(("http://", "https://", "file://")):
        raise UsageError(
            f"--url {config.url!r} is not a URL; it must begin with http:// or https://"
        )
    named_profile(config.places.profiles, config.places.site)
    if config.concurrency < 1:
        raise UsageError(f"--concurrency {config.concurrency}: it must be at least 1")
    chosen = load_recordings(config)
    folder = RunFolder.create_named(config.runs, config.name, config, ["webagent", "replay", *argv])
    with folder.store() as store:
        kept = f"finished steps are safe in {folder.path}"
        done = run_until_stopped(replay_all(config, chosen, store), kept)
    refused = sum(bool(each.refusal) for each in done)
    good = sum(each.is_good for each in done)
    for each in done:
        print("\n".join(each.lines()))
    print(
        f"{len(done)} replayed: {good} good, {len(done) - good - refused} completed with checks"
        f" that fail, {refused} not completed; kept in {folder.path}"
    )
    facts = Replays(
        *(str(folder.path), good, len(done) - refused, refused),
        [dict(each.content()) for each in done],
    )
    folder.write_result(asdict(facts))
    return CommandResult(facts, Status.DONE if good == len(done) else Status.FAILED)
