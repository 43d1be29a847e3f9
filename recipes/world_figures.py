"""`webagent world --measure`: how well memory and a model predict a run's pages."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loop.costs import format_spending
from loop.imagination import measure_run
from loop.origin import read_origin
from loop.world_models import WorldChoice, check_world
from tasks.task import Json
from webagent.errors import UsageError


@dataclass(frozen=True)
class MeasureChoice:
    """Which predictions are measured, and on which steps."""

    world: str = "map"
    """A model to evaluate in addition to memory, alone and behind it: `local:FOLDER`, weights of
    `webagent train --role world`; `endpoint:NAME`."""
    benchmark: str = ""
    """Name of the benchmark in the file. Default: the name of the run folder."""
    split: Literal["test", "development"] = "test"
    """Seeds to evaluate on. For `development`, training seeds alone are learned."""
    most: int = 0
    """Maximum number of steps to evaluate on, in whole episodes sampled at random; 0 for all."""
    at_once: int = 8
    """Predictions that are requested of a model at the same time."""


def measure(run: Path, file: Path, choice: MeasureChoice, argv: Sequence[str]) -> int:
    """Print the figures of memory on test seeds, put them into the file, and return how many there
    are. Raises `UsageError`, `SetupError` and `StoreError`."""
    if choice.at_once < 1:
        raise UsageError(f"--at-once {choice.at_once} must be 1 or more")
    name = choice.benchmark or run.name
    world = WorldChoice(choice.world, run)
    check_world(world)
    facts, rows, ledger = measure_run(run, name, world, choice.split, choice.most, choice.at_once)
    facts |= {"command": f"webagent world {' '.join(argv)}", "commit": read_origin()["commit"]}
    spent = [
        f"{one.requests:,} requests, {one.input_tokens:,} tokens read and {one.output_tokens:,}"
        f" written, {one.failed:,} without a reply"
        for one in ledger.entries.values()
    ]
    if spent:
        facts["spent"] = f"{world.name}: {'; '.join(spent)}"
    earlier = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(_join(earlier, facts, rows), indent=1), encoding="utf-8")
    print(f"{name}: {facts['transitions']} steps of {facts['episodes']} episodes on {choice.split}")
    print(f"seeds, after {facts['learnt_from']} others")
    for sentence in filter(None, (facts.get("spent"), format_spending(ledger))):
        print(sentence)
    models = list(dict.fromkeys(str(row["model"]) for row in rows))
    width = max(20, *(len(name) + 2 for name in models))
    print(f"{'':24}" + "".join(f"{name:>{width}}" for name in models))
    for figure in dict.fromkeys(str(row["figure"]) for row in rows):
        values = [row["value"] for row in rows if row["figure"] == figure]
        cells = "".join(f"{'-' if v is None else format(v, '.3f'):>{width}}" for v in values)
        print(f"{figure.replace('_', ' '):24}{cells}")
    return len(rows)


_SAME = ("benchmark", "split", "learnt_from", "transitions", "episodes", "failed")
"""Facts that two measurements share if they can stand in one table."""


def _join(
    earlier: dict[str, list[dict[str, Json]]],
    facts: dict[str, Json],
    rows: Sequence[dict[str, Json]],
) -> dict[str, list[dict[str, Json]]]:
    """Return a file's contents with a measurement in place of the earlier one of its benchmark.
    Rows of models that it did not measure are kept where they are of the same steps."""
    name, models = facts["benchmark"], {row["model"] for row in rows}
    before = [run for run in earlier.get("runs", ()) if run["benchmark"] == name]
    kept = [run for run in before if all(run.get(key) == facts.get(key) for key in _SAME)]
    runs = [run for run in earlier.get("runs", ()) if run["benchmark"] != name]
    others = [
        row
        for row in earlier.get("rows", ())
        if row["benchmark"] != name or (kept and row["model"] not in models)
    ]
    if kept:
        commands = [str(facts["command"]), *str(kept[0]["command"]).split("; ")]
        facts = {**facts, "command": "; ".join(dict.fromkeys(commands))}
        spent = [str(run["spent"]) for run in (facts, *kept) if run.get("spent")]
        if spent:
            facts["spent"] = "; ".join(dict.fromkeys(spent))
    return {"runs": [*runs, facts], "rows": [*others, *rows]}
