"""`webagent replay`: stored episodes are played again without a model, healing as they go."""

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from recipes.folder import RunFolder
from recipes.outcome import Outcome, Status
from recipes.replay.parameters import need_one
from recipes.replay.playing import replayed
from recipes.replay.recordings import Recording, recordings
from recipes.replay.result import Replayed
from recipes.replay.script import script_of
from recipes.replay.settings import ReplayConfig, read, values_of
from recipes.stopping import run_until_stopped
from webagent.errors import SetupError, UsageError


@dataclass(frozen=True, slots=True)
class Replays:
    """What came of the replays, or of writing a script."""

    run: str = ""
    """The folder that the replays are kept in."""
    good: int = 0
    """Played to their end, and the tasks' rules hold where there are some."""
    completed: int = 0
    """Played to their end."""
    refused: int = 0
    """Not played to their end: refused, or failed with the world."""
    episodes: list[dict[str, Any]] = field(default_factory=list)
    """Each with `episode`, `replay`, `task`, `seed`, `outcome`, `refusal`, `healed`, `ending`,
    `score`, `score_reason` and, for every step, what was recorded and what was taken."""
    script: str = ""
    """The file that was written with --to-script."""


def main(argv: Sequence[str]) -> Outcome:
    """Replay; done when every episode was completed and its checks hold, where it has some."""
    config = read(argv)
    chosen = recordings(config)
    need_one([each.episode for each in chosen], values_of(config))
    if config.to_script is not None:
        return _write(config, chosen)
    name = config.name or time.strftime("replay-%Y%m%d-%H%M%S")
    folder = RunFolder.create(config.runs / name, config, ["webagent", "replay", *argv])
    with folder.store() as store:
        kept = f"finished steps are safe in {folder.path}"
        done = run_until_stopped(replayed(config, chosen, store), kept)
    refused = sum(bool(each.refusal) for each in done)
    good = sum(each.is_good for each in done)
    _tell(done, good, refused, folder)
    facts = Replays(
        *(str(folder.path), good, len(done) - refused, refused),
        [dict(each.content()) for each in done],
    )
    return Outcome(facts, Status.DONE if good == len(done) else Status.FAILED)


def _write(config: ReplayConfig, chosen: Sequence[Recording]) -> Outcome:
    if len(chosen) != 1:
        raise UsageError(f"--to-script writes one episode, and {len(chosen)} are chosen; name one")
    assert config.to_script is not None
    text = script_of(chosen[0], values_of(config))
    try:
        config.to_script.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SetupError(f"{config.to_script} cannot be written: {error.strerror}") from error
    print(f"wrote {config.to_script}; run it with: python {shlex.quote(str(config.to_script))}")
    return Outcome(Replays(script=str(config.to_script)))


def _tell(done: Sequence[Replayed], good: int, refused: int, folder: RunFolder) -> None:
    for each in done:
        print("\n".join(each.lines()))
    print(
        f"{len(done)} replayed: {good} good, {len(done) - good - refused} completed with checks"
        f" that fail, {refused} not completed; kept in {folder.path}"
    )
