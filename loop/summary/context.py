"""What a benchmark's figures need beside them: templates, baselines, setup, what is unscored."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from loop.summary.baselines import BASELINES, PHASE, baseline_rows
from loop.summary.macro import macro_row
from loop.summary.shape import RunMeta, Summary
from webagent.records import Score
from webagent.store import EpisodeSummary, Store

_LONGEST_REASON = 120
_MOST_REASONS = 3


def add_context(
    summary: Summary,
    store: Store,
    meta: RunMeta,
    outcomes: Mapping[str, Sequence[tuple[str, float]]],
) -> None:
    """Put it into the summary; `outcomes` has, for each arm, tasks' names and successes."""
    entries = [*store.entries(phase="evaluate"), *store.entries(phase=PHASE)]
    values, unscored = _said(entries, store.scores(phase=["evaluate", PHASE]), meta.judge)
    summary["macro"] = [macro_row(arm, pairs, meta.templates) for arm, pairs in outcomes.items()]
    summary["baselines"] = baseline_rows(entries, values)
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
    unfinished = [name for name in BASELINES if _is_unscored(name, entries, values)]
    summary["notes"] = [
        *summary.get("notes", ()),
        *(f"{name}: played, and not scored" for name in unfinished),
        *(f"{count} unscored: {reason}" for reason, count in unscored.most_common(_MOST_REASONS)),
    ]


def _said(
    entries: Sequence[EpisodeSummary], scores: Mapping[str, Sequence[Score]], judge: str
) -> tuple[dict[str, float], Counter[str]]:
    """Episodes' headline scores, and why episodes of the policy have none."""
    values: dict[str, float] = {}
    unscored: Counter[str] = Counter()
    for entry in entries:
        own = [
            score
            for score in scores.get(entry.id, ())
            if score.name == "success" and score.evaluator.startswith(judge)
        ]
        if own and own[0].value is not None:
            values[entry.id] = own[0].value
        elif entry.phase == "evaluate":
            reason = own[0].reason if own else "not judged yet"
            unscored[f"{reason:.{_LONGEST_REASON}}"] += 1
    return values, unscored


def _is_unscored(name: str, entries: Sequence[EpisodeSummary], values: Mapping[str, float]) -> bool:
    own = [entry.id for entry in entries if (entry.phase, entry.arm) == (PHASE, name)]
    return bool(own) and not any(episode in values for episode in own)
