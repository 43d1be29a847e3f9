"""`webagent run`: check the settings, perform the task live, report the result."""

import asyncio
import shutil
import signal
from collections.abc import Sequence
from dataclasses import asdict, replace

from apps.live.live import Live, facts_of, last_lines, status_of
from apps.live.settings import RunConfig, check
from apps.live.terminal import Terminal
from loop.console.output import CommandResult, Status, Stopped
from loop.folder import RunFolder
from loop.restating import describe_restating
from loop.world_models import describe_lookahead
from recipes.settings import resolve
from webagent.errors import WebAgentError
from webagent.records import Ending
from webagent.store import Store


def main(argv: Sequence[str]) -> CommandResult:
    """Perform one task and show its progress."""
    config = resolve(RunConfig, "run", argv)
    check(config)
    folder = RunFolder.create_named(config.runs, config.name, config, ["webagent", "run", *argv])
    display = Terminal()
    with folder.store() as store:
        live = Live(config, folder.path, store, display)
        try:
            result = asyncio.run(live.run())
        except asyncio.CancelledError:
            _close(store)
            number = (live.interrupted or Status.INTERRUPTED) - 128
            raise Stopped(signal.Signals(number), f"finished steps are in {folder.path}") from None
        except WebAgentError:
            _close(store)
            if not store.ids("any"):
                store.close()
                shutil.rmtree(folder.path, ignore_errors=True)
            raise
        status = live.interrupted or status_of(result)
        for sentence in (
            describe_lookahead(config.lookahead, [result.trajectory]),
            describe_restating([result.trajectory], config.restating),
        ):
            if sentence:
                display.say(sentence)
        facts = facts_of(result, folder.path)
        folder.write_result(asdict(facts))
        display.end(last_lines(result, config, folder.path), good=status == Status.DONE)
        return CommandResult(facts, status)


def _close(store: Store) -> None:
    """Mark unfinished episodes as stopped."""
    for episode in store.ids("any"):
        trajectory = store.load(episode)
        if trajectory is not None and trajectory.ending is None:
            store.finish(replace(trajectory, ending=Ending.STOPPED, error="interrupted"))
