"""`webagent do`: learn a task from recordings as a program; play it for every row of a table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tyro.conf import OmitArgPrefixes, Positional

from apps.repeat.rows import (
    DONE,
    JOURNAL,
    SKIPPED,
    VERIFIED,
    Journal,
    TableRun,
    check_values,
    read_rows,
)
from apps.replay.recordings import PlaceSettings
from loop.console.output import CommandResult, Status, run_until_stopped
from loop.flat import Important
from loop.folder import RunFolder
from recipes.settings import resolve
from webagent.errors import UsageError
from webagent.files import write_whole
from webagent.guard import Confirm, Guard
from webagent.policy.program import Program, learn_program, read_program, write_program
from webagent.records import Ending, Trajectory
from webagent.store import Store


@dataclass(frozen=True)
class DoConfig:
    """Do a task for every row of a table, without a model; or learn it from recordings first."""

    task: Important[Positional[Path]] = Path()
    """The task: a file that --learn has written."""
    table: Important[Path | None] = None
    """CSV file with a column for each parameter; each row is done once."""
    set: Important[tuple[str, ...]] = ()
    """Values of a single row instead, such as `title=Lamp`."""
    out: Important[Path | None] = None
    """CSV file for the table with results; with --learn the file for the task."""
    learn: Important[tuple[Path, ...]] = ()
    """Learn the task from these runs instead: recordings, or successful episodes of one task."""
    resume: Important[Path | None] = None
    """Run folder to continue: rows that are verified are not done again."""
    url: Important[str] = ""
    """URL of the site, where it differs from the recorded one."""
    login: Important[str] = ""
    """Name of a login saved by `webagent login` to start with."""
    confirm: Important[Confirm] = "risky"
    """Hold back requests: `risky` those that the row does not ask for, `all` (docs/guard.md)."""
    guard: Important[Path | None] = None
    """File with further limits (docs/guard.md)."""
    places: OmitArgPrefixes[PlaceSettings] = field(default_factory=PlaceSettings)
    """The browser and the sites."""
    name: Important[str] = ""
    """Name of the run's folder under `runs`; derived from the date if empty."""
    runs: Path = Path("runs")
    """Folder in which run folders are created."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """What came of the rows."""

    run: str = ""
    """The run folder."""
    counts: dict[str, int] = field(default_factory=dict)
    """Rows by result: `verified`, `done`, `refused`, `unverified`, `skipped`."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """Every row: `row`, `result`, `why`, `episode`, `outputs`, `seconds`."""


@dataclass(frozen=True, slots=True)
class LearntTask:
    """The program that was learned."""

    task: str
    """The file."""
    recordings: int
    """How many it was learned from."""
    steps: int
    """How many steps it has."""
    parameters: list[str]
    """The columns that a table needs."""


def main(argv: Sequence[str]) -> CommandResult:
    """Learn a task, or do one; done if every row is verified, read or was there before."""
    config = resolve(DoConfig, "do", argv)
    if config.learn:
        return _learn(config)
    if config.task == Path():
        raise UsageError("expected a task: webagent do TASK.toml --table rows.csv")
    program = read_program(config.task)
    rows = _rows_of(config, program)
    check = program.check
    if not (program.outputs or check.shows or check.gone or program.is_list):
        raise UsageError(
            f"{config.task} writes, and no page that it ends on shows what: it cannot be read back;"
            " record it anew and end on the page that shows it, or name one under [check]"
        )
    guard = Guard.chosen(config.guard, "all" if program.is_list else config.confirm)
    assert guard is not None
    command = ["webagent", "do", *argv]
    if config.resume is not None:
        folder = RunFolder.open(config.resume)
    else:
        folder = RunFolder.create_named(config.runs, config.name, config, command)
    with folder.store() as store:
        journal, out = Journal(folder.path / JOURNAL), config.out
        run = TableRun(program, rows, store, journal, out, config.url, config.login)
        done = run_until_stopped(
            run.play(config.places, guard),
            f"what was done is in {folder.path}",
            f"webagent {' '.join(command[1:])} --resume {folder.path}",
        )
    counts = dict(Counter(each.result for each in done))
    facts = Repeated(str(folder.path), counts, [asdict(each) for each in done])
    folder.write_result(asdict(facts))
    for each in done:
        if each.result not in (VERIFIED, DONE):
            print(f"row {each.row}: {each.result}: {each.why}")
    summary = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{len(done)} rows: {summary}; kept in {folder.path}")
    is_good = set(counts) <= {VERIFIED, DONE, SKIPPED}
    return CommandResult(facts, Status.DONE if is_good else Status.FAILED)


def _rows_of(config: DoConfig, program: Program) -> list[dict[str, str]]:
    if config.table is not None and not config.set:
        return read_rows(config.table, program)
    if config.table is not None or (program.parameters and not config.set):
        raise UsageError("give --table FILE with the rows, or --set name=value … for one")
    row = dict(each.partition("=")[::2] for each in config.set)
    check_values(row, program, "--set")
    return [row]


def _learn(config: DoConfig) -> CommandResult:
    if config.out is None:
        raise UsageError("--learn needs a file for the task: --out TASK.toml")
    recordings: list[Trajectory] = []
    for run in config.learn:
        with Store.open(run) as store:
            failed = {
                episode
                for episode, scores in store.scores("played").items()
                if any(each.name == "success" and each.value == 0 for each in scores)
            }
            recordings += [
                episode
                for episode in store.trajectories("played", world="browser")
                if episode.id not in failed
                and episode.ending in (Ending.ANSWERED, Ending.TASK_OVER)
            ]
    program = learn_program(recordings)
    write_whole(config.out, write_program(program))
    print(write_program(program))
    for text in program.check.unchecked:
        print(f"not shown where the recordings end: {text}")
    source = f"{len(recordings)} recordings"
    if len(recordings) == 1:
        source = f"one recording: {', '.join(program.parameters)} may differ, and nothing else"
    print(f"learned from {source}; kept in {config.out}")
    facts = LearntTask(
        str(config.out), len(recordings), len(program.steps), list(program.parameters)
    )
    return CommandResult(facts)
