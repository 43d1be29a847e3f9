"""`webagent collect`: plan, play the remaining episodes, and count."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

from loop.console.output import CommandResult, Status, run_until_stopped
from loop.costs import load_prices, open_ledger, read_stop_reason, run_within_caps
from loop.folder import RunFolder
from loop.measurement.collecting import PHASE, CollectConfig
from loop.measurement.environment import check_environment, check_memory
from loop.measurement.measurement import CostRecorder, Measurement
from loop.measurement.preview import format_preview, preview_benchmark
from loop.measurement.selection import TaskSelection
from loop.measurement.settings import arm_of
from loop.restating import describe_restating
from loop.summary.schema import StudentRow
from loop.summary.students import format_student, summarize_students
from recipes.resuming import PLACES, resume_settings
from recipes.settings import resolve
from webagent.records import STUDENT
from webagent.rollout import PlannedEpisode


@dataclass(frozen=True, slots=True)
class Collected:
    """The content of the run now; with `--preview`, only `preview` is set."""

    run: str = ""
    """The run folder."""
    episodes: int = 0
    """Finished episodes, over all sessions, without failures of a browser or server."""
    planned: int = 0
    """Number of planned episodes."""
    steps: int = 0
    """Of the episodes."""
    succeeded: int = 0
    """Episodes that the judge passed."""
    unscored: int = 0
    """Episodes that could not be judged."""
    failures: int = 0
    """Attempts that failed because of a browser, a site or a model server."""
    student: list[StudentRow] = field(default_factory=list)
    """Steps that the student took over, if there was one."""
    stopped: str = ""
    """Why the run stopped early; empty if it did not."""
    preview: dict[str, object] | None = None
    """What would be played."""


def main(argv: Sequence[str]) -> CommandResult:
    """Collect episodes; failed if none finished, stopped if a cap was reached first."""
    config = resolve(CollectConfig, "collect", argv)
    if config.run.resume is not None:
        begun = RunFolder.open(config.run.resume).begun_by("collect", CollectConfig)
        config = resume_settings(config, begun, argv, (*PLACES, "count", "steps"))
    config.check()
    chosen = replace(TaskSelection.of(config.played), phase=PHASE)
    if config.preview:
        facts = preview_benchmark(config.played, chosen) | {"episodes": len(_plan(config, chosen))}
        print(format_preview(facts))
        return CommandResult(Collected(preview=facts))
    check_memory(config.played, chosen)
    check_environment(config.played, chosen)
    folder = RunFolder.begin(config, config.run, ["webagent", "collect", *argv])
    with folder.locked(), folder.store() as store:
        ledger = open_ledger(store, config.run.caps, load_prices())
        playing = Measurement(config.played, chosen, store, ledger, config.steps)
        spent = CostRecorder.spent(store, arm_of(config.played))
        left = config.run.caps.seconds_left(spent)
        work = run_within_caps(playing.play_plan(_plan(config, chosen)), ledger, store, left)
        run_until_stopped(work, "finished steps are safe", folder.resuming)
    return _counted(config, chosen, folder)


def _plan(config: CollectConfig, chosen: TaskSelection) -> list[PlannedEpisode]:
    """Return the planned episodes: every task on its first seed before any on its second, so that a
    truncated plan is balanced."""
    return chosen.plan(arm_of(config.played))[: config.count]


def _counted(config: CollectConfig, chosen: TaskSelection, folder: RunFolder) -> CommandResult:
    planned = len(_plan(config, chosen))
    with folder.store() as store:
        entries = [entry for entry in store.entries() if entry.phase == PHASE]
        scores, reason = store.scores(phase=PHASE), read_stop_reason(store)
        attempts = len(store.ids("any", phase=PHASE))
        students = summarize_students(store)
        restated = describe_restating(store.trajectories(phase=PHASE), config.player.restating)
    values = [  # None where the judge abstained
        next((each.value for each in scores.get(entry.id, ()) if each.name == "success"), None)
        for entry in entries
    ]
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
    scored = found.episodes - found.unscored
    print(
        f"{found.episodes:,} of {found.planned:,} episodes, {found.steps:,} steps;"
        f" {found.succeeded:,} of {scored:,} with a verdict passed; {found.failures:,} attempts"
        f" failed for reasons outside the policy\nrun: {found.run}"
    )
    if restated:
        print(restated)
    for row in found.student:
        print(f"{format_student(row)}\nthe student: {found.run}/{STUDENT}")
    status = Status.DONE if found.episodes else Status.FAILED
    if found.stopped:
        status = Status.STOPPED
        print(f"stopped before its end: {found.stopped}. Go on with:\n  {folder.resuming}")
    print(f"learn from them: webagent train --runs {shlex.quote(found.run)}")
    if not reason:
        folder.write_result(asdict(found))
    return CommandResult(found, status)
