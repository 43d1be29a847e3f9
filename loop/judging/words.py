"""Figures of agreement and cost as they are told: cells, sentences, plain data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from evaluators.agreement import Agreement, Ceiling, Comparison
from evaluators.combine import Stage, Tally
from evaluators.statistics import Interval
from webagent.models.price import Prices

HEAD = ("evaluator", "episodes", "coverage", "precision", "recall", "F1", "false positives")
MORE_HEAD = ("evaluator", "accuracy", "kappa", "Brier", "ECE")
COST_HEAD = (
    *("evaluator", "asked", "decided", "abstained", "failed", "overruled"),
    *("seconds", "requests", "tokens", "money"),
)

_LONG = 26
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lettered(names: Iterable[str]) -> dict[str, str]:
    """What evaluators are called in tables: by their ids, and where one is long by a letter."""
    unlike = list(dict.fromkeys(names))
    if all(len(name) <= _LONG for name in unlike):
        return {name: name for name in unlike}
    return {name: f"{_LETTERS[n % 26]}{n // 26 or ''}" for n, name in enumerate(unlike)}


def cells(name: str, found: Agreement) -> tuple[str, ...]:
    """A row of the table of agreement."""
    rates = ("precision", "recall", "f1", "false_positive_rate")
    return (
        name,
        str(found.episodes),
        share(found.coverage),
        *(share(found.measures[each]) for each in rates),
    )


def more_cells(name: str, found: Agreement) -> tuple[str, ...]:
    """A row of the table of what is left: how much of it chance gives, and calibration."""
    known = found.calibration
    graded = (known.brier, known.ece) if known else (None, None)
    kappa = number(found.measures["kappa"])
    return (name, share(found.measures["accuracy"]), kappa, *map(number, graded))


def cost_rows(tally: Tally, prices: Prices, called: Mapping[str, str]) -> list[tuple[str, ...]]:
    """A row for each member."""
    return [(called[stage.name], *_cost_cells(stage, prices)) for stage in tally.stages]


def cost_sentences(name: str, tally: Tally, prices: Prices, called: Mapping[str, str]) -> list[str]:
    """What an episode cost, how many came to the dear one, how members agree."""
    if not tally.episodes:
        return []
    seconds = sum(stage.seconds for stage in tally.stages) / tally.episodes
    tokens = sum(stage.tokens for stage in tally.stages) / tally.episodes
    asked = sum(stage.requests for stage in tally.stages)
    money = tally.money(prices)
    known = f", {money / tally.episodes:.3g} in money" if asked and money is not None else ""
    members = [called[stage.name] for stage in tally.stages]
    said = [f"{name}: {seconds:.3g} s, {tokens:,.0f} tokens{known} an episode"]
    if len(tally.stages) > 1:
        said.append(
            f"{name}: {100 * (tally.reached_last or 0):.1f} % of {tally.episodes} episodes came to"
            f" {members[-1]}"
        )
    for (one, other), (both, same) in sorted(tally.together.items()):
        pair = f"{members[one]} and {members[other]}"
        said.append(f"{pair} say the same on {same} of the {both} episodes that both decide")
    return said


def bounds(name: str, found: Agreement) -> str:
    """What abstentions could make of the figures; empty where there are none."""
    silent = sum(found.abstained)
    if not silent:
        return ""
    low, high = found.as_failure, found.as_success
    return (
        f"{name} abstains on {silent} ({found.abstained[0]} successes, {found.abstained[1]}"
        f" failures); as failures: precision {share(low['precision'])}, recall"
        f" {share(low['recall'])}; as successes: precision {share(high['precision'])}, recall"
        f" {share(high['recall'])}"
    )


def among_people(found: Ceiling) -> str:
    """How far annotators agree; empty where no two labelled the same episode."""
    if not found.pairs:
        return ""
    unsure = f", {found.unsure} more unsure" if found.unsure else ""
    return (
        f"people agree with each other on {share(found.agreement)} of {found.pairs} pairs of labels"
        f"{unsure}, kappa {number(found.kappa)}"
    )


def beside(first: str, second: str, found: Comparison) -> str:
    """Two evaluators on the same episodes."""
    told = ", ".join(
        f"{name.replace('_', ' ')} {signed(found.differences[name])}"
        for name in ("precision", "recall", "f1")
    )
    return (
        f"{first} less {second} on {found.episodes} episodes that both decide: {told}; only the"
        f" first is right on {found.only_first_right}, only the second on"
        f" {found.only_second_right}"
    )


def share(found: Interval | None) -> str:
    """In per cent with its interval."""
    if found is None:
        return "–"
    return f"{100 * found.value:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def number(found: Interval | None) -> str:
    """As it is, with its interval."""
    return "–" if found is None else f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def signed(found: Interval | None) -> str:
    """A difference in points with its interval."""
    if found is None:
        return "–"
    return f"{100 * found.value:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"


def plain(value: Any) -> Any:
    """Records as JSON values."""
    if isinstance(value, Interval):
        return value._asdict()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(each) for each in value]
    return value


def _cost_cells(stage: Stage, prices: Prices) -> tuple[str, ...]:
    money = stage.money(prices) if stage.requests else None
    return (
        *(str(count) for count in (stage.asked, stage.decided, stage.abstained)),
        *(str(count) for count in (stage.failed, stage.overruled)),
        f"{stage.seconds:.1f}",
        str(stage.requests),
        f"{stage.tokens:,}",
        "–" if money is None else f"{money:.4g}",
    )
