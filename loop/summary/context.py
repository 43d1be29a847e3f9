"""What a benchmark's figures need beside them: templates, baselines, setup, unscored episodes."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from evaluators.statistics import cluster_interval, wilson
from loop.costs import read_spending, read_stop_reason, read_stored_prices
from loop.notes import find_headline
from loop.summary.schema import (
    BaselineRow,
    CostAmount,
    MacroRow,
    ModelSpending,
    RunMeta,
    SpentRow,
    Summary,
    TaskSplitRow,
)
from webagent.models.spending import Prices, Spent
from webagent.records import SET_APART
from webagent.store import EpisodeSummary, Store, Where

if TYPE_CHECKING:
    from loop.task_split import TaskSplit

NOTHING, GIVE_UP, REPLAY = "do nothing", "give up at once", "blind replay"
BASELINES = (NOTHING, GIVE_UP, REPLAY)
PHASE, RECORDING = SET_APART
"""Phases of the episodes that are baselines, and of those that were played to be replayed."""


def summarize_baselines(
    entries: Sequence[EpisodeSummary], values: Mapping[str, float]
) -> list[BaselineRow]:
    """Return a row for each baseline that was scored, from the judge's scores by episode."""
    measured: dict[tuple[str, int], list[float]] = {}
    for entry in entries:
        if entry.phase == "evaluate" and entry.id in values:
            measured.setdefault((entry.task, entry.seed), []).append(values[entry.id])
    rows = []
    for name in BASELINES:
        own = [e for e in entries if (e.phase, e.arm) == (PHASE, name) and e.id in values]
        if not own:
            continue
        successes = sum(values[entry.id] for entry in own)
        low, high = wilson(successes, len(own))
        places = {(entry.task, entry.seed) for entry in own}
        beside = [value for place in places for value in measured.get(place, ())]
        rows.append(
            BaselineRow(
                name=name,
                success=successes / len(own),
                low=low,
                high=high,
                episodes=len(own),
                tasks=len({entry.task for entry in own}),
                policy=sum(beside) / len(beside) if beside else None,
            )
        )
    return rows


def average_templates(
    arm: str, outcomes: Iterable[tuple[str, float]], templates: Mapping[str, str]
) -> MacroRow:
    """Return the average over templates, from tasks' names with episodes' successes."""
    groups: dict[str, list[float]] = {}
    for task, success in outcomes:
        groups.setdefault(templates.get(task, task), []).append(success)
    found = cluster_interval(list(groups.values()))
    return MacroRow(
        arm=arm, success=found.value, low=found.low, high=found.high, templates=len(groups)
    )


def add_context(
    summary: Summary,
    store: Store,
    meta: RunMeta,
    outcomes: Mapping[str, Sequence[tuple[str, float]]],
) -> None:
    """Add averages, baselines, setup and notes; `outcomes` has tasks' successes by arm."""
    entries = [*store.entries(phase="evaluate"), *store.entries(phase=PHASE)]
    scores = store.scores(phase=["evaluate", PHASE])
    values: dict[str, float] = {}
    unscored: Counter[str] = Counter()
    for entry in entries:
        own = find_headline(scores.get(entry.id, ()), meta.judge)
        if own and own.value is not None:
            values[entry.id] = own.value
        elif entry.phase == "evaluate":
            unscored[own.reason[:120] if own else "not judged yet"] += 1
    summary["macro"] = [
        average_templates(arm, pairs, meta.templates) for arm, pairs in outcomes.items()
    ]
    summary["baselines"] = summarize_baselines(entries, values)
    begun = min((entry.started for entry in store.entries("any")), default=None)
    changed = " with changes that were not committed" * summary["modified"]
    facts = {
        "benchmark": f"{summary['benchmark']}, {len(summary['tasks'])} tasks",
        **meta.setup,
        "judged as": ", ".join(summary["judge"]),
        "begun": "" if begun is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(begun)),
        "program": f"webagent {summary['versions'].get('webagent', '')}",
        "commit": (summary["commit"][:12] or "none (not from a git tree)") + changed,
        "Chromium": summary["versions"].get("chromium", ""),
    }
    summary["setup"] = {name: value for name, value in facts.items() if value}
    played = {entry.arm for entry in entries if entry.phase == PHASE}
    scored = {entry.arm for entry in entries if entry.phase == PHASE and entry.id in values}
    summary["notes"] = [
        *summary.get("notes", ()),
        *(f"{name}: played, and not scored" for name in BASELINES if name in played - scored),
        *(f"{count} unscored: {reason}" for reason, count in unscored.most_common(3)),
    ]


def summarize_split(split: "TaskSplit") -> TaskSplitRow:
    """Return which tasks were learnt on, as the summary holds it."""
    return TaskSplitRow(
        by=split.by,
        learning=list(split.learning),
        measured=list(split.measured),
        proposed=list(split.proposed),
        refused=dict(split.refused),
        left_out=dict(split.left_out),
    )


def summarize_spending(store: Store) -> SpentRow | None:
    """Return what the run spent; None for a run that keeps no ledger."""
    prices = read_stored_prices(store)
    if prices is None:
        return None
    models = [_summarize_model(entry, prices) for entry in read_spending(store)]
    beside: Where = {"phase": [PHASE, RECORDING]}
    steps = store.count_real_steps() - store.count_real_steps(**beside)
    episodes = sum(entry.is_of_policy for entry in store.entries("played"))
    # Sums over decisions that the sessions noted, of all arms and rounds.
    noted: dict[str, float] = {}
    for arm in sorted({entry.arm for entry in store.entries("any")}):
        row = store.get_state(f"round:{arm}:0:0")
        for name, value in (row if isinstance(row, dict) else {}).items():
            if isinstance(value, int | float):
                noted[name] = noted.get(name, 0.0) + value
    if "decision_seconds" not in noted:  # by the loop, whose arms have rounds
        real = [s for t in store.trajectories() if not t.provenance.imagined for s in t.steps]
        noted["decision_seconds"] = sum(step.decision.seconds for step in real)
        noted["world_seconds"] = sum(step.seconds for step in real)
    paid = [row for row in models if row["price"] != "own weights"]
    known = [row["money"] for row in paid if row["money"] is not None]
    one_currency = len({row["currency"] for row in paid}) == 1
    is_counted = not any(row["uncounted"] for row in models)
    read = sum(row["input_tokens"] for row in models) if models else noted.get("input_tokens")
    written = sum(row["output_tokens"] for row in models) if models else noted.get("output_tokens")
    total = CostAmount(
        input_tokens=read if is_counted else None,
        output_tokens=written if is_counted else None,
        seconds=noted.get("decision_seconds", 0.0),
        world_seconds=noted.get("world_seconds", 0.0),
        money=sum(known) if paid and one_currency and len(known) == len(paid) else None,
    )
    currencies = {row["currency"] for row in models if row["currency"]}
    return SpentRow(
        steps=steps,
        episodes=episodes,
        run=total,
        per_step=_divide(total, steps),
        per_episode=_divide(total, episodes),
        currency=next(iter(currencies)) if len(currencies) == 1 else "",
        asked=models,
        stopped=read_stop_reason(store),
    )


def _summarize_model(entry: Spent, prices: Prices) -> ModelSpending:
    price = prices.of(entry.model)
    known = "unknown" if price is None else "own weights" if price.own else "known"
    return ModelSpending(
        role=entry.role,
        model=entry.model,
        requests=entry.requests,
        failed=entry.failed,
        uncounted=entry.uncounted,
        input_tokens=entry.input_tokens,
        cached_input_tokens=entry.cached_input_tokens,
        output_tokens=entry.output_tokens,
        seconds=entry.seconds,
        money=entry.money(prices),
        currency=price.currency if price and not price.own else "",
        price=known,
        price_date=str(price.date) if price and price.date else "",
        price_source=price.source if price else "",
    )


def _divide(total: CostAmount, count: int) -> CostAmount | None:
    if not count:
        return None

    def each(value: float | None) -> float | None:
        return None if value is None else value / count

    return CostAmount(
        input_tokens=each(total["input_tokens"]),
        output_tokens=each(total["output_tokens"]),
        seconds=total["seconds"] / count,
        world_seconds=total["world_seconds"] / count,
        money=each(total["money"]),
    )
