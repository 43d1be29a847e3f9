"""`webagent report --pointing`: how well a policy points, by stored episodes."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluators.grounding import Pointing, find_targets, score_pointing
from evaluators.statistics import wilson
from loop.console.output import CommandResult, Status
from loop.console.screen import build_table, results_console
from webagent.errors import UsageError
from webagent.store import Store


@dataclass(frozen=True, slots=True)
class TaskGrounding:
    """How well the policy points in one task, or in all."""

    task: str
    steps: int
    """Actions on pages on which the reference acted on an element."""
    pointed: int
    """Those that point at something, by mark or by coordinates."""
    by_coordinates: int
    hits: int
    hit_rate: float
    """Share of hits among the steps that point."""
    low: float
    high: float
    """The ends of its 95 % interval (Wilson)."""
    score: float
    """Mean over the same steps of d / (d + distance), with the diagonal d of the box in pixels and
    the distance from it: 1 for a hit (OmniACT)."""


@dataclass(frozen=True, slots=True)
class Grounding:
    """How well a policy points."""

    run: str
    against: str
    episodes: int
    """Episodes of the policy with at least one such step."""
    overall: TaskGrounding
    tasks: list[TaskGrounding] = field(default_factory=list)


def measure_pointing(run: Path, reference: Path, phase: str) -> CommandResult:
    """Print a row for each task; failed where no page is common to both.

    The reference is a run's successful episodes, or the demonstrations of the same run. Without a
    phase, all episodes but demonstrations are measured.
    """
    is_other = reference.resolve() != run.resolve()
    with Store.look(reference) as store:
        scores = store.scores()
        targets = find_targets(
            [
                episode
                for episode in store.trajectories()
                if is_other or episode.provenance.phase == "demonstrate"
                if any(s.name == "success" and s.value == 1 for s in scores.get(episode.id, ()))
            ]
        )
    if not targets:
        raise UsageError(
            f"{reference} holds no {'successful episode' if is_other else 'demonstration'} that"
            " acts on an element; name a run of a script with --pointing"
        )
    with Store.look(run) as store:
        episodes = store.trajectories(phase=phase) if phase else store.trajectories()
        scored = [
            pointing
            for episode in episodes
            if phase or episode.provenance.phase != "demonstrate"
            for pointing in score_pointing(episode, targets)
        ]
    return _report(run, reference, scored)


def _report(run: Path, reference: Path, scored: list[Pointing]) -> CommandResult:
    groups: dict[str, list[Pointing]] = defaultdict(list)
    for each in scored:
        groups[each.task].append(each)
    tasks = [_summarize(task, group) for task, group in sorted(groups.items())]
    found = Grounding(
        run=str(run),
        against=str(reference),
        episodes=len({each.episode for each in scored}),
        overall=_summarize("all", scored),
        tasks=tasks,
    )
    if not scored:
        print(
            "no episode saw a page on which the reference acted; both need the same tasks and seeds"
        )
        return CommandResult(found, Status.FAILED)
    head = ("task", "steps", "pointed", "by coordinates", "hits", "95 %", "score")
    title = f"how well {run} points, in {found.episodes} episodes against {reference}"
    results_console().print(
        build_table(title, head, map(_row, (*tasks, found.overall)), has_sum=True)
    )
    return CommandResult(found)


def _summarize(task: str, group: Sequence[Pointing]) -> TaskGrounding:
    pointed = [each for each in group if each.by != "nothing"]
    hits = sum(each.hit for each in pointed)
    low, high = wilson(hits, len(pointed))
    return TaskGrounding(
        task=task,
        steps=len(group),
        pointed=len(pointed),
        by_coordinates=sum(each.by == "coordinates" for each in pointed),
        hits=hits,
        hit_rate=hits / max(1, len(pointed)),
        low=low,
        high=high,
        score=sum(each.score for each in pointed) / max(1, len(pointed)),
    )


def _row(of: TaskGrounding) -> tuple[str, ...]:
    rate = f"{of.hits} ({100 * of.hit_rate:.1f} %)"
    between = f"{100 * of.low:.1f} to {100 * of.high:.1f} %"
    return (
        of.task,
        str(of.steps),
        str(of.pointed),
        str(of.by_coordinates),
        rate,
        between,
        f"{of.score:.3f}",
    )
