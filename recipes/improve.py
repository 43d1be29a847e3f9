"""`webagent improve`: the loop. Propose, collect and judge, imagine, train, evaluate; repeat."""

import asyncio
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path

from apps.report import write_report
from benchmarks.sites.hosting import Hosting
from loop.arms import ARMS, arms_of
from loop.console.output import CommandResult, Status, Stopped
from loop.console.progress import show_jobs
from loop.console.screen import results_console
from loop.costs import read_stop_reason, run_within_caps
from loop.executors.executor import check_workers
from loop.folder import RunFolder
from loop.imagination import imagine
from loop.jobs import READY, Job, JobError, ReportProgress, run_jobs
from loop.judging.named import CHECKS, check_judges
from loop.learners import ArmState
from loop.learners.choice import check_learner, make_learner
from loop.measurement.environment import check_environment
from loop.measurement.selection import TaskSelection
from loop.measurement.settings import contestant
from loop.notes import read_judge_id, read_warnings
from loop.planning import plan_rounds, print_plan
from loop.presets import PRESETS, describe_lacking
from loop.proposing import check_proposer, propose
from loop.session import Session, check_caps, count_seconds, open_session
from loop.settings import ImproveConfig
from loop.stages import (
    begin,
    evaluate,
    learn_world,
    practise,
    recall,
    record_learning,
    sample_tasks,
    track_round,
)
from loop.summary import RunMeta, format_story, print_summary, summarize, write_summary
from loop.summary.schema import RunSummary
from loop.task_split import SPLIT_FILE, check_scored, load_suite, read_split, split_tasks
from loop.training.settings import has_gpu
from loop.world_models import check_world
from recipes.resuming import PLACES, PRECISION, resume_settings
from recipes.settings import resolve
from recipes.view import show_while
from webagent.browser import find_chromium
from webagent.errors import UsageError
from webagent.training.tracking import check_trackers


async def improve(session: Session, state: ArmState) -> None:
    """Run one arm of one repeat: the whole loop."""
    arm = session.arm
    await begin(session, state)
    if arm.learns_from == "nothing":
        session.report(READY, 1.0, "")
        await evaluate(session, state, 0)
        track_round(session, 0)
        return
    for number in range(1, session.config.rounds + 1):
        with session.timed(number):
            if arm.learns_from == "experience":
                await propose(session, state, number)
                await practise(session, state, sample_tasks(session, state, number), number)
            if arm.dreams:
                learn_world(state)
                await imagine(session, state, number)
            await state.learner.learn(state, arm.name, number)
            record_learning(session, state, number)
            if session.config.is_measured(number):
                await evaluate(session, state, number)
        track_round(session, number)


async def measure(session: Session, state: ArmState) -> None:
    """Evaluate an arm that acts differently with the weights of another arm."""
    number = session.config.rounds
    await recall(session, state, number)
    with session.timed(number):
        if session.arm.acts_by in ("lookahead", "rerank"):
            learn_world(state)
        await evaluate(session, state, number)
    track_round(session, number)


def main(argv: Sequence[str]) -> CommandResult:
    """Run the arms, then print the table and write summary.json and report.html."""
    config = resolve(ImproveConfig, "improve", argv, PRESETS)
    if config.plan:
        return print_plan(plan_rounds(config))
    check_workers(config.run.workers)
    if config.run.executor != "ray":
        find_chromium(headless=True)
    folder, config = _open(config, argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # which raises KeyboardInterrupt
    with show_while(folder.path) if config.view else nullcontext(), folder.locked():
        folder.note_origin()
        reason = ""
        try:
            with show_jobs(folder.path) as show:
                is_alone = config.is_metered or config.has_one_place or config.run.executor == "ray"
                # Two arms would share one GPU's memory, each with generation and training.
                is_alone |= config.learner == "local" and has_gpu()
                workers = 1 if is_alone else config.run.workers
                jobs = list_unfinished(list_jobs(config, folder, workers), folder)
                run_jobs(jobs, work, workers, show)
        except KeyboardInterrupt:
            raise Stopped(signal.SIGINT, "finished steps are safe", folder.resuming) from None
        except JobError as error:
            with folder.store() as store:
                reason = read_stop_reason(store)
            if not reason:
                safe = f"finished steps are safe; go on with: {folder.resuming}"
                raise JobError(f"{error}\n{safe}") from error
        summary = conclude(folder, config)
        if reason:
            print(f"stopped before its end: {reason}. With a higher cap, go on with:")
            print(f"  {folder.resuming}")
        return CommandResult(summary, Status.STOPPED if reason else Status.DONE)


def conclude(folder: RunFolder, config: ImproveConfig) -> RunSummary:
    """Write summary.json and report.html, print the table, and return its numbers."""
    with folder.store() as store:
        command = shlex.join(folder.settings()["command"])
        suite, split = load_suite(config), read_split(folder, config)
        templates = {name: suite.task(name, 0).template or name for name in split.measured}
        summary = summarize(
            store,
            RunMeta(
                suite.id,
                split.measured,
                command,
                folder.note_origin(),
                read_judge_id(store),
                config.evaluation.split,
                templates=templates,
                tasks_by_use=split,
                withhold=config.demonstrating.withhold,
                notes=(*describe_lacking(config), *split.describe(), *read_warnings(store)),
            ),
        )
        numbers = write_summary(summary, folder.path)
        page = write_report(summary, store, folder.path)
    print_summary(summary)
    if story := format_story(summary, is_untrained=config.learner == "builtin"):
        results_console().print(f"\n{story}")
    view = shlex.join(["webagent", "view", str(folder.path)])
    print(f"\nreport: {page}\nnumbers: {numbers}\nevery page and step: {view}")
    return RunSummary(**summary, run=str(folder.path), report=str(page))


def work(report: ReportProgress, config: ImproveConfig, path: Path, arm: str, repeat: int) -> None:
    """One job: an arm of a repeat, in the process it was given, within the caps.

    Raises `CapReached` if a cap was reached first; everything done until then is stored.
    """
    import torch

    torch.set_num_threads(1)
    folder, job = RunFolder.open(path), name_job(arm, repeat)

    async def run_arm() -> None:
        async with open_session(report, config, folder, ARMS[arm], repeat) as session:
            state = ArmState(make_learner(session))
            with count_seconds(session.store, job) as spent:
                left = config.run.caps.seconds_left(spent)
                going = (measure if session.arm.weights_of else improve)(session, state)
                try:
                    await run_within_caps(going, session.ledger, session.store, left)
                finally:
                    await state.learner.close()

    asyncio.run(run_arm())
    with folder.store() as store:
        store.put_state(done_key(job), True)
    report("done", 1.0, "")


def name_job(arm: str, repeat: int) -> str:
    """Return the name of a job."""
    return f"{arm} {repeat}"


def done_key(job: str) -> str:
    """Return the key under which the store records that a job is finished."""
    return f"done:{job}"


def list_jobs(config: ImproveConfig, folder: RunFolder, workers: int = 1) -> list[Job]:
    """Arms that only act wait for the arm whose weights they use, the others for the demonstrations
    and first weights, which `none` makes; what takes longest begins first. A single worker ends one
    repeat before the next, so that a run that a limit stops has whole repeats to compare."""
    names = arms_of(config.arms)
    jobs = []
    for repeat in range(config.seed, config.seed + config.repeats):
        for name in names:
            before = ARMS[name].weights_of or ("none" if name != "none" else "")
            after = name_job(before, repeat) if before else ""
            arguments = (config, folder.path, name, repeat)
            jobs.append(Job(name_job(name, repeat), after, arguments))

    def rank(job: Job) -> tuple[int, bool, bool]:
        name, repeat = job.name.split()
        first = int(repeat) if workers == 1 else 0
        return first, bool(job.after), ARMS[name].learns_from != "experience"

    return sorted(jobs, key=rank)


def list_unfinished(jobs: Sequence[Job], folder: RunFolder) -> list[Job]:
    """The jobs that a resumed run still has to do, none waiting for one that is done."""
    with folder.store() as store:
        done = {job.name for job in jobs if store.get_state(done_key(job.name))}
    return [
        replace(job, after="" if job.after in done else job.after)
        for job in jobs
        if job.name not in done
    ]


def check_arms(config: ImproveConfig) -> None:
    """Check that the arms have what they ask. Raises `UsageError`."""
    arms = arms_of(config.arms)
    looking = [name for name in arms if ARMS[name].acts_by == "lookahead"]
    if looking and config.lookahead.world == "none":
        raise UsageError(
            f"--arms {' '.join(looking)} ask a world model, and --world none has none; leave it out"
            " for the run's own, or name another"
        )
    if "rerank" in arms and not config.lookahead.lookahead_by:
        raise UsageError(
            "--arms rerank asks a judge about each candidate; name it with --lookahead-by, such as"
            " judge:evidence or reward:FOLDER"
        )
    if any(ARMS[name].dreams for name in arms):
        how = config.imagination
        if not 0 <= how.imagined_share <= 1 or min(how.dreams, how.horizon) < 1:
            raise UsageError(
                f"--imagined-share {how.imagined_share:g} --dreams {how.dreams} --horizon"
                f" {how.horizon}: give a share from 0 to 1, and at least 1 episode of 1 step"
            )
        if config.learner == "builtin":
            raise UsageError(
                "--arms imagined is for language models, as for the built-in network no gain was"
                " shown: name other arms, or give --policy local:FOLDER"
            )
        if config.judging.judge in CHECKS:
            raise UsageError(
                "--arms imagined needs a judge of imagined episodes, which no checks can see; name"
                " it with --judge, such as judge:evidence or reward:FOLDER"
            )


def _open(config: ImproveConfig, argv: Sequence[str]) -> tuple[RunFolder, ImproveConfig]:
    """The run's folder and settings: those it was begun with, when it is resumed."""
    if config.run.resume is not None:
        folder = RunFolder.open(config.run.resume)
        begun = folder.begun_by("improve", ImproveConfig)
        free = (*PLACES, *PRECISION, "view", "track")
        config = resume_settings(config, begun, argv, free)
        check_learner(config)  # another version may not know what this one was begun with
        return folder, config
    check_learner(config)
    if config.server:
        asyncio.run(contestant(config.played).check_training(adapter=bool(config.weights.lora)))
    check_judges(config)
    check_arms(config)
    if config.learner == "local":
        plan_rounds(config)
    check_world(config.lookahead, remembers=True)
    check_caps(config)
    check_trackers(config.fit.track)
    check_environment(config.played, TaskSelection.of(config.played))
    suite, split = load_suite(config), split_tasks(config)
    check_scored(config, split, suite)
    check_proposer(config, suite, split.learning)
    names = dict.fromkeys((*split.learning, *split.measured))
    Hosting(files=config.selection.sites).check(suite.task(name, 0) for name in names)
    for sentence in describe_lacking(config):
        print(sentence, file=sys.stderr)
    command = ["webagent", "improve", *argv]
    place, files = config.run, {SPLIT_FILE: asdict(split)}
    return RunFolder.create_named(place.runs, place.name, config, command, files), config
