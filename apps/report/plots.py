"""A run's figures as pictures: success with its intervals, what it cost, why episodes failed."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from apps.report.chart import has_curve, place_rounds
from apps.report.colours import colour_of, marker_of
from evaluators.attribution import FailureSummary
from loop.summary import ArmRow, Summary, format_headline
from loop.summary.format import name_seeds
from webagent.errors import SetupError, StoreError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _SOFT, _LINE = "#22262b", "#626a73", "#dfdcd6"
_DOTS = 200
"""Dots per inch: 1,600 pixels across."""
_INCHES = 8.0
_COSTS = {
    "real_steps": "real steps",
    "imagined_steps": "imagined steps",
    "train_tokens": "tokens trained on",
    "seconds": "seconds a round",
}
"""What a round notes, with the words for it."""


def write_plots(summary: Summary, failures: FailureSummary, folder: Path) -> list[Path]:
    """Write `success.png`, `costs.png` and `failures.png`, as far as there is something to show.

    Raises `StoreError` where they cannot be written, `SetupError` without matplotlib.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in _figures(summary, failures):
            path = folder / f"{name}.png"
            figure.savefig(path, dpi=_DOTS, facecolor="white")
            written.append(path)
    except ImportError as error:
        raise SetupError("plots need matplotlib; pip install matplotlib") from error
    except OSError as error:
        raise StoreError(f"plots cannot be written to {folder}: {error}") from error
    return written


def _figures(summary: Summary, failures: FailureSummary) -> "Iterator[tuple[str, Figure]]":
    if not summary["arms"]:
        return
    yield "success", _success(summary)
    if costs := [name for name in _COSTS if any(_last_cost(arm, name) for arm in summary["arms"])]:
        yield "costs", _costs(summary, costs)
    if failures.failures:
        yield "failures", _failures(failures)


def _success(summary: Summary) -> "Figure":
    """Over real steps where arms were measured more than once, else a bar for each arm."""
    if not has_curve(summary):
        figure, axes = _drawn(0.9 + 0.5 * len(summary["arms"]))
        _bars(axes, summary)
    else:
        figure, axes = _drawn(4.6)
        places = place_rounds(summary)
        apart = 0.008 * max(places.values())
        for place, arm in enumerate(summary["arms"]):
            shift = apart * (place - len(summary["arms"]) / 2)
            rounds = arm["rounds"]
            values = [100 * row["success"] for row in rounds]
            below = [100 * (row["success"] - row["low"]) for row in rounds]
            above = [100 * (row["high"] - row["success"]) for row in rounds]
            axes.errorbar(
                [places[arm["name"], row["round"]] + shift for row in rounds],
                values,
                yerr=[below, above],
                label=arm["name"],
                color=colour_of(summary, arm["name"]),
                marker=marker_of(summary, arm["name"]),
                capsize=3,
                linestyle="-" if rounds[-1]["real_steps"] else "--",
            )
        axes.set_xlabel("real steps in the browser, mean over repeats")
        axes.set_ylabel(f"success on {name_seeds(summary)} seeds, %")
        axes.xaxis.set_major_formatter(lambda steps, _: f"{steps:,.0f}")
        axes.grid(axis="y", color=_LINE)
        axes.legend(frameon=False, labelcolor=_INK, loc="center left", bbox_to_anchor=(1.0, 0.5))
    note = "Intervals: Wilson, 95 %, over episodes."
    if any(not row["real_steps"] for arm in summary["arms"] for row in arm["rounds"][1:]):
        note += " A dashed arm takes no real steps and stands at its round."
    _titled(figure, format_headline(summary), note)
    return figure


def _bars(axes: "Axes", summary: Summary) -> None:
    rows = [(arm["name"], arm["rounds"][-1]) for arm in reversed(summary["arms"])]
    for place, (name, row) in enumerate(rows):
        value, low, high = (100 * row[key] for key in ("success", "low", "high"))
        axes.barh(
            place,
            value,
            height=0.55,
            xerr=[[value - low], [high - value]],
            color=colour_of(summary, name),
            ecolor=_INK,
            capsize=3,
        )
        axes.text(102, place, f"{value:.1f} % of {row['episodes']:,}", va="center", color=_INK)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_xlim(0, 100)
    axes.set_xlabel(f"success on {name_seeds(summary)} seeds, %")


def _costs(summary: Summary, names: list[str]) -> "Figure":
    """A panel for each kind of cost, each with a scale of its own."""
    arms = summary["arms"][::-1]
    figure, panels = _panels(len(names), 1.1 + 0.32 * len(arms))
    for axes, name in zip(panels, names, strict=True):
        values = [_last_cost(arm, name) for arm in arms]
        axes.barh(
            [arm["name"] for arm in arms],
            values,
            height=0.6,
            color=[colour_of(summary, arm["name"]) for arm in arms],
        )
        axes.set_title(_COSTS[name], fontsize=10, color=_INK, loc="left")
        axes.set_xticks([])
        axes.set_xlim(0, 1.45 * max(values))
        for place, value in enumerate(values):
            axes.text(value, place, f" {_short(value)}", va="center", fontsize=8, color=_INK)
    _titled(figure, "What each arm has cost, up to the last round", "means over repeats")
    return figure


def _last_cost(arm: ArmRow, name: str) -> float:
    """Steps up to the last round; of tokens and seconds those of all rounds together."""
    last = arm["rounds"][-1]
    if name in ("real_steps", "imagined_steps"):
        return float(last[name])  # type: ignore[literal-required]  # one of its two keys
    if name == "seconds":
        return sum(row["seconds"] for row in arm["rounds"]) / len(arm["rounds"])
    return sum(row["costs"].get(name, 0.0) for row in arm["rounds"])


def _short(value: float) -> str:
    """Three digits and a unit: 4.48 k, 1.25 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def _failures(summary: FailureSummary) -> "Figure":
    """The causes, the most frequent on top, with the intervals of their shares."""
    rows = summary.causes[::-1]
    figure, axes = _drawn(1.2 + 0.36 * len(rows))
    values = [100 * row.share.value for row in rows]
    errors = [
        [100 * (row.share.value - row.share.low) for row in rows],
        [100 * (row.share.high - row.share.value) for row in rows],
    ]
    axes.barh([str(row.cause) for row in rows], values, height=0.6, color="#c2500a", alpha=0.85)
    axes.errorbar(values, range(len(rows)), xerr=errors, fmt="none", ecolor=_INK, capsize=3)
    for place, row in enumerate(rows):
        right = 100 * row.share.high
        axes.text(right, place, f"  {row.count:,}", va="center", color=_INK)
    axes.set_xlim(0, 1.12 * max(100 * row.share.high for row in rows))
    axes.set_xlabel(f"share of {summary.failures:,} failed episodes, %")
    _titled(figure, "Why episodes failed", summary.first)
    return figure


def _drawn(height: float) -> "tuple[Figure, Axes]":
    figure, panels = _panels(1, height)
    return figure, panels[0]


def _panels(count: int, height: float) -> "tuple[Figure, list[Axes]]":
    """A figure with panels side by side, names on the left of the first only."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_INCHES, height + 0.7), layout="constrained")
    panels = list(figure.subplots(1, count, squeeze=False, sharey=True)[0])
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(_LINE)
        axes.tick_params(colors=_SOFT, length=0)
        axes.set_axisbelow(True)
        axes.xaxis.label.set_color(_SOFT)
        axes.yaxis.label.set_color(_SOFT)
    return figure, panels


def _titled(figure: "Figure", title: str, note: str) -> None:
    """Headline and note above the panels, wrapped to the picture's width."""
    from textwrap import fill

    words = "\n".join(part for part in (fill(title, 100), fill(note, 100)) if part)
    figure.suptitle(words, x=0.01, ha="left", fontsize=9.5, color=_INK)
