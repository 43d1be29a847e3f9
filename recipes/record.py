"""`webagent record`: record what a person does in a browser, or import other recordings."""

import asyncio
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import tyro

from apps.record.session import WHO, DemonstrationEpisode, RecordingSession, answer_typed
from loop.console.output import SIGNALS, CommandResult
from loop.folder import RunFolder
from recipes.settings import resolve
from tasks.task import Task
from webagent.browser.chromium import find_chromium
from webagent.browser.sessions.profile import Profile, named_profile
from webagent.errors import UsageError, WebAgentError
from webagent.records import Provenance, Trajectory
from webagent.store import Store

PHASE = "demonstrate"


@dataclass(frozen=True)
class RecordConfig:
    """Open a browser at a URL and record what a person does there as a demonstration, or import
    episodes recorded by other systems."""

    url: Annotated[str, tyro.conf.Positional] = ""
    """URL to start at."""
    goal: str = ""
    """The goal, in one sentence. Default: the command asks for it at the end."""
    task: str = ""
    """Name of the task. Default: derived from the URL."""
    answer: bool = False
    """The task has an answer: the line typed in the terminal ends the recording."""
    screenshots: bool = True
    """Store a screenshot with every step."""
    profiles: str = ""
    """TOML file whose table [sites.<site>] says how the browser presents itself (docs/sites.md)."""
    site: str = ""
    """Name of the table in --profiles."""
    headless: bool = False
    """Show no window; for programs that act as the person."""
    name: str = ""
    """Name of the run's folder under `runs`; derived from the date if empty."""
    runs: Path = Path("runs")
    """Folder in which run folders are created."""
    into: Path | None = None
    """Run folder to which the recording is added; with --import it is created if missing."""
    imports: Annotated[tuple[str, ...], tyro.conf.arg(name="import")] = ()
    """Read episodes of another system into --into instead: its format, `agentrewardbench`, then
    files of episodes, or folders that contain them."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recording."""

    run: str
    """The run folder."""
    episode: str
    """Id of the episode in the run."""
    steps: int
    goal: str
    """The goal; empty if none was given: the episode can be replayed, but not learned from."""
    left_out: int
    """Number of actions that could not be recorded."""


def main(argv: Sequence[str]) -> CommandResult:
    """Record one demonstration."""
    config = resolve(RecordConfig, "record", argv)
    if config.imports:
        from recipes.imports import import_episodes

        command = ["webagent", "record", *argv]
        return import_episodes(config.imports, config.into, config, command)
    if not config.url.startswith(("http://", "https://", "file://")):
        raise UsageError(f"expected a URL: webagent record http://…; found {config.url!r}")
    profile = named_profile(config.profiles, config.site)
    find_chromium(headless=config.headless)
    if config.into is not None:
        folder = RunFolder.open(config.into)
    else:
        folder = RunFolder.create_named(
            config.runs, config.name, config, ["webagent", "record", *argv]
        )
    with folder.store() as store:
        try:
            made = asyncio.run(_record(config, profile, folder.path.name, store))
        except WebAgentError:
            # A folder made for a recording of which nothing came is removed.
            stored = [store.load(episode) for episode in store.ids("any")]
            if config.into is None and not any(each and each.steps for each in stored):
                store.close()
                shutil.rmtree(folder.path, ignore_errors=True)
            raise
    count, found = len(made.steps), made.evidence.get("left_out")
    left = len(found) if isinstance(found, list) else int(bool(found))
    print(f"kept {count} steps as {made.id} in {folder.path}")
    if left:
        print(f"left out: {left}, listed above")
    if not made.goal:
        print("without a goal it can be replayed, but not used for training")
    kept = Recorded(str(folder.path), made.id, count, made.goal, left)
    if config.into is None:
        folder.write_result(asdict(kept))
    return CommandResult(kept)


async def _record(config: RecordConfig, profile: Profile, run: str, store: Store) -> Trajectory:
    index = len(store.ids("any"))
    provenance = Provenance(run=run, arm=WHO, phase=PHASE, index=index)
    demonstration = DemonstrationEpisode(_task(config, index), provenance, store, _say)
    session = RecordingSession(
        demonstration, _say, headless=config.headless, is_pictured=config.screenshots
    )
    answers: list[str] = []

    def answered(line: str) -> None:
        answers.append(line)
        session.done.set()

    # Ctrl-C ends the recording, and not the program before it is kept.
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, session.done.set)
    try:
        if config.answer:
            _say("Type the answer here and press Enter when you are done.")
            answer_typed(answered)
        else:
            _say("Close the window, or press Ctrl-C here, when you are done.")
        last = await session.run(_task(config, index), profile)
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
    answer = answers[0] if answers else ""
    if config.goal or not sys.stdin.isatty():
        goal = config.goal
    else:
        goal = input("What was done, in a sentence? ").strip()
    return demonstration.finish(last, goal, answer)


def _task(config: RecordConfig, index: int) -> Task:
    name = config.task or f"demonstration-{index}"
    return Task(
        f"recorded/{name}@1", start_url=config.url, goal=config.goal, clock="real", dialogs="ask"
    )


def _say(sentence: str) -> None:
    print(sentence, flush=True)
