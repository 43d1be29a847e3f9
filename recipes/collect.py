"""The recipe `webagent collect`: plan, play what is left in one process or several, and count."""

import asyncio
import shlex
import signal
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from loop.console.output import CommandResult, Status, Stopped, run_until_stopped
from loop.console.progress import show_jobs
from loop.costs import load_prices, open_ledger, read_stop_reason, run_within_caps
from loop.folder import RunFolder
from loop.measurement.collecting import PHASE, CollectConfig
from loop.measurement.measurement import CostRecorder, Measurement
from loop.measurement.preview import format_preview, preview_benchmark
from loop.measurement.selection import TaskSelection
from loop.measurement.settings import arm_of
from loop.measurement.worlds import check_environment
from loop.summary.schema import StudentRow
from loop.summary.students import format_student, summarize_students
from loop.workers import Job, Say, run_jobs
from recipes.settings import resolve
from webagent.errors import StoreError
from webagent.policy.student import STUDENT
from webagent.records import Score, Trajectory
from webagent.rollout import PlannedEpisode
from webagent.store import Store

_KEPT = "finished steps are safe"


@dataclass(frozen=True, slots=True)
class Collected:
    """What there is in the run now; with `--preview` only `preview` says anything."""

    run: str = ""
    """The run folder."""
    episodes: int = 0
    """Finished ones, all sessions together; failures of a browser or server are not among them."""
    planned: int = 0
    """How many it is to have."""
    steps: int = 0
    succeeded: int = 0
    """Episodes that the judge passed."""
    unscored: int = 0
    """Episodes nobody could say anything of."""
    failures: int = 0
    """Attempts that a browser, a site or a model's server failed under."""
    student: list[StudentRow] = field(default_factory=list)
    """What the student took over, where one was in front of the policy."""
    stopped: str = ""
    """Why it stopped before its end; empty where it did not."""
    preview: dict[str, object] | None = None
    """What would be played."""


def main(argv: Sequence[str]) -> CommandResult:
    """Failed where no episode came to its end; stopped where a cap came before the end."""
    config = _begun(resolve(CollectConfig, "collect", argv))
    config.check()
    chosen = _chosen(config)
    if config.preview:
        facts = preview_benchmark(config.played, chosen) | {"episodes": len(_plan(config, chosen))}
        print(format_preview(facts))
        return CommandResult(Collected(preview=facts))
    check_environment(config.played, chosen)
    folder = _folder(config, argv)
    if config.workers > 1:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        jobs = [
            Job(f"worker {number}", arguments=(config, folder.path, number))
            for number in range(config.workers)
        ]
        try:
            with show_jobs(folder.path) as show:
                run_jobs(jobs, work, config.workers, show)
        except KeyboardInterrupt:
            raise Stopped(signal.SIGINT, _KEPT, _resume(folder)) from None
    else:
        with folder.store() as store:
            run_until_stopped(_played(config, chosen, store), _KEPT, _resume(folder))
    return _counted(config, chosen, folder)


def _begun(asked: CollectConfig) -> CollectConfig:
    if asked.resume is None:
        return asked
    folder = RunFolder.open(asked.resume)
    if list(folder.settings().get("command", ()))[1:2] != ["collect"]:
        raise StoreError(f"{asked.resume} holds another kind of run; resume it with its own recipe")
    return asked.resumed(folder.config(CollectConfig))


def _folder(config: CollectConfig, argv: Sequence[str]) -> RunFolder:
    if config.resume is not None:
        folder = RunFolder.open(config.resume)
        folder.note_origin()
        return folder
    command = ["webagent", "collect", *argv]
    return RunFolder.create_named(config.runs, config.name, config, command)


def _chosen(config: CollectConfig) -> TaskSelection:
    return replace(TaskSelection.of(config.played), phase=PHASE)


def _plan(config: CollectConfig, chosen: TaskSelection) -> list[PlannedEpisode]:
    """Every task on its first seed before any on its second, so that a cut is fair."""
    return chosen.plan(arm_of(config.played))[: config.count]


async def _played(
    config: CollectConfig,
    chosen: TaskSelection,
    store: Store,
    say: Say | None = None,
    worker: int = 0,
) -> None:
    """A worker's part of the plan, as far as what may be spent allows."""
    part = _plan(config, chosen)[worker :: config.workers]
    budget = None if config.steps is None else config.steps // config.workers
    clock = f" {worker}" if config.workers > 1 else ""
    ledger = open_ledger(store, config.caps, load_prices(config.caps.prices))
    seen = _Teller(say, len(part)) if say else None
    playing = Measurement(config.played, chosen, store, ledger, budget, clock, seen)
    minutes = config.caps.max_minutes
    spent = CostRecorder.spent(store, arm_of(config.played) + clock)
    left = None if minutes is None else 60 * minutes - spent
    await run_within_caps(playing.play_plan(part), ledger, store, left)


@dataclass(slots=True)
class _Teller:
    """Tells the process that shows it how far a part is."""

    say: Say
    total: int
    count: int = 0
    steps: int = 0

    def __call__(self, episode: Trajectory) -> None:
        self.count += 1
        self.steps += len(episode.steps)
        done = min(self.count / self.total, 1.0)
        self.say("collect", done, f"{self.count} episodes, {self.steps} steps")


def work(say: Say, config: CollectConfig, path: Path, number: int) -> None:
    """One worker, in the process it was given."""
    with RunFolder.open(path).store() as store:
        asyncio.run(_played(config, _chosen(config), store, say, number))
    say("done", 1.0, "")


def _counted(config: CollectConfig, chosen: TaskSelection, folder: RunFolder) -> CommandResult:
    planned = len(_plan(config, chosen))
    with folder.store() as store:
        entries = [entry for entry in store.entries() if entry.phase == PHASE]
        scores, reason = store.scores(phase=PHASE), read_stop_reason(store)
        attempts = len(store.ids("any", phase=PHASE))
        students = summarize_students(store)
    values = [_value(scores.get(entry.id, ())) for entry in entries]
    found = Collected(
        run=str(folder.path),
        episodes=len(entries),
        planned=planned,
        steps=sum(entry.steps for entry in entries),
        succeeded=sum(value is not None and value >= 0.5 for value in values),
        unscored=values.count(None),
        failures=attempts - len(entries),
        student=students,
        stopped=reason,
    )
    _tell(found, folder)
    if not reason:
        folder.write_json("result.json", asdict(found))
    return CommandResult(found, _status(found))


def _value(scores: Sequence[Score]) -> float | None:
    """The success that the judge gave, if it could say."""
    return next((score.value for score in scores if score.name == "success"), None)


def _tell(found: Collected, folder: RunFolder) -> None:
    scored = found.episodes - found.unscored
    print(
        f"{found.episodes:,} of {found.planned:,} episodes, {found.steps:,} steps;"
        f" {found.succeeded:,} of {scored:,} with a verdict passed; {found.failures:,} attempts"
        f" failed for reasons outside the policy\nrun: {found.run}"
    )
    for row in found.student:
        print(f"{format_student(row)}\nthe student: {found.run}/{STUDENT}")
    if found.stopped:
        print(f"stopped before its end: {found.stopped}. Go on with:\n  {_resume(folder)}")
    print(f"learn from them: webagent train --runs {shlex.quote(found.run)}")


def _status(found: Collected) -> Status:
    if found.stopped:
        return Status.STOPPED
    return Status.DONE if found.episodes else Status.FAILED


def _resume(folder: RunFolder) -> str:
    return f"webagent collect --resume {shlex.quote(str(folder.path))}"
