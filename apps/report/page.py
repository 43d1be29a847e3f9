"""A run as one page, what it shows and how it got there, and its figures as pictures."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from apps.report.charts import colour_class, has_curve
from apps.report.templating import make_environment
from evaluators.attribution import FailureSummary
from loop.failures import summarize_failures
from loop.summary import ArmRow, Summary, format_headline
from loop.summary.format import choose_headline_arm, format_macro, format_sources, name_seeds
from loop.summary.learning import format_all_learning
from loop.summary.measure import task_name
from webagent.errors import SetupError, StoreError
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
    """Return the longest success of the headline arm's last round, and its longest failures of
    different tasks."""
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


_SCALE = 2
"""Device pixels for each of the 840 across."""
_COSTS = {
    "real_steps": "real steps",
    "imagined_steps": "imagined steps",
    "train_tokens": "tokens trained on",
    "seconds": "seconds a round",
}
"""What a round notes, with the words for it."""


@dataclass(frozen=True, slots=True)
class PlotBar:
    """A bar, with its interval where it has one."""

    name: str
    colour: str
    value: float
    label: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class PlotPanel:
    """Bars on one scale."""

    title: str
    top: float
    """Value at the right end."""
    rows: Sequence[PlotBar]


@dataclass(frozen=True, slots=True)
class Plot:
    """A picture to be."""

    name: str
    title: str
    note: str
    panels: Sequence[PlotPanel] = ()
    is_curve: bool = False
    """Whether it is the summary's learning curves, in place of panels."""


def write_plots(summary: Summary, failures: FailureSummary, folder: Path) -> list[Path]:
    """Write `success.png`, `costs.png` and `failures.png`, as far as there is something to show.

    Raises `StoreError` where they cannot be written, `SetupError` without a Chromium.
    """
    plots = list(_plots(summary, failures))
    if not plots:
        return []
    page = make_environment().get_template("plots.html").render(summary=summary, plots=plots)
    pictures = asyncio.run(_photograph(page, [plot.name for plot in plots]))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures.items():
            (folder / f"{name}.png").write_bytes(picture)
    except OSError as error:
        raise StoreError(f"plots cannot be written to {folder}: {error}") from error
    return [folder / f"{name}.png" for name in pictures]


async def _photograph(page: str, names: Sequence[str]) -> Mapping[str, bytes]:
    """Return a picture of each figure of a page. Raises `SetupError`."""
    from playwright.async_api import Error, async_playwright

    from webagent.browser.chromium import find_chromium, has_sandbox

    path = find_chromium(headless=True).path
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=path, chromium_sandbox=has_sandbox()
            )
            opened = await browser.new_page(
                viewport={"width": 840, "height": 600}, device_scale_factor=_SCALE
            )
            await opened.set_content(page)
            pictures = {name: await opened.locator(f"#{name}").screenshot() for name in names}
            await browser.close()
    except Error as error:
        raise SetupError(f"Chromium could not draw the plots: {error.message}") from error
    return pictures


def _plots(summary: Summary, failures: FailureSummary) -> Iterator[Plot]:
    if not summary["arms"]:
        return
    note = "Intervals: Wilson, 95 %, over episodes."
    if any(not row["real_steps"] for arm in summary["arms"] for row in arm["rounds"][1:]):
        note += " A dashed arm takes no real steps and stands at its round."
    headline = format_headline(summary)
    if has_curve(summary):
        yield Plot("success", headline, note, is_curve=True)
    else:
        bars = []
        for arm in summary["arms"]:
            row, colour = arm["rounds"][-1], colour_class(summary, arm["name"])
            label = f"{100 * row['success']:.1f} % of {row['episodes']:,}"
            ends = row["low"], row["high"]
            bars.append(PlotBar(arm["name"], colour, row["success"], label, *ends))
        title = f"success on {name_seeds(summary)} seeds, %"
        yield Plot("success", headline, note, [PlotPanel(title, 1.0, bars)])
    costs = [name for name in _COSTS if any(_last_cost(arm, name) for arm in summary["arms"])]
    if costs:
        panels = []
        for name in costs:
            values = {arm["name"]: _last_cost(arm, name) for arm in summary["arms"]}
            rows = [
                PlotBar(arm, colour_class(summary, arm), value, _short(value))
                for arm, value in values.items()
            ]
            panels.append(PlotPanel(_COSTS[name], max(values.values()), rows))
        title = "What each arm has cost, up to the last round"
        yield Plot("costs", title, "means over repeats", panels)
    if failures.failures:
        rows = [
            PlotBar(str(row.cause), "a5", row.share.value, f"{row.count:,}", *row.share[1:])
            for row in failures.causes
        ]
        title = f"share of {failures.failures:,} failed episodes"
        panel = PlotPanel(title, max(row.share.high for row in failures.causes), rows)
        yield Plot("failures", "Why episodes did not succeed", failures.first, [panel])


def _last_cost(arm: ArmRow, name: str) -> float:
    """Return the steps up to the last round; of tokens and seconds those of all rounds together."""
    last = arm["rounds"][-1]
    if name in ("real_steps", "imagined_steps"):
        return float(last[name])  # type: ignore[literal-required]  # one of its two keys
    if name == "seconds":
        return sum(row["seconds"] for row in arm["rounds"]) / len(arm["rounds"])
    return sum(row["costs"].get(name, 0.0) for row in arm["rounds"])


def _short(value: float) -> str:
    """Return three digits and a unit: 4.48 k, 1.25 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
