"""`webagent benchmark`: check the settings, play the remaining episodes, report the results."""

import shlex
import sys
from collections.abc import Sequence

from apps.report import write_report
from loop.console.output import CommandResult, Status, run_until_stopped
from loop.costs import load_prices, open_ledger, run_within_caps
from loop.failures import summarize_failures
from loop.folder import RunFolder
from loop.measurement.environment import check_environment, check_memory
from loop.measurement.measurement import BASELINES, NOTES, CostRecorder, Measurement
from loop.measurement.preview import format_preview, preview_baselines, preview_benchmark
from loop.measurement.selection import TaskSelection
from loop.measurement.settings import BenchmarkConfig, arm_of, check, contestant
from loop.notes import read_judge_id
from loop.restating import describe_restating
from loop.summary import RunMeta, Summary, print_summary, summarize, write_summary
from loop.world_models import describe_lookahead
from recipes.resuming import resume_settings
from recipes.settings import resolve
from webagent.store import Store


def main(argv: Sequence[str]) -> CommandResult:
    """Evaluate, then print the table and write summary.json and report.html."""
    config = resolve(BenchmarkConfig, "benchmark", argv)
    if config.run.resume is not None:
        begun = RunFolder.open(config.run.resume).begun_by("benchmark", BenchmarkConfig)
        config = resume_settings(config, begun, argv)
    check(config)
    chosen = TaskSelection.of(config)
    if config.preview:
        facts = preview_benchmark(config, chosen)
        print(format_preview(facts))
        return CommandResult({"preview": facts})
    check_memory(config, chosen)
    check_environment(config, chosen)
    if isinstance(beside := preview_baselines(config, chosen), list):
        print(f"{beside[0]} as baselines afterwards; --no-baselines plays none", file=sys.stderr)
    folder = RunFolder.begin(config, config.run, ["webagent", "benchmark", *argv])
    with folder.locked(), folder.store() as store:
        ledger = open_ledger(store, config.run.caps, load_prices())
        spent = CostRecorder.spent(store, arm_of(config), BASELINES)
        playing = Measurement(config, chosen, store, ledger).play()
        work = run_within_caps(playing, ledger, store, config.run.caps.seconds_left(spent))
        run_until_stopped(work, "finished steps are safe", folder.resuming)
        summary = summarize(store, _meta(config, chosen, folder, store))
        write_summary(summary, folder.path)
        page = write_report(summary, store, folder.path)
        looked = describe_lookahead(config.player.lookahead, store.trajectories(phase="evaluate"))
        restated = describe_restating(store.trajectories(phase="evaluate"), config.player.restating)
    print_summary(summary)
    for sentence in filter(None, (looked, restated)):
        print(sentence)
    if to_fix := summarize_failures(folder.path).first:
        print(to_fix)
    print(f"{_speed(summary)}\nreport: {page}\nnumbers: {folder.path / 'summary.json'}")
    status = Status.DONE if summary["arms"] else Status.FAILED
    if summary["spent"]["stopped"]:
        status = Status.STOPPED
        print(f"finished steps are safe. With a higher cap, go on with:\n  {folder.resuming}")
    facts = {**summary, "run": str(folder.path), "report": str(page)}
    return CommandResult(facts, status)


def _meta(
    config: BenchmarkConfig, chosen: TaskSelection, folder: RunFolder, store: Store
) -> RunMeta:
    command = shlex.join(folder.settings()["command"])
    notes = store.get_state(NOTES)
    listed = [str(note) for note in notes] if isinstance(notes, list) else []
    if not config.baselines:
        listed = ["baselines: left out, as --no-baselines says"]
    played = contestant(config, knows=False)
    judged = f" by {config.judging.judge_model}" * (config.judging.judge != "rules")
    facts = {
        "policy": arm_of(config),
        "model": played.served if played.kind == "endpoint" else played.place,
        "judge": f"{config.judging.judge}{judged}",
        "seeds": chosen.describe_seeds(),
        "answered from": str(config.har or ""),
    }
    return RunMeta(
        chosen.suite.id,
        chosen.names,
        command,
        folder.note_origin(),
        read_judge_id(store),
        config.split,
        templates={task.name: task.template or task.name for task in chosen.tasks(1)},
        setup={name: value for name, value in facts.items() if value},
        notes=tuple(listed),
    )


def _speed(summary: Summary) -> str:
    if not summary["arms"] and summary["spent"]["stopped"]:
        return "no episode came to its end before that"
    if not summary["arms"] and summary["failures"]["unscored"]:
        return "nobody could score these episodes: name a judge with --judge, as judge:webvoyager"
    if not summary["arms"]:
        return "every episode failed for a reason outside the policy; see the errors above"
    row = summary["arms"][0]["rounds"][-1]
    steps, seconds = row["costs"]["steps"], row["seconds"]
    return f"{steps:,.0f} steps in {seconds:,.0f} s, {steps / seconds:.1f} steps/s"
