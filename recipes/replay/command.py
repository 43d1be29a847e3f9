"""`webagent replay`: stored episodes are played again without a model, healing as they go."""

import json
import shlex
import time
from collections.abc import Sequence

from recipes.folder import RunFolder
from recipes.replay.parameters import need_one
from recipes.replay.playing import replayed
from recipes.replay.recordings import Recording, recordings
from recipes.replay.result import Replayed
from recipes.replay.script import script_of
from recipes.replay.settings import ReplayConfig, read, values_of
from recipes.stopping import Stopped, run_until_stopped
from webagent.errors import SetupError


def main(argv: Sequence[str]) -> int:
    """Replay; 0 when every episode was completed and its checks hold, where it has some."""
    config = read(argv)
    chosen = recordings(config)
    need_one([each.episode for each in chosen], values_of(config))
    if config.to_script is not None:
        return _write(config, chosen)
    name = config.name or time.strftime("replay-%Y%m%d-%H%M%S")
    folder = RunFolder.create(config.runs / name, config, ["webagent", "replay", *argv])
    with folder.store() as store:
        try:
            done = run_until_stopped(replayed(config, chosen, store))
        except Stopped as stopped:
            print(f"\n{stopped}; finished steps are safe in {folder.path}")
            return stopped.status
    _tell(config, done, folder)
    return 0 if all(each.is_good for each in done) else 1


def _write(config: ReplayConfig, chosen: Sequence[Recording]) -> int:
    if len(chosen) != 1:
        raise SetupError(f"--to-script writes one episode, and {len(chosen)} are chosen; name one")
    assert config.to_script is not None
    text = script_of(chosen[0], values_of(config))
    try:
        config.to_script.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SetupError(f"{config.to_script} cannot be written: {error.strerror}") from error
    if config.json:
        print(json.dumps({"episode": chosen[0].episode.id, "script": str(config.to_script)}))
    else:
        print(f"wrote {config.to_script}; run it with: python {shlex.quote(str(config.to_script))}")
    return 0


def _tell(config: ReplayConfig, done: Sequence[Replayed], folder: RunFolder) -> None:
    good, refused = sum(e.is_good for e in done), sum(bool(e.refusal) for e in done)
    if config.json:
        content = {
            "run": str(folder.path),
            "completed": len(done) - refused,
            "good": good,
            "refused": refused,
            "episodes": [each.content() for each in done],
        }
        print(json.dumps(content, indent=1))
        return
    for each in done:
        print("\n".join(each.lines()))
    print(
        f"{len(done)} replayed: {good} good, {len(done) - good - refused} completed with checks"
        f" that fail, {refused} not completed; kept in {folder.path}"
    )
