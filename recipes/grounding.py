"""`webagent grounding`: how well a policy points, by stored episodes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tyro.conf import Positional

from evaluators.grounding import Pointing, find_targets, score_pointing
from evaluators.statistics import wilson
from loop.console.output import CommandResult, Status, build_table, results_console
from recipes.settings import resolve
from webagent.errors import UsageError
from webagent.records import Trajectory
from webagent.store import Store


@dataclass(frozen=True)
class GroundingConfig:
    """Measure how well a policy points: its clicks against the elements that another run's episodes
    acted on, wherever both saw the same page."""

    run: Positional[Path] = Path()
    """The run folder of the policy. Default: the current folder."""
    against: Path | None = None
    """Run folder of the reference: successful episodes of a script or demonstrations, of the same
    tasks and seeds. Default: the run's own demonstrations."""
    phase: str = ""
    """Only episodes of this phase, such as `evaluate` or `collect`. Default: all but
    demonstrations."""


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


def main(argv: Sequence[str]) -> CommandResult:
    """Print a row for each task; failed where no page is common to both."""
    config = resolve(GroundingConfig, "grounding", argv)
    against = config.against or config.run
    with Store.look(against) as store:
        targets = find_targets(_references(store, is_other=config.against is not None))
    if not targets:
        raise UsageError(
            f"{against} holds no {'successful episode' if config.against else 'demonstration'} that"
            " acts on an element; name a run of a script with --against"
        )
    with Store.look(config.run) as store:
        scored = [
            pointing
            for episode in _chosen(store, config.phase)
            for pointing in score_pointing(episode, targets)
        ]
    return _report(config, against, scored)


def _chosen(store: Store, phase: str) -> Iterator[Trajectory]:
    """Yield the policy's episodes: of this phase, or all but demonstrations."""
    if phase:
        yield from store.trajectories(phase=phase)
        return
    yield from (one for one in store.trajectories() if one.provenance.phase != "demonstrate")


def _references(store: Store, *, is_other: bool) -> list[Trajectory]:
    """The demonstrations, or all successful episodes of a run that is named as the reference."""
    scores = store.scores()
    return [
        episode
        for episode in store.trajectories()
        if is_other or episode.provenance.phase == "demonstrate"
        if any(score.name == "success" and score.value == 1 for score in scores.get(episode.id, ()))
    ]


def _report(config: GroundingConfig, against: Path, scored: list[Pointing]) -> CommandResult:
    groups: dict[str, list[Pointing]] = defaultdict(list)
    for each in scored:
        groups[each.task].append(each)
    tasks = [_summarize(task, group) for task, group in sorted(groups.items())]
    found = Grounding(
        run=str(config.run),
        against=str(against),
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
    title = f"how well {config.run} points, in {found.episodes} episodes against {against}"
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
