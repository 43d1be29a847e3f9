"""The recipe `webagent run`: check, do the task before a person's eyes, and say what came of it."""

import asyncio
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from recipes.config import resolve
from recipes.folder import RunFolder
from recipes.run.display import Display, Lines, Terminal
from recipes.run.film import write_film
from recipes.run.live import Live
from recipes.run.outcome import outcome_of, status_of, told
from recipes.run.settings import RunConfig, check
from webagent.agent import Result
from webagent.errors import ModelError, SetupError, StoreError
from webagent.records import Ending
from webagent.store import Store

DONE, UNDONE, WRONG, FAILED, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: Sequence[str]) -> int:
    """Do one task; 0 when it was answered, 1 when it was not, 2 when nothing could be begun, 3 when
    browser, site or model failed, 130 when it was interrupted."""
    try:
        config = resolve(RunConfig, "run", argv)
        check(config)
        name = config.name or time.strftime("run-%Y%m%d-%H%M%S")
        folder = RunFolder.create(config.runs / name, config, ["webagent", "run", *argv])
    except (SetupError, StoreError) as error:
        return _report(error, WRONG)
    display: Display = Lines() if config.json else Terminal()
    with folder.store() as store:
        try:
            return _run(config, folder, store, display)
        except SetupError as error:
            _discard(folder, store)
            return _report(error, WRONG)
        except ModelError as error:
            _discard(folder, store)
            return _report(error, FAILED)


def _run(config: RunConfig, folder: RunFolder, store: Store, display: Display) -> int:
    live = Live(config, folder.path, store, display)
    try:
        result = asyncio.run(live.run())
    except asyncio.CancelledError:
        _close(store)
        display.say(f"stopped at once; what was done is in {folder.path}")
        return live.interrupted or INTERRUPTED
    return _tell(config, folder, store, display, live, result)


def _tell(
    config: RunConfig,
    folder: RunFolder,
    store: Store,
    display: Display,
    live: Live,
    result: Result,
) -> int:
    status = live.interrupted or status_of(result)
    if config.gif is not None:
        try:
            pages = write_film(result.trajectory, store.images, config.gif)
            display.say(f"{config.gif}: {pages} pages")
        except StoreError as error:
            display.say(f"no moving picture: {error}")
    outcome = outcome_of(result, folder.path, status)
    folder.write_json("result.json", outcome)
    display.end(outcome, told(result, folder.path))
    return status


def _close(store: Store) -> None:
    """Whatever is still under way was stopped."""
    for episode in store.ids("any"):
        trajectory = store.load(episode)
        if trajectory is not None and trajectory.ending is None:
            store.finish(replace(trajectory, ending=Ending.STOPPED, error="interrupted"))


def _discard(folder: RunFolder, store: Store) -> None:
    """A folder in which nothing was begun is nobody's run."""
    _close(store)
    if not store.ids("any"):
        store.close()
        shutil.rmtree(folder.path, ignore_errors=True)


def _report(error: Exception, status: int) -> int:
    print(f"webagent: {error}", file=sys.stderr)
    return status
