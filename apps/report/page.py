"""The page as a whole: what the run shows, then how it got there."""

import os
from collections.abc import Iterable
from pathlib import Path
from string import Template

from apps.report import tables
from apps.report.chart import draw_curves, has_curve
from apps.report.episodes import examples
from apps.report.markup import Child, Markup, joined, tag
from loop.failures import summarize_failures
from loop.summary import Summary, format_headline
from loop.summary.format import find_lenient_rule, format_macro, format_sources, name_seeds
from webagent.errors import StoreError
from webagent.store import Store

FILE = "report.html"
NON_BREAKING_HYPHEN = "\u2011"
_SKELETON = Path(__file__).with_name("page.html")


def write_report(
    summary: Summary, store: Store | None, folder: Path, to: Path | None = None
) -> Path:
    """Write `report.html` whole or not at all, or another file; with the store it shows episodes.

    Raises `StoreError` when it cannot be written.
    """
    path = to or folder / FILE
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(page(summary, store), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return path


def page(summary: Summary, store: Store | None = None) -> str:
    """The HTML of the report."""
    body = joined(
        [
            _header(summary),
            _measured(summary) if summary["arms"] else [],
            _failures(store.folder) if store and summary["arms"] else [],
            _episodes(summary, store) if store and summary["arms"] else [],
            _origin(summary),
        ]
    )
    title = joined(f"{summary['benchmark']}: {format_headline(summary)}")
    return Template(_SKELETON.read_text(encoding="utf-8")).substitute(title=title, body=body)


def _header(summary: Summary) -> Markup:
    arms = [row for arm in summary["arms"] for row in arm["rounds"][-1:]]
    facts = {
        "tasks": f"{len(summary['tasks']):,}",
        "repeats": f"{summary['repeats']:,}",
        f"{name_seeds(summary)} seeds a task": f"{len(summary['seeds']):,}",
        "real steps, at most": f"{max((r['real_steps'] for r in arms), default=0):,.0f}",
        "set aside": f"{sum(summary['failures'].values()):,}",
    }
    if not any(row["real_steps"] for row in arms):
        del facts["real steps, at most"]
    cells = [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts.items()]
    kind = f"{summary['benchmark']}, seeds of the {summary['split']} split"
    return tag(
        "header",
        tag("p", kind, class_="kind"),
        tag("h1", format_headline(summary).replace("-", NON_BREAKING_HYPHEN)),
        tag("dl", cells, class_="facts"),
    )


def _measured(summary: Summary) -> list[Markup]:
    parts = []
    if has_curve(summary):
        note = (
            "Bars are Wilson 95 % intervals over episodes. A dashed arm takes no real steps and is "
            "drawn at the round it belongs to; marks at the right act with weights trained by "
            "another arm. The dotted line is where all start."
        )
        parts += _section(f"Success on {name_seeds(summary)} seeds", note, draw_curves(summary))
    if summary["comparisons"]:
        note = (
            "Points of success between two arms on the same repeats, tasks and seeds, with "
            "bootstrap intervals: for tasks like these (thin line), and for these very tasks "
            "(wide, pale). Nothing is claimed where the first reaches zero."
        )
        parts += _section("Against what each arm must beat", note, tables.comparisons(summary))
    if "drift" in summary:
        note = (
            "Arms with a learned judge in place of the checks: the share of held-out episodes they "
            "take for successes beside the true share, and of the episodes they learnt from those "
            "that they wrongly kept."
        )
        parts += _section("What was believed", note, tables.drift(summary["drift"]))
    if rows := summary.get("baselines"):
        note = "On the first seeds that are measured; the policy's success on the very same beside."
        parts += _section("What takes no skill", note, tables.baselines(rows))
    if said := [*map(format_macro, summary.get("macro", ())), *summary.get("notes", ())]:
        sentences = [tag("p", sentence, class_="note") for sentence in said]
        parts += _section("Beside the mean", "", joined(sentences))
    rule = find_lenient_rule(summary)
    beside = " Headline: raw reward 1; beside it any positive reward." if rule else ""
    note = f"Share of episodes in percent.{beside}"
    parts += _section("Every round", note, tables.rounds(summary))
    beside = " Large: raw reward 1; small and pale: raw reward above 0." if rule else ""
    note = f"At the last round.{beside}"
    parts += _section("Every task", note, tables.tasks(summary))
    return parts


def _failures(run: Path) -> list[Markup]:
    summary = summarize_failures(run, "evaluate")
    if not summary.failures:
        return []
    return _section("Why episodes failed", summary.first, tables.failures(summary))


def _episodes(summary: Summary, store: Store) -> list[Markup]:
    shown = examples(summary, store)
    note = "The longest success and the longest failures of different tasks, last round."
    return _section("Episodes", note, shown) if shown else []


def _origin(summary: Summary) -> list[Markup]:
    failures = ", ".join(f"{count:,} {name}" for name, count in summary["failures"].items())
    versions = ", ".join(f"{name} {value or '–'}" for name, value in summary["versions"].items())
    rows: dict[str, Child] = {
        **summary.get("setup", {}),
        "command": tag("code", summary["command"]),
        "commit": ", gone on with at ".join(format_sources(summary)),
        "versions": versions,
        "judge": f"{', '.join(summary['judge']) or '–'}, frozen: the loop never trains it",
        "seeds": f"{summary['split']}: {_spans(summary['seeds']) or '–'}",
        "repeats": str(summary["repeats"]),
        "set aside, never scored": failures,
    }
    cells = [(tag("dt", name), tag("dd", value)) for name, value in rows.items()]
    return _section("What was run", "", tag("dl", cells, class_="run"))


def _section(title: str, note: str, content: Markup) -> list[Markup]:
    explained = [tag("p", note, class_="note")] if note else []
    return [tag("h2", title), *explained, content]


def _spans(numbers: Iterable[int]) -> str:
    """Ascending numbers with runs as spans: `0–4, 7`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{first}" if first == last else f"{first}–{last}" for first, last in spans)
