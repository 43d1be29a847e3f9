"""Differences put into sentences that claim no more than their intervals show."""

import math

from loop.folder import Origin
from loop.summary.baselines import BaselineRow
from loop.summary.drift import DriftRow
from loop.summary.macro import MacroRow
from loop.summary.shape import ArmRow, Comparison, Rate, RoundRow, Summary
from loop.summary.spent import Amount, Asked, SpentRow

MINUS = "−"


def points(value: float, *, signed: bool = False) -> str:
    """A difference of rates in percentage points, with one decimal and a real minus sign."""
    rounded = round(100 * value, 1) or 0.0
    sign = MINUS if rounded < 0 else "+" if signed and rounded > 0 else ""
    return f"{sign}{abs(rounded):.1f}"


def percent(rate: float) -> str:
    """A rate with one decimal."""
    return f"{100 * rate:.1f} %"


def hundredths(rate: float) -> str:
    """A rate in hundredths, with one decimal, for columns whose head says so."""
    return f"{100 * rate:.1f}"


def interval(rate: Rate) -> str:
    """The 95 % interval of a rate, in hundredths."""
    return f"{hundredths(rate['low'])}–{hundredths(rate['high'])}"


def lenient_rule(summary: Summary) -> str:
    """The name of a rule that passes more than success does; empty where there is none."""
    return "raw > 0" if summary["benchmark"].startswith("miniwob@") else ""


def lenient_cells(rate: Rate, rule: str) -> tuple[str, ...]:
    """The rate of the lenient rule in hundredths, where there is one."""
    return (hundredths(rate["raw_positive"]),) if rule else ()


def costs(row: RoundRow) -> tuple[str, ...]:
    """What stands last in a row of a table: the episodes, real and imagined steps behind it."""
    return (
        f"{row['episodes']:,}",
        f"{row['real_steps']:,.0f}",
        f"{row['imagined_steps']:,.0f}",
    )


SPENT_HEAD = ("", "tokens read", "tokens written", "seconds deciding", "of pages", "money")


def spent_cells(row: SpentRow) -> list[tuple[str, ...]]:
    """What a step, an episode and the run cost, a line each under `SPENT_HEAD`."""
    lines = (
        ("a step", row["per_step"]),
        ("an episode", row["per_episode"]),
        ("the run", row["run"]),
    )
    return [(name, *_amount(cost, row)) for name, cost in lines if cost is not None]


def _amount(cost: Amount, row: SpentRow) -> tuple[str, ...]:
    return (
        _count(cost["input_tokens"], row),
        _count(cost["output_tokens"], row),
        f"{cost['seconds']:,.2f}",
        f"{cost['world_seconds']:,.2f}",
        _money(cost["money"], row),
    )


def _count(tokens: float | None, row: SpentRow) -> str:
    if tokens is None:
        return "unknown" if row["asked"] else "–"
    return f"{tokens:,.0f}"


def _money(money: float | None, row: SpentRow) -> str:
    """Never 0 for what is not known."""
    if money is not None:
        return f"{_amount_of(money)} {row['currency']}"
    is_paid = any(asked["price"] != "own weights" for asked in row["asked"])
    return "unknown" if is_paid else "–"


def _amount_of(money: float) -> str:
    """With two decimals, and with as many more as small sums need to be told from nothing."""
    places = 2 if not 0 < money < 1 else max(2, 1 - math.floor(math.log10(money)))
    return f"{money:,.{places}f}"


def macro_told(row: MacroRow) -> str:
    """The average over templates, in a sentence."""
    low, high = percent(row["low"]), percent(row["high"])
    return (
        f"{row['arm']}: {percent(row['success'])} on average over {row['templates']:,} templates,"
        f" each counted once (95 % interval {low} to {high})"
    )


BASELINE_HEAD = ("what takes no skill", "success %", "95 %", "episodes", "the policy there %")


def baseline_cells(row: BaselineRow) -> tuple[str, ...]:
    """A line under `BASELINE_HEAD`."""
    return (
        row["name"],
        hundredths(row["success"]),
        f"{hundredths(row['low'])}–{hundredths(row['high'])}",
        f"{row['episodes']:,}",
        "–" if row["policy"] is None else hundredths(row["policy"]),
    )


DRIFT_HEAD = (
    *("arm", "round", "true %", "believed %", "frozen judge %", "believed − true", "95 %"),
    *("kept", "wrongly %", "95 %", "episodes"),
)


def drift_cells(row: DriftRow) -> tuple[str, ...]:
    """A line under `DRIFT_HEAD`."""
    return (
        row["arm"],
        str(row["round"]),
        hundredths(row["true"]),
        hundredths(row["believed"]),
        hundredths(row["frozen"]),
        points(row["gap"], signed=True),
        f"{points(row['low'])} to {points(row['high'])}",
        f"{row['kept']:,}",
        hundredths(row["wrong"]) if row["kept"] else "–",
        f"{hundredths(row['wrong_low'])}–{hundredths(row['wrong_high'])}" if row["kept"] else "–",
        f"{row['episodes']:,}",
    )


def asked_of(row: SpentRow) -> list[str]:
    """A sentence for each model that was asked, on what is known of its price."""
    return [_asked(asked) for asked in row["asked"]]


def _asked(asked: Asked) -> str:
    said = f"{asked['model']} as {asked['role']}: {asked['requests']:,} requests"
    said += f", {asked['failed']:,} calls failed" * bool(asked["failed"])
    said += f", {asked['uncounted']:,} calls without a count of tokens" * bool(asked["uncounted"])
    if asked["price"] == "known":
        source = ", ".join(filter(None, (asked["price_source"], asked["price_date"])))
        return f"{said}, at {asked['currency']} prices" + f" ({source})" * bool(source)
    return f"{said}; {'own weights' if asked['price'] == 'own weights' else 'price unknown'}"


def shows_difference(comparison: Comparison) -> bool:
    """Whether the interval, as it is written with one decimal, leaves zero out."""
    return round(100 * comparison["low"], 1) > 0 or round(100 * comparison["high"], 1) < 0


def compared(comparison: Comparison) -> str:
    """One sentence on one comparison."""
    a, b, value = comparison["a"], comparison["b"], comparison["difference"]
    interval = f"95 % interval {points(comparison['low'])} to {points(comparison['high'])}"
    if shows_difference(comparison):
        side = "above" if value > 0 else "below"
        return f"{a} is {points(abs(value))} points {side} {b} ({interval})"
    return f"no difference between {a} and {b} is shown ({points(value, signed=True)}, {interval})"


def compared_here(comparison: Comparison) -> str:
    """The same question asked of these very tasks only."""
    low, high = points(comparison["these_low"]), points(comparison["these_high"])
    return f"on these tasks alone {low} to {high}"


def headline_arm(summary: Summary) -> ArmRow:
    """The arm the first sentence is about: `self` where it was measured, else the last one."""
    known = {arm["name"]: arm for arm in summary["arms"]}
    return known.get("self", summary["arms"][-1])


def kind_of_seeds(summary: Summary) -> str:
    """What the seeds may be called: those of other splits than `test` are not held out."""
    return "held-out" if summary["split"] == "test" else summary["split"]


def headline(summary: Summary) -> str:
    """What the run shows, in one sentence."""
    if not summary["arms"]:
        return "Nothing has been measured yet."
    arm = headline_arm(summary)
    last = arm["rounds"][-1]
    success, count = percent(last["success"]), f"{last['episodes']:,}"
    found = {(row["a"], row["b"]): row for row in summary["comparisons"]}
    against = found.get(("self", "control")) or found.get(("self", "none"))
    if against is not None:
        claim = compared(against)
    else:
        claim = f"95 % interval {percent(last['low'])} to {percent(last['high'])}"
    episodes = f"{count} {kind_of_seeds(summary)} episodes"
    return f"{arm['name']} succeeds in {success} of {episodes}; {claim}."


def sources(summary: Summary) -> list[str]:
    """The commits a run was made with, as it was begun and as it was gone on with."""
    begun = _source(summary["commit"], is_modified=summary["modified"])
    return [begun, *(_continued(summary, origin) for origin in summary["continued"])]


def _continued(summary: Summary, origin: Origin) -> str:
    others = {
        f"{name} {version or '–'}"
        for name, version in origin["versions"].items()
        if version != summary["versions"].get(name)
    }
    source = _source(origin["commit"], is_modified=origin["modified"])
    return f"{source} ({', '.join(sorted(others))})" if others else source


def _source(commit: str, *, is_modified: bool) -> str:
    changed = " with changes that were not committed" if is_modified else ""
    return (commit[:12] or "none (not from a git tree)") + changed
