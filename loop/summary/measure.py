"""Turns what a run has stored so far into its summary."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TypeVar

from evaluators.statistics import Outcomes, difference, mean_interval, wilson
from loop.arms import ARMS
from loop.summary.comparisons import measure_beliefs
from loop.summary.context import add_context, summarize_spending, summarize_split
from loop.summary.learning import summarize_learning
from loop.summary.schema import (
    ArmComparison,
    ArmRow,
    EpisodeRate,
    RepeatRow,
    RoundSummary,
    RunMeta,
    Summary,
)
from loop.summary.students import summarize_students
from webagent.records import Ending, Score
from webagent.rollout import INTERRUPTED
from webagent.store import EpisodeSummary, Store

Key = TypeVar("Key")

BEFORE = "none"
"""The arm that is measured before any improvement; the others start from its round 0."""
PAIRS = (
    ("self", BEFORE),
    ("self", "control"),
    ("imagined", "self"),
    ("lookahead", "self"),
    ("lookahead", "rerank"),
    ("lookahead", "best_of_k"),
)
"""Each arm beside what it must beat."""


@dataclass(frozen=True, slots=True)
class MeasuredEpisode:
    """A held-out episode with the frozen judge's scores."""

    entry: EpisodeSummary
    task: str
    success: float
    raw_positive: float


def summarize(store: Store, meta: RunMeta) -> Summary:
    """Return the numbers of a run, finished or under way. Raises `StoreError`."""
    entries = store.entries(phase="evaluate")
    scores = store.scores(phase="evaluate")
    measured, judges = _read_measured(entries, scores, meta.judge)
    found = {one.entry.arm for one in measured}
    order = [*(name for name in ARMS if name in found), *sorted(found - ARMS.keys())]
    arms = [_summarize_arm(store, name, measured, meta) for name in order]
    begun, *continued = meta.origins
    kinds = [ending for ending in Ending if ending.is_infrastructure]
    failed = store.entries("finished", ending=kinds)
    counts = Counter(INTERRUPTED if one.error == INTERRUPTED else str(one.ending) for one in failed)
    lost = {_place_in_plan(one) for one in failed if one.phase == "evaluate"}
    lost -= {_place_in_plan(one) for one in entries}
    names = (*map(str, kinds), INTERRUPTED)
    failures = {**{name: counts[name] for name in names}, "masked": len(lost)}
    failures["unscored"] = len(entries) - len(measured)
    summary = Summary(
        benchmark=meta.benchmark,
        tasks=list(meta.tasks),
        arms=arms,
        repeats=len({one.entry.repeat for one in measured}),
        seeds=sorted({one.entry.seed for one in measured}),
        split=meta.split,
        versions=begun["versions"],
        commit=begun["commit"],
        modified=begun["modified"],
        continued=continued,
        command=meta.command,
        judge=sorted(judges),
        comparisons=[row for a, b in PAIRS if (row := _compare_arms(measured, a, b))],
        failures=failures,
    )
    if meta.tasks_by_use is not None and meta.tasks_by_use.describe():
        summary["tasks_by_use"] = summarize_split(meta.tasks_by_use)
    if believed := measure_beliefs(store, meta.judge):
        summary["beliefs"] = believed
    if learning := summarize_learning(store):
        summary["learning"] = learning
    if students := summarize_students(store, meta.judge):
        summary["students"] = students
    if (cost := summarize_spending(store)) is not None:
        summary["spent"] = cost
    withheld = [
        f"{arm['name']} succeeds in {rate['success']:.1%} of {rate['episodes']} episodes of tasks"
        f" without demonstrations (95 % interval {rate['low']:.1%} to {rate['high']:.1%})"
        for arm in arms
        if (rate := arm.get("withheld"))
    ]
    if notes := [*meta.notes, *withheld]:
        summary["notes"] = notes
    if meta.setup:
        last = {arm["name"]: arm["rounds"][-1]["round"] for arm in arms}
        outcomes = {
            arm: [(one.task, one.success) for one in measured if _is_of(one, arm, number)]
            for arm, number in last.items()
        }
        add_context(summary, store, meta, outcomes)
    return summary


def _read_measured(
    entries: Iterable[EpisodeSummary], scores: Mapping[str, Sequence[Score]], judge: str
) -> tuple[list[MeasuredEpisode], set[str]]:
    """Return the episodes the frozen judge has a headline score of, and who judged."""
    measured, judges = [], set[str]()
    for entry in entries:
        by_name = {s.name: s for s in scores.get(entry.id, ()) if s.evaluator.startswith(judge)}
        headline, lenient = by_name.get("success"), by_name.get("raw_positive")
        if headline is None or headline.value is None:
            continue
        judges.add(headline.evaluator)
        passed = lenient.value if lenient and lenient.value is not None else headline.value
        measured.append(MeasuredEpisode(entry, task_name(entry.task), headline.value, passed))
    return measured, judges


def task_name(task: str) -> str:
    """Return a task's id without benchmark and version, as `Task.name`."""
    return task.rsplit("/", 1)[-1].split("@", 1)[0]


def _summarize_arm(
    store: Store, name: str, measured: Sequence[MeasuredEpisode], meta: RunMeta
) -> ArmRow:
    own = [one for one in measured if one.entry.arm == name]
    by_round = _group_by(own, lambda one: one.entry.round)
    rows = [_summarize_round(store, name, number, by_round[number]) for number in sorted(by_round)]
    if name in ARMS and name != BEFORE and not ARMS[name].weights_of and 0 not in by_round:
        repeats = {one.entry.repeat for one in own}
        start = [m for m in measured if _is_of(m, BEFORE, 0) and m.entry.repeat in repeats]
        rows = ([_summarize_round(store, BEFORE, 0, start)] if start else []) + rows
    last = by_round[max(by_round)]
    by_task = _group_by(last, lambda one: one.task)
    order = [*meta.tasks, *sorted(by_task.keys() - set(meta.tasks))]
    row = ArmRow(
        name=name,
        rounds=rows,
        by_task={task: _measure_rate(by_task[task]) for task in order if task in by_task},
        endings=dict(Counter(str(one.entry.ending) for one in last).most_common()),
    )
    if meta.withhold and meta.tasks_by_use is not None:
        withhold = partial(meta.tasks_by_use.withhold, meta.withhold)
        if untaught := [one for one in last if one.task in withhold(one.entry.repeat)]:
            row["withheld"] = _measure_rate(untaught)
    return row


def _summarize_round(
    store: Store, arm: str, number: int, episodes: Sequence[MeasuredEpisode]
) -> RoundSummary:
    by_repeat = _group_by(episodes, lambda one: one.entry.repeat)
    repeats = [
        RepeatRow(
            repeat=repeat,
            success=fmean(one.success for one in ones),
            episodes=len(ones),
            real_steps=store.count_real_steps(
                arm=_find_trainer(arm), repeat=repeat, round=range(1, number + 1), phase="collect"
            ),
        )
        for repeat, ones in sorted(by_repeat.items())
    ]
    spread = mean_interval([row["success"] for row in repeats]) if len(repeats) > 1 else None
    costs = [_read_costs(store, arm, repeat, number, ones) for repeat, ones in by_repeat.items()]
    mean_costs = {
        key: fmean(cost[key] for cost in costs) for key in costs[0] if all(key in c for c in costs)
    }
    return RoundSummary(
        round=number,
        **_measure_rate(episodes),
        real_steps=fmean(row["real_steps"] for row in repeats),
        imagined_steps=mean_costs.pop("imagined_steps"),
        seconds=mean_costs.pop("seconds"),
        costs=mean_costs,
        repeats_low=spread.low if spread else None,
        repeats_high=spread.high if spread else None,
        by_repeat=repeats,
    )


def _measure_rate(episodes: Sequence[MeasuredEpisode]) -> EpisodeRate:
    successes = sum(one.success for one in episodes)
    low, high = wilson(successes, len(episodes))
    return EpisodeRate(
        success=successes / len(episodes),
        low=low,
        high=high,
        episodes=len(episodes),
        raw_positive=fmean(one.raw_positive for one in episodes),
    )


def _find_trainer(arm: str) -> str:
    """Return the arm whose experience counts: its own, or that of the arm whose weights it uses."""
    return (ARMS[arm].weights_of if arm in ARMS else "") or arm


def _read_costs(
    store: Store, arm: str, repeat: int, number: int, episodes: Sequence[MeasuredEpisode]
) -> dict[str, float]:
    """Return what the run noted of the round, with the time of the measurement if it noted none,
    and the imagined steps: those offered to the training of the weights that were measured, and
    those looked ahead in measuring."""
    rounds = range(1, number + 1)
    dreams = store.entries(arm=_find_trainer(arm), repeat=repeat, round=rounds, world="imagined")
    imagined = sum(dream.steps for dream in dreams)
    if arm in ARMS and ARMS[arm].acts_by == "lookahead":
        played = store.trajectories(arm=arm, repeat=repeat, round=number, phase="evaluate")
        steps = (step for episode in played for step in episode.steps)
        imagined += sum(step.decision.usage.get("imagined_steps", 0) for step in steps)
    started = min(one.entry.started for one in episodes)
    ended = max(one.entry.started + one.entry.seconds for one in episodes)
    noted = store.get_state(f"round:{arm}:{repeat}:{number}")
    numbers = {
        key: float(value)
        for key, value in (noted.items() if isinstance(noted, dict) else ())
        if isinstance(value, int | float)
    }
    return {"seconds": ended - started, **numbers, "imagined_steps": imagined}


def _compare_arms(measured: Sequence[MeasuredEpisode], a: str, b: str) -> ArmComparison | None:
    """Return both arms at the last round that both have; what never changes fits any."""
    rounds = {arm: {m.entry.round for m in measured if m.entry.arm == arm} for arm in (a, b)}
    common = rounds[a] if b == BEFORE else rounds[a] & rounds[b]
    if not common or not rounds[b]:
        return None
    number = max(common)
    of_a = _outcomes(measured, a, number)
    of_b = _outcomes(measured, b, max(rounds[b]) if b == BEFORE else number)
    found = difference(of_a, of_b)
    if found is None:
        return None
    return ArmComparison(
        a=a,
        b=b,
        round=number,
        difference=found.value,
        low=found.low,
        high=found.high,
        episodes=len(of_a.keys() & of_b.keys()),
    )


def _outcomes(measured: Iterable[MeasuredEpisode], arm: str, number: int) -> Outcomes:
    return {
        (one.entry.repeat, one.task, one.entry.seed): one.success
        for one in measured
        if _is_of(one, arm, number)
    }


def _is_of(one: MeasuredEpisode, arm: str, number: int) -> bool:
    return (one.entry.arm, one.entry.round) == (arm, number)


def _place_in_plan(entry: EpisodeSummary) -> tuple[str, int, int, int]:
    """Return the place in its plan, the same for all attempts."""
    return entry.arm, entry.repeat, entry.round, entry.index


def _group_by(
    items: Iterable[MeasuredEpisode], key: Callable[[MeasuredEpisode], Key]
) -> dict[Key, list[MeasuredEpisode]]:
    groups: dict[Key, list[MeasuredEpisode]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups
