"""A run's figures as pictures: success with its intervals, what it cost, why episodes failed."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from apps.report.charts import colour_class, has_curve
from apps.report.templating import make_environment
from evaluators.attribution import FailureSummary
from loop.summary import ArmRow, Summary, format_headline
from loop.summary.format import name_seeds
from webagent.errors import SetupError, StoreError

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
        panels = [_cost_panel(summary, name) for name in costs]
        title = "What each arm has cost, up to the last round"
        yield Plot("costs", title, "means over repeats", panels)
    if failures.failures:
        rows = [
            PlotBar(str(row.cause), "a5", row.share.value, f"{row.count:,}", *row.share[1:])
            for row in failures.causes
        ]
        title = f"share of {failures.failures:,} failed episodes"
        panel = PlotPanel(title, max(row.share.high for row in failures.causes), rows)
        yield Plot("failures", "Why episodes failed", failures.first, [panel])


def _cost_panel(summary: Summary, name: str) -> PlotPanel:
    values = {arm["name"]: _last_cost(arm, name) for arm in summary["arms"]}
    rows = [
        PlotBar(arm, colour_class(summary, arm), value, _short(value))
        for arm, value in values.items()
    ]
    return PlotPanel(_COSTS[name], max(values.values()), rows)


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
