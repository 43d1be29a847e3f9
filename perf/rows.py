"""Rows of figures, ours beside theirs, as every script here prints them."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement, beside the other's where there is one."""

    name: str
    ours: float
    theirs: float | None
    ratio: float | None
    """How many times better ours is; above 1 favours us."""


def row(name: str, ours: float, theirs: float | None, *, more_is_better: bool) -> Row:
    """The row with its ratio, rounded for reading."""
    if theirs is None:
        return Row(name, round(ours, 2), None, None)
    ratio = ours / theirs if more_is_better else theirs / ours
    return Row(name, round(ours, 2), round(theirs, 2), round(ratio, 2))


def options(description: str | None) -> argparse.ArgumentParser:
    """A parser with the flag that all scripts have."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    return parser


def show(rows: Sequence[Row], *, as_json: bool) -> None:
    """Print a table, or JSON."""
    if as_json:
        print(json.dumps([asdict(one) for one in rows]))
        return
    for one in rows:
        beside = "" if one.theirs is None else f"{one.theirs:10.2f} {one.ratio:8.2f}x"
        print(f"{one.name:50s} {one.ours:10.2f} {beside}")
