"""A run as one page: what it shows and how it got there."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from apps.report.templating import make_environment
from loop.failures import summarize_failures
from loop.summary import Summary, format_headline
from loop.summary.format import choose_headline_arm, format_macro, format_sources, name_seeds
from loop.summary.learning import format_all_learning
from loop.summary.measure import task_name
from webagent.files import write_whole
from webagent.observation import render
from webagent.records import Score, Step, Trajectory
from webagent.store import EpisodeSummary, Store, Where

FILE = "report.html"
_FAILURES = 3
"""Failed episodes shown, each of another task."""
_PAGE_TOKENS = 700
_STEPS = 12
"""Most steps shown of one episode."""


@dataclass(frozen=True, slots=True)
class ExampleEpisode:
    """An episode as it was played."""

    trajectory: Trajectory
    score: Score
    """By the frozen judge."""

    @property
    def steps(self) -> list[tuple[Step, str]]:
        """The first steps, each with what was seen of the page."""
        return [
            (step, render(step.observation, max_tokens=_PAGE_TOKENS))
            for step in self.trajectory.steps[:_STEPS]
        ]


def write_report(
    summary: Summary, store: Store | None, folder: Path, to: Path | None = None
) -> Path:
    """Write `report.html` whole or not at all, or another file; with the store it shows episodes.

    Raises `StoreError` when it cannot be written.
    """
    return write_whole(to or folder / FILE, format_page(summary, store))


def format_page(summary: Summary, store: Store | None = None) -> str:
    """Return the HTML of the report."""
    is_measured = bool(store and summary["arms"])
    failures = summarize_failures(store.folder) if store and is_measured else None
    steps = max((arm["rounds"][-1]["real_steps"] for arm in summary["arms"]), default=0)
    facts = {
        "tasks": f"{len(summary['tasks']):,}",
        "repeats": f"{summary['repeats']:,}",
        f"{name_seeds(summary)} seeds a task": f"{len(summary['seeds']):,}",
        "real steps, at most": f"{steps:,.0f}" if steps else "",
        "set aside": f"{sum(summary['failures'].values()):,}",
    }
    versions = [f"{name} {value or '–'}" for name, value in summary["versions"].items()]
    set_aside = [f"{count:,} {name}" for name, count in summary["failures"].items()]
    origin = {
        **summary.get("setup", {}),
        "command": summary["command"],
        "commit": ", gone on with at ".join(format_sources(summary)),
        "versions": ", ".join(versions),
        "judge": f"{', '.join(summary['judge']) or '–'}, frozen: the loop never trains it",
        "seeds": f"{summary['split']}: {format_spans(summary['seeds']) or '–'}",
        "repeats": str(summary["repeats"]),
        "set aside, never scored": ", ".join(set_aside),
    }
    template = make_environment().get_template("report.html")
    return template.render(
        summary=summary,
        headline=format_headline(summary),
        facts={name: value for name, value in facts.items() if value},
        learning=format_all_learning(summary),
        beside=[*map(format_macro, summary.get("macro", ())), *summary.get("notes", ())],
        failures=failures if failures and failures.failures else None,
        examples=choose_examples(summary, store) if store and is_measured else [],
        origin=origin,
    )


def format_spans(numbers: Sequence[int]) -> str:
    """Return ascending numbers with runs as spans: `0–4, 7`."""
    # Numbers of one run differ from their places by the same.
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), key=lambda item: item[1] - item[0])
    ]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def choose_examples(summary: Summary, store: Store) -> list[ExampleEpisode]:
    """Return the longest success of the headline arm's last round, and failures of other tasks."""
    arm = choose_headline_arm(summary)
    where = Where(arm=arm["name"], round=arm["rounds"][-1]["round"], phase="evaluate")
    scores = {
        episode: score
        for episode, given in store.scores(**where).items()
        for score in given
        if score.name == "success"
        and score.evaluator in summary["judge"]
        and score.value is not None
    }
    entries = [entry for entry in store.entries(**where) if entry.id in scores]
    entries.sort(key=lambda entry: (-entry.steps, entry.task, entry.seed))
    successes = [entry for entry in entries if scores[entry.id].value == 1.0]
    failures: dict[str, EpisodeSummary] = {}
    for entry in entries:
        if scores[entry.id].value != 1.0:
            failures.setdefault(task_name(entry.task), entry)
    return [
        ExampleEpisode(trajectory, scores[entry.id])
        for entry in [*successes[:1], *list(failures.values())[:_FAILURES]]
        if (trajectory := store.load(entry.id))
    ]
