"""What a measurement would play, need and take, without spending anything."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.rules import CONSULTING_RULES, RULES
from evaluators.rules import is_infeasible
from loop.folder import RunFolder
from loop.measurement import measurement
from loop.measurement.environment import find_missing_logins, find_missing_sites
from loop.measurement.scoring import has_checks
from loop.measurement.selection import TaskSelection
from loop.measurement.settings import BenchmarkConfig, arm_of, contestant, judge_of
from tasks.task import Task
from webagent.agent.asking import MAX_TOKENS

_SHOWN = 5


def format_preview(facts: Mapping[str, Any]) -> str:
    """A preview as text."""
    lines = []
    for name, value in facts.items():
        parts = value if isinstance(value, list) else [value]
        lines += [f"{name if not place else '':<15} {part}" for place, part in enumerate(parts)]
    return "\n".join(lines)


def preview_benchmark(config: BenchmarkConfig, chosen: TaskSelection) -> dict[str, Any]:
    """What would be played and what it would take, each with its name."""
    plan = chosen.plan(arm_of(config))
    tasks = chosen.tasks(1)
    steps = sum(entry.task.max_steps for entry in plan)
    templates = {task.template or task.name for task in tasks}
    facts: dict[str, Any] = {
        "benchmark": chosen.suite.id,
        "policy": arm_of(config),
        "tasks": len({entry.task.name for entry in plan}),
        "templates": len(templates),
        "seeds": chosen.describe_seeds(),
        "episodes": len(plan),
        "steps at most": steps,
    }
    facts |= _preview_judging(config, tasks)
    facts["baselines"] = preview_baselines(config, chosen)
    played = contestant(config, knows=False)
    if played.kind in ("endpoint", "local"):
        # What a language model would read and write at most, roughly.
        read, written = steps * MAX_TOKENS, steps * config.prompting.max_tokens
        facts["tokens"] = (
            f"up to about {read:,} read for pages alone and {written:,} written, if every"
            " episode takes all of its steps"
        )
    missing = [f"addresses: {reason}" for reason in list(chosen.lacking.values())[:1]]
    if len(chosen.lacking) > 1:
        missing.append(_format_names(list(chosen.lacking), "they lack addresses, too"))
    missing += find_missing_logins(config, chosen).values()
    missing += filter(None, [find_missing_sites(config, chosen)])
    if config.replay is not None and not (config.replay / "run.sqlite").is_file():
        missing.append(f"{config.replay} is no run folder to replay")
    if missing:
        facts["missing"] = missing
    if config.run.resume is not None:
        with RunFolder.open(config.run.resume).store() as store:
            facts["played already"] = len(store.ids(phase="evaluate"))
    return facts


def _preview_judging(config: BenchmarkConfig, tasks: Sequence[Task]) -> dict[str, Any]:
    """Who scores, and which tasks that leaves unscored."""
    spec = judge_of(config)
    unchecked = [task.name for task in tasks if not has_checks(task)]
    consulting = [
        task.name for task in tasks if any(check.rule in CONSULTING_RULES for check in task.checks)
    ]
    infeasible = [task.name for task in tasks if is_infeasible(task)]
    facts: dict[str, Any] = {"judge": config.judging.judge}
    answers = [
        f"{task.name}: {check.expected!r:.60}; passes: {meaning.partition('. ')[0].rstrip('.')}"
        for task in tasks
        for check in task.checks
        if check.evidence == "episode.answer" and (rule := RULES.get(check.rule))
        if (meaning := " ".join((rule.__doc__ or check.rule).split()))
    ]
    if answers:
        facts["answers"] = answers[:_SHOWN] + [f"and {len(answers) - _SHOWN} more"] * (
            len(answers) > _SHOWN
        )
    kinds = Counter(leaf.kind for leaf in spec.leaves())
    if unchecked:
        facts["no checks"] = _format_names(unchecked, "only a judge can score them")
        if set(kinds) == {"rules"}:
            facts["no checks"] += "; unscored without --judge, as judge:webvoyager"
    if consulting and set(kinds) == {"rules"}:
        why = "checks that look at pictures or ask a model, which --judge consulted can"
        facts["consulting"] = _format_names(consulting, why)
    if infeasible:
        facts["infeasible"] = _format_names(infeasible, "right is to give up")
    return facts


def preview_baselines(config: BenchmarkConfig, chosen: TaskSelection) -> str | list[str]:
    """Return how many episodes of which baselines are played, and what is replayed."""
    if not config.baselines or not config.baseline_seeds:
        flag = "--baseline-seeds 0" if config.baselines else "--no-baselines"
        return f"left out, as {flag} says"
    seeds = min(config.baseline_seeds, chosen.seeds)
    if config.replay is not None:
        found = measurement.find_recordings(config.replay, chosen)
        source, known = found.source, list(found.by_task)
    else:
        source = measurement.ORACLES
        known = [entry.task.name for entry in measurement.plan_solutions(chosen, chosen.names, 0)]
    shown = len(known) if config.replay is None else 0
    counts = Counter(
        entry.provenance.arm for entry in measurement.plan_baselines(chosen, known, seeds)
    )
    replay = measurement.describe_replay(source, known, chosen.names)
    counted = ", ".join(f"{count} of {arm}" for arm, count in counts.items())
    to_show = f"; {shown} or a few more in which oracles show what is replayed" * bool(shown)
    return [f"{sum(counts.values())} episodes: {counted}{to_show}", replay]


def _format_names(names: Sequence[str], why: str) -> str:
    more = f" and {len(names) - _SHOWN} more" * (len(names) > _SHOWN)
    return f"{len(names)} tasks ({', '.join(names[:_SHOWN])}{more}): {why}"
