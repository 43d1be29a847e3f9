"""The sentences and tables of a summary, which claim no more than its intervals show."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from rich.console import Console

from evaluators.statistics import Interval
from loop.console.screen import build_table, results_console
from loop.summary.learning import format_all_learning
from loop.summary.schema import (
    ArmComparison,
    ArmRow,
    BaselineRow,
    BeliefRow,
    EpisodeRate,
    MacroRow,
    RoundSummary,
    SpentRow,
    Summary,
)
from loop.summary.students import format_student

MINUS = "−"


def format_points(value: float, *, signed: bool = False) -> str:
    """Return a difference of rates in percentage points, with one decimal and a real minus sign."""
    rounded = round(100 * value, 1) or 0.0
    sign = MINUS if rounded < 0 else "+" if signed and rounded > 0 else ""
    return f"{sign}{abs(rounded):.1f}"


def format_percent(rate: float) -> str:
    """Return a rate with one decimal."""
    return f"{100 * rate:.1f} %"


def format_hundredths(rate: float) -> str:
    """Return a rate in hundredths, with one decimal, for columns whose head says so."""
    return f"{100 * rate:.1f}"


def format_interval(rate: EpisodeRate) -> str:
    """Return the 95 % interval of a rate, in hundredths."""
    return f"{format_hundredths(rate['low'])}–{format_hundredths(rate['high'])}"


def find_lenient_rule(summary: Summary) -> str:
    """Return the name of a rule that passes more than success does; empty where there is none."""
    return "raw > 0" if summary["benchmark"].startswith("miniwob@") else ""


def format_lenient(rate: EpisodeRate, rule: str) -> tuple[str, ...]:
    """Return the rate of the lenient rule in hundredths, where there is one."""
    return (format_hundredths(rate["raw_positive"]),) if rule else ()


StepColumn: TypeAlias = Literal["real_steps", "imagined_steps"]

_STEP_COLUMNS: dict[StepColumn, str] = {
    "real_steps": "real steps",
    "imagined_steps": "imagined steps",
}


def find_step_columns(summary: Summary) -> dict[StepColumn, str]:
    """Return the kinds of steps that any arm has learnt from, with the heads of their columns.

    None where nothing was learnt, so that a benchmark's table says nothing of steps.
    """
    rows = [row for arm in summary["arms"] for row in arm["rounds"]]
    return {name: head for name, head in _STEP_COLUMNS.items() if any(row[name] for row in rows)}


SPENT_HEAD = ("", "tokens read", "tokens written", "seconds deciding", "of pages", "money")


def format_spending_rows(row: SpentRow) -> list[tuple[str, ...]]:
    """Return what a step, an episode and the run cost, a line each under `SPENT_HEAD`."""
    is_paid = any(spent["price"] != "own weights" for spent in row["asked"])

    def format_money(money: float | None) -> str:
        if money is None:
            return "unknown" if is_paid else "–"
        # Two decimals, or as many more as a small sum needs to differ from 0.
        places = 2 if not 0 < money < 1 else max(2, 1 - math.floor(math.log10(money)))
        return f"{money:,.{places}f} {row['currency']}"

    lines = (
        ("a step", row["per_step"]),
        ("an episode", row["per_episode"]),
        ("the run", row["run"]),
    )
    return [
        (
            name,
            _format_count(cost["input_tokens"], row),
            _format_count(cost["output_tokens"], row),
            f"{cost['seconds']:,.2f}",
            f"{cost['world_seconds']:,.2f}",
            format_money(cost["money"]),
        )
        for name, cost in lines
        if cost is not None
    ]


def _format_count(tokens: float | None, row: SpentRow) -> str:
    if tokens is None:
        return "unknown" if row["asked"] else "–"
    return f"{tokens:,.0f}"


def format_macro(row: MacroRow) -> str:
    """Return the average over templates, in a sentence."""
    low, high = format_percent(row["low"]), format_percent(row["high"])
    return (
        f"{row['arm']}: {format_percent(row['success'])} on average over {row['templates']:,}"
        f" templates, each counted once (95 % interval {low} to {high})"
    )


BASELINE_HEAD = ("what takes no skill", "success %", "95 %", "episodes", "the policy there %")


def format_baseline(row: BaselineRow) -> tuple[str, ...]:
    """Return a line under `BASELINE_HEAD`."""
    return (
        row["name"],
        format_hundredths(row["success"]),
        f"{format_hundredths(row['low'])}–{format_hundredths(row['high'])}",
        f"{row['episodes']:,}",
        "–" if row["policy"] is None else format_hundredths(row["policy"]),
    )


BELIEF_HEAD = (
    *("arm", "round", "who was believed", "episodes", "decided", "abstained", "failed"),
    *("agrees %", "95 %", "of", "precision %"),
)


def format_belief(row: BeliefRow) -> tuple[str, ...]:
    """A line under `BELIEF_HEAD`."""
    agreement, precision = row["agreement"], row["precision"]
    return (
        row["arm"],
        str(row["round"]),
        row["judge"],
        *(f"{n:,}" for n in (row["episodes"], row["decided"], row["abstained"], row["failed"])),
        "–" if agreement is None else format_hundredths(agreement),
        f"{format_hundredths(row['low'])}–{format_hundredths(row['high'])}"
        if agreement is not None
        else "–",
        f"{row['compared']:,}",
        "–" if precision is None else format_hundredths(precision),
    )


def format_models(row: SpentRow) -> list[str]:
    """Return a sentence for each model that was used, on what is known of its price."""
    sentences = []
    for spent in row["asked"]:
        sentence = f"{spent['model']} as {spent['role']}: {spent['requests']:,} requests"
        if spent["failed"]:
            sentence += f", {spent['failed']:,} calls failed"
        if spent["uncounted"]:
            sentence += f", {spent['uncounted']:,} calls without a count of tokens"
        if spent["price"] == "known":
            source = ", ".join(filter(None, (spent["price_source"], spent["price_date"])))
            sentence += f", at {spent['currency']} prices" + f" ({source})" * bool(source)
        else:
            is_own = spent["price"] == "own weights"
            sentence += "; own weights" if is_own else "; price unknown"
        sentences.append(sentence)
    return sentences


def format_difference(a: str, b: str, found: Interval) -> str:
    """Return one sentence on how much higher a's rate is than b's."""
    value, low, high = found
    interval = f"95 % interval {format_points(low)} to {format_points(high)}"
    # As they are written, with one decimal: what rounds to zero shows no difference.
    if round(100 * low, 1) > 0 or round(100 * high, 1) < 0:
        side = "above" if value > 0 else "below"
        return f"{a} is {format_points(abs(value))} points {side} {b} ({interval})"
    points = format_points(value, signed=True)
    return f"no difference between {a} and {b} is shown ({points}, {interval})"


def format_comparison(comparison: ArmComparison) -> str:
    """Return one sentence on one comparison."""
    found = Interval(comparison["difference"], comparison["low"], comparison["high"])
    return format_difference(comparison["a"], comparison["b"], found)


def choose_headline_arm(summary: Summary) -> ArmRow:
    """Return the arm of the first sentence: `self` where it was measured, else the last one."""
    known = {arm["name"]: arm for arm in summary["arms"]}
    return known.get("self", summary["arms"][-1])


def name_seeds(summary: Summary) -> str:
    """Return what the seeds may be called: those of other splits than `test` are not held out."""
    return "held-out" if summary["split"] == "test" else summary["split"]


def format_headline(summary: Summary) -> str:
    """Return what the run shows, in one sentence."""
    if not summary["arms"]:
        if undecided := summary["failures"].get("unscored", 0):
            return f"{undecided:,} episodes ended, and the judge decided none of them."
        return "Nothing has been measured yet."
    arm = choose_headline_arm(summary)
    last = arm["rounds"][-1]
    success, count = format_percent(last["success"]), f"{last['episodes']:,}"
    found = {(row["a"], row["b"]): row for row in summary["comparisons"]}
    against = found.get(("self", "control")) or found.get(("self", "none"))
    if against is not None:
        claim = format_comparison(against)
    else:
        claim = f"95 % interval {format_percent(last['low'])} to {format_percent(last['high'])}"
    episodes = f"{count} {name_seeds(summary)} episodes"
    return f"{arm['name']} succeeds in {success} of {episodes}; {claim}."


def format_sources(summary: Summary) -> list[str]:
    """Return the commits a run was made with, when it was begun and when it was resumed."""
    sources = [_format_source(summary["commit"], is_modified=summary["modified"])]
    for origin in summary["continued"]:
        others = {
            f"{name} {version or '–'}"
            for name, version in origin["versions"].items()
            if version != summary["versions"].get(name)
        }
        source = _format_source(origin["commit"], is_modified=origin["modified"])
        sources.append(f"{source} ({', '.join(sorted(others))})" if others else source)
    return sources


def _format_source(commit: str, *, is_modified: bool) -> str:
    changed = " with changes that were not committed" if is_modified else ""
    return (commit[:12] or "none (not from a git tree)") + changed


def print_summary(summary: Summary, console: Console | None = None) -> None:
    """Print success by arm and round, by task, and each arm beside what it must beat."""
    console = console or results_console()
    if summary["arms"]:
        head, rows = _list_rounds(summary)
        before = ["", *(row[0] for row in rows)]
        rows = [
            ("" if row[0] == name else row[0], *row[1:])
            for name, row in zip(before, rows, strict=False)
        ]
        title = f"{summary['benchmark']}: success on {name_seeds(summary)} seeds"
        console.print(build_table(title, head, rows, bold=2))
        for line in draw_curve(summary["arms"]):
            console.print(line)
        head, rows = _list_tasks(summary)
        console.print(build_table("success by task at the last round, %", head, rows, has_sum=True))
    _print_sentences(console, map(format_comparison, summary["comparisons"]))
    for title, names, lines in (
        (
            "the judge beside who measures",
            BELIEF_HEAD,
            map(format_belief, summary.get("beliefs", ())),
        ),
        ("beside the policy", BASELINE_HEAD, map(format_baseline, summary.get("baselines", ()))),
    ):
        if listed := list(lines):
            console.print(build_table(title, names, listed))
    _print_sentences(console, format_all_learning(summary))
    _print_sentences(console, map(format_student, summary.get("students", ())))
    _print_sentences(console, map(format_macro, summary.get("macro", ())))
    _print_sentences(console, summary.get("notes", ()))
    if facts := [f"{name}: {value}" for name, value in summary.get("setup", {}).items()]:
        console.print("; ".join(facts))
    counts = [f"{count} {name}" for name, count in summary["failures"].items() if count]
    apart = f"set aside, never scored: {', '.join(counts) or 'nothing'}"
    console.print(apart)
    if spent := summary.get("spent"):
        console.print(build_table("spent", SPENT_HEAD, format_spending_rows(spent)))
        _print_sentences(console, format_models(spent))
        if spent["stopped"]:
            console.print(f"stopped before its end: {spent['stopped']}")
    console.print(format_headline(summary), style="bold")


_MARKS = "●○△◇□▽"
_ROUND_WIDTH = 8
"""Characters between two rounds of a curve."""


def draw_curve(arms: Sequence[ArmRow]) -> list[str]:
    """Return success by round as lines of text, a line for ten points; none for a single round."""
    curves = [arm for arm in reversed(arms) if len(arm["rounds"]) > 1]
    if not curves:
        return []
    rounds = max(row["round"] for arm in curves for row in arm["rounds"])
    grid = [[" "] * (_ROUND_WIDTH * (rounds + 1)) for _ in range(11)]
    legend = []
    for mark, arm in zip(_MARKS, curves, strict=False):
        legend.append(f"{mark} {arm['name']}")
        for row in arm["rounds"]:
            line, place = grid[round(10 * row["success"])], _ROUND_WIDTH * row["round"] + 2
            while line[place] != " " and place + 1 < len(line):
                place += 1
            line[place] = mark
    lines = [f"{10 * tenth:5} ┤{''.join(grid[tenth]).rstrip()}" for tenth in range(10, -1, -1)]
    axis = "".join(f"{number:<{_ROUND_WIDTH}}" for number in range(rounds + 1))
    return [f"success in % by round: {', '.join(legend)}", *lines, f"{'round':>8} {axis}"]


def format_story(summary: Summary, *, is_untrained: bool = False) -> str:
    """Return in words for a newcomer what became of the agent by its own practice; empty where
    nothing was learned from that. `is_untrained`: without demonstrations its weights were random.
    """
    arms = {arm["name"]: arm["rounds"] for arm in summary["arms"]}
    rows = [row for row in summary.get("learning", ()) if row["arm"] == "self" and row["collected"]]
    if not rows or len(arms.get("self", ())) < 2:
        return ""

    def solved(row: RoundSummary) -> str:
        return f"{round(row['success'] * row['episodes'])} of {row['episodes']}"

    first, last = arms["self"][0], arms["self"][-1]
    shown = rows[-1]["demonstrations"]
    began = f"{shown:,} demonstrations" if shown else "no demonstration at all"
    tries = sum(row["collected"] for row in rows)
    story = (
        f"With {began} the agent solved {solved(first)} {name_seeds(summary)} tasks. It then tried"
        f" {tries:,} others by itself and learned from what succeeded,"
        f" {rows[0]['succeeded']:,} of {rows[0]['collected']:,} in the first round and"
        f" {rows[-1]['succeeded']:,} of {rows[-1]['collected']:,} in the last. Now it solves"
        f" {solved(last)}"
    )
    if control := arms.get("control"):
        story += f"; without that practice, {solved(control[-1])}"
    if shown or not is_untrained:
        return f"{story}."
    return (
        f"{story}. What is evaluated without practice is a network that was trained on nothing;"
        " practice itself begins with what the words of each goal suggest."
    )


def _print_sentences(console: Console, sentences: Iterable[str]) -> None:
    for sentence in sentences:
        console.print(f"• {sentence}")


Lines: TypeAlias = tuple[Sequence[str], list[Sequence[str]]]
"""The head of a table and its rows."""


def _list_rounds(summary: Summary) -> Lines:
    """Return a row for each arm and round."""
    rule, columns = find_lenient_rule(summary), find_step_columns(summary)
    lenient = (f"{rule} %",) if rule else ()
    head = ("arm", "round", "success %", "95 %", *lenient, "episodes", *columns.values())
    rows: list[Sequence[str]] = []
    for arm in summary["arms"]:
        for row in arm["rounds"]:
            cells = (
                arm["name"],
                str(row["round"]),
                format_hundredths(row["success"]),
                format_interval(row),
                *format_lenient(row, rule),
                f"{row['episodes']:,}",
                *(f"{row[name]:,.0f}" for name in columns),
            )
            rows.append(cells)
    return head, rows


def _list_tasks(summary: Summary) -> Lines:
    """Return a row for each task at the last round, one of those without demonstrations where some
    had none, and one of all; a single arm has its interval and the lenient rule beside its rate."""
    arms, rule = summary["arms"], find_lenient_rule(summary)
    is_alone = len(arms) == 1

    def format_cells(rates: Sequence[EpisodeRate | None]) -> Iterator[str]:
        for rate in rates:
            yield format_hundredths(rate["success"]) if rate else "–"
            if rate and is_alone:
                yield from (format_interval(rate), *format_lenient(rate, rule))
                yield f"{rate['episodes']:,}"

    names = [arm["name"] for arm in arms]
    if is_alone:
        names = ["success", "95 %", *[rule] * bool(rule), "n"]
    by_task = {task: [arm["by_task"].get(task) for arm in arms] for task in summary["tasks"]}
    rows = [(task, *format_cells(rates)) for task, rates in by_task.items() if any(rates)]
    withheld = [arm.get("withheld") for arm in arms]
    if any(withheld):
        rows.append((UNTAUGHT, *format_cells(withheld)))
    return ("task", *names), [*rows, ("all", *format_cells([arm["rounds"][-1] for arm in arms]))]


UNTAUGHT = "without demonstrations"
"""Names the row of the tasks that had none."""
