"""Evaluators of a run held against a label file: the figures, the tables, the file they go to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evaluators.agreement import (
    Agreement,
    Ceiling,
    Comparison,
    Pair,
    Truths,
    agreement,
    by_group,
    ceiling,
    compare,
    paired,
    truths,
)
from evaluators.combine import Tally
from evaluators.labels import Label
from loop.judging.words import (
    COST_HEAD,
    HEAD,
    MORE_HEAD,
    among_people,
    beside,
    bounds,
    cells,
    cost_rows,
    cost_sentences,
    more_cells,
    number,
    plain,
    share,
)
from webagent.errors import SetupError
from webagent.models.price import Prices

GROUPS = ("benchmark", "agent", "task")


@dataclass(frozen=True, slots=True)
class Held:
    """What came of holding evaluators against labels."""

    rule: str
    truth: Truths
    people: Ceiling
    pairs: Mapping[str, Sequence[Pair]]
    """By evaluator."""
    figures: Mapping[str, Agreement]
    compared: Mapping[tuple[str, str], Comparison]


def hold(
    labels: Sequence[Label], values: Mapping[str, Mapping[str, float | None]], rule: str
) -> Held:
    """The figures of every evaluator. Raises `SetupError` where no labelled episode was judged."""
    truth = truths(labels, rule)
    pairs = {name: paired(theirs, truth) for name, theirs in values.items()}
    pairs = {name: theirs for name, theirs in pairs.items() if theirs}
    if not pairs:
        raise SetupError(
            f"none of the {len(truth.values)} labelled episodes has been judged; name evaluators"
            " with --with"
        )
    return Held(
        rule,
        truth,
        ceiling(labels),
        pairs,
        {name: agreement(theirs) for name, theirs in pairs.items()},
        {(a, b): compare(pairs[a], pairs[b]) for a, b in combinations(pairs, 2)},
    )


def as_json(held: Held, labels: Path, ignored: int) -> dict[str, Any]:
    """Everything, with the figures of each benchmark, agent and task."""
    truth = held.truth
    return {
        "labels": str(labels),
        "several_annotators": held.rule,
        "labelled": len(truth.values),
        "successes": sum(truth.values.values()),
        "disputed": list(truth.disputed),
        "unsure": list(truth.unsure),
        "ignored_labels": ignored,
        "people": plain(held.people),
        "evaluators": {
            name: {
                **plain(found),
                "groups": {group: plain(by_group(held.pairs[name], group)) for group in GROUPS},
            }
            for name, found in held.figures.items()
        },
        "compared": [
            {"first": a, "second": b, **plain(found)} for (a, b), found in held.compared.items()
        ],
    }


def print_held(held: Held, console: Console, called: Mapping[str, str]) -> None:
    """The table, the bounds of those that abstain, people among themselves, evaluators in pairs."""
    truth = held.truth
    left_out = f"{len(truth.disputed)} disputed and {len(truth.unsure)} unsure ones left out"
    successes = sum(truth.values.values())
    first = f"{len(truth.values)} labelled episodes, {successes} successes; {left_out}"
    console.print(first, highlight=False)
    rows = [cells(called[name], found) for name, found in held.figures.items()]
    _print("agreement, in % with 95 % intervals", HEAD, rows, console)
    rows = [more_cells(called[name], found) for name, found in held.figures.items()]
    _print("and beyond", MORE_HEAD, rows, console)
    for group in GROUPS[:2]:
        rows = _group_rows(held, group, called)
        if len({row[1] for row in rows}) > 1:
            head = ("evaluator", group, *HEAD[1:])
            _print(f"by {group}", head, rows, console)
    for sentence in _sentences(held, called):
        console.print(escape(f"• {sentence}"), highlight=False)
    for name, found in held.figures.items():
        _show_reliability(called[name], found, console)


def print_names(called: Mapping[str, str], console: Console) -> None:
    """Who stands behind which letter, where letters are used."""
    for name, letter in called.items():
        if letter != name:
            console.print(escape(f"{letter}: {name}"), highlight=False)


def print_costs(
    tallies: Mapping[str, Tally], prices: Prices, console: Console, called: Mapping[str, str]
) -> None:
    """What each evaluator and each of its members was asked, said and cost, over all sessions."""
    for name, tally in tallies.items():
        if tally.episodes:
            rows = cost_rows(tally, prices, called)
            _print(f"asked of {called[name]}", COST_HEAD, rows, console)
            for sentence in cost_sentences(called[name], tally, prices, called):
                console.print(escape(f"• {sentence}"), highlight=False)


def _group_rows(held: Held, group: str, called: Mapping[str, str]) -> list[tuple[str, ...]]:
    return [
        (called[name], *cells(member, found))
        for name, theirs in held.pairs.items()
        for member, found in by_group(theirs, group).items()
    ]


def _sentences(held: Held, called: Mapping[str, str]) -> list[str]:
    said = [bounds(called[name], found) for name, found in held.figures.items()]
    said += [beside(called[a], called[b], found) for (a, b), found in held.compared.items()]
    said.append(among_people(held.people))
    return [sentence for sentence in said if sentence]


def _show_reliability(name: str, found: Agreement, console: Console) -> None:
    """How far values can be taken at their word; not for evaluators that say only yes or no."""
    bins = found.calibration.bins if found.calibration else ()
    if all(each.said in (0.0, 1.0) for each in bins):
        return
    rows = [
        (
            f"{each.low:.1f}–{each.high:.1f}",
            str(each.count),
            f"{100 * each.said:.1f}",
            share(each.true),
        )
        for each in bins
    ]
    title = f"what {name} says and what is so"
    _print(title, ("value", "episodes", "said %", "true %"), rows, console)
    if found.calibration:
        line = f"Brier {number(found.calibration.brier)}, ECE {number(found.calibration.ece)}"
        console.print(line, highlight=False)


def _print(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], console: Console
) -> None:
    table = Table(title=escape(title), box=None, title_justify="left")
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if place else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
