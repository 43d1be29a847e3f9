"""What search adds to a policy, beside best-of-k at as many calls of it: docs/results/search.json.

    python -m perf.search_table fossil runs/NAME/weights/none-0/0/policy --first-seed 50

Every step is a command of its own, whose run is kept and found again: the policy alone on training
seeds; on the tasks that it fails, search by the tasks' checks, then as many episodes with
exploration as cost the same calls of the policy; the same two with a learned P(success) in the
place of the checks, trained on the policy's episodes at the other tasks; and, on test seeds of the
searched tasks, the policy that remembers what either has found, without search. Success by the
checks is an oracle's: it says what the tree holds, not what an agent would have done with it.
"""

import argparse
import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from evaluators.statistics import wilson
from loop.folder import read_origin
from loop.judging.specification import EvaluatorBuilder, parse_evaluator
from recipes import benchmark, collect, memory, train_judge
from webagent.records import SEARCHED, Trajectory
from webagent.store import Store

EXPLORING = ("--temperature", "1.2", "--random-share", "0.1")


class Found(NamedTuple):
    """What an arm did on a task."""

    solved: bool
    calls: int
    """Of the policy."""
    steps: int
    """Real ones."""
    nodes: int = 0


class Table:
    """Plays one benchmark, command by command."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.runs: Path = options.runs
        self.name = f"search-{options.benchmark}-{options.first_seed}"
        """What the names of its runs begin with."""

    def play(self, name: str, *more: str) -> list[tuple[Trajectory, bool]]:
        """Collect episodes, unless that was done, and return them with their verdicts."""
        place = self.runs / name
        argv = [
            "--benchmark",
            self.options.benchmark,
            "--runs",
            str(self.runs),
            "--name",
            name,
            *more,
        ]
        argv += ["--split", "train", "--concurrency", str(self.options.concurrency)]
        if not (place / "result.json").exists():
            collect.main(["--resume", str(place)] if place.exists() else argv)
        with Store.look(place) as store:
            scores = store.scores(phase="collect")
            return [
                (each, any(s.name == "success" and (s.value or 0) >= 0.5 for s in scores[each.id]))
                for each in store.trajectories(phase="collect")
                if each.id in scores
            ]


def main(argv: Sequence[str] | None = None) -> None:
    """Play, count and write the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("benchmark")
    parser.add_argument("policy", help="folder of built-in weights")
    parser.add_argument("--tasks", nargs="*", default=["all"])
    parser.add_argument("--first-seed", type=int, default=50)
    parser.add_argument("--style", default="best-first")
    parser.add_argument("--nodes", type=int, default=15)
    parser.add_argument("--branch", type=int, default=4)
    parser.add_argument("--search-steps", type=int, default=60)
    parser.add_argument("--most", type=int, default=1000, help="failed tasks, evenly spread")
    parser.add_argument("--judge", type=Path, help="of webagent train-judge; trained if not there")
    parser.add_argument(
        "--test",
        type=int,
        default=0,
        help="test seeds of a task that the distilled"
        " policies play, from the same number on; 0 for none",
    )
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--out", type=Path, help="file that the figures are added to")
    options = parser.parse_args(argv)
    table = Table(options)
    rows = _measure(table)
    print(json.dumps(rows, indent=1))
    if options.out is not None:
        _publish(options, rows)


def _publish(options: argparse.Namespace, rows: Sequence[dict[str, Any]]) -> None:
    """Write the figures in place of those of the same benchmark, in the form that `webagent
    publish` makes a table of: an arm a line."""
    told = json.loads(options.out.read_text()) if options.out.exists() else {"runs": [], "rows": []}
    for name in ("runs", "rows"):
        told[name] = [each for each in told[name] if each["benchmark"] != options.benchmark]
    on_test = next((row["success"][3] for row in rows if "test seeds" in row["arm"]), 0)
    told["runs"].append(
        {
            "benchmark": options.benchmark,
            "told": f"{options.benchmark}: built-in policy from one demonstration a task; training"
            f" seed {options.first_seed}, one seed a task, one repeat. {rows[1]['success'][3]} of"
            " the tasks that the policy alone fails, evenly spread; at most"
            f" {options.nodes} states, {options.branch} actions in each and"
            f" {options.search_steps} real steps a tree. Values by the checks are an oracle's."
            f" Test seeds: {options.test} a task of the searched ones, {on_test} episodes",
            "command": f"python -m perf.search_table {options.benchmark} POLICY --first-seed"
            f" {options.first_seed} --most {options.most} --test {options.test}",
            "commit": read_origin()["commit"],
        }
    )
    for row in rows:
        for column, (value, low, high, _) in ((k, v) for k, v in row.items() if k != "arm"):
            figure = {"benchmark": options.benchmark, "figure": row["arm"], "model": column}
            told["rows"].append({**figure, "value": value, "low": low, "high": high})
    options.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _measure(table: Table) -> list[dict[str, Any]]:
    options = table.options
    name = table.name
    policy = ("--policy", f"model:{options.policy}")
    seed = ("--seeds", "1", "--first-seed", str(options.first_seed))
    alone = table.play(
        f"{name}-alone", "--tasks", *options.tasks, *policy, *seed, "--temperature", "0"
    )
    missed = [each for each in alone if not each[1]]
    missed = missed[:: -(-len(missed) // options.most)]
    failed = [episode.task.name for episode, _ in missed]
    rows = [{"arm": "policy alone, all tasks", **_sum([_found(*each) for each in alone])}]
    chosen = ("--tasks", *failed, *policy, *seed)
    tree = ("--search", options.style, "--nodes", str(options.nodes), "--branch")
    tree = (*tree, str(options.branch), "--search-steps", str(options.search_steps))
    searched = table.play(
        f"{name}-{options.style}", *chosen, *tree, "--value", "rules", "--temperature", "0"
    )
    found = [_found(*each) for each in searched]
    rows.append({"arm": f"{options.style}, value: the checks", **_sum(found)})
    k = _samples(found, missed)
    drawn = table.play(f"{name}-best-of-{k}", *chosen, *EXPLORING, "--samples", str(k))
    rows.append({"arm": f"best of {k}, value: the checks", **_sum(_first(drawn))})
    if options.judge is not None:
        rows += _learned(table, alone, chosen, tree, drawn, k)
    if options.test:
        rows += _distilled(table, failed, k)
    return rows


def _samples(found: Sequence[Found], failed: Sequence[tuple[Trajectory, bool]]) -> int:
    """Return how many episodes cost as many calls as the search did."""
    calls = sum(each.calls for each in found)
    return max(1, round(calls / sum(len(episode.steps) for episode, _ in failed)))


def _found(episode: Trajectory, solved: bool) -> Found:
    usage = [step.decision.usage for step in episode.steps]
    calls = sum(each.get("search_calls", 0) for each in usage)
    calls += sum(step.decision.source != "search" for step in episode.steps)
    steps = len(episode.steps) + sum(each.get(SEARCHED, 0) for each in usage)
    return Found(solved, calls, steps, sum(each.get("search_nodes", 0) for each in usage))


def _by_task(drawn: Iterable[tuple[Trajectory, bool]]) -> Iterable[list[tuple[Trajectory, bool]]]:
    groups: dict[str, list[tuple[Trajectory, bool]]] = defaultdict(list)
    for each in drawn:
        groups[each[0].task.name].append(each)
    return groups.values()


def _first(drawn: Iterable[tuple[Trajectory, bool]]) -> list[Found]:
    """Return what drawing until the first success has taken, for each task."""
    rows = []
    for group in _by_task(drawn):
        at = next((place for place, (_, solved) in enumerate(group) if solved), len(group) - 1)
        steps = sum(len(episode.steps) for episode, _ in group[: at + 1])
        rows.append(Found(group[at][1], steps, steps))
    return rows


Cell: TypeAlias = tuple[float | int, float | None, float | None, int]
"""A value, its interval, and of how many."""


def _sum(found: Sequence[Found]) -> dict[str, Cell]:
    solved, count = sum(each.solved for each in found), len(found)
    row: dict[str, Cell] = {"success": (solved / count, *wilson(solved, count), count)}
    for name in ("calls", "steps", "nodes"):
        row[name] = (sum(getattr(each, name) for each in found), None, None, count)
    for limit in (4, 8, 12) if any(each.nodes for each in found) else ():
        within = sum(each.solved and each.nodes <= limit for each in found)
        row[f"within {limit} nodes"] = (within / count, *wilson(within, count), count)
    return row


def _learned(
    table: Table,
    alone: Sequence[tuple[Trajectory, bool]],
    chosen: Sequence[str],
    tree: Sequence[str],
    drawn: Sequence[tuple[Trajectory, bool]],
    k: int,
) -> list[dict[str, Any]]:
    options, name = table.options, table.name
    if not options.judge.exists():
        known = {each.id: int(solved) for each, solved in alone if each.task.name not in chosen}
        labels = table.runs / f"{name}-labels.json"
        labels.write_text(json.dumps(known), encoding="utf-8")
        argv = ["--runs", str(table.runs / f"{name}-alone"), "--labels", str(labels)]
        argv += ["--out", str(options.judge)]
        argv += ["--acting-tokens", "20000", "--tokens", "60000"]
        train_judge.main(argv)
    judge = options.judge / "judge"
    value = ("--value", f"reward:{judge}", "--temperature", "0")
    searched = table.play(f"{name}-{options.style}-learned", *chosen, *tree, *value)
    found = [_found(*each) for each in searched]
    rows = [{"arm": f"{options.style}, value: P(success)", **_sum(found)}]
    told = EvaluatorBuilder().evaluator(parse_evaluator(f"chance:{judge}"))

    async def choose() -> list[Found]:
        best = []
        for group in _by_task(drawn):
            values = [(await told(episode)).value or 0.0 for episode, _ in group]
            steps = sum(len(episode.steps) for episode, _ in group)
            best.append(Found(group[values.index(max(values))][1], steps, steps))
        return best

    rows.append({"arm": f"best of {k}, value: P(success)", **_sum(asyncio.run(choose()))})
    return rows


def _distilled(table: Table, tasks: Sequence[str], k: int) -> list[dict[str, Any]]:
    """Measure the searched tasks on test seeds, without search, with the solutions remembered."""
    options, name = table.options, table.name
    weights = Path(options.policy)
    policies = {"policy alone": weights}
    for arm in (options.style, f"best-of-{k}"):
        out = table.runs / f"{name}-{arm}-remembered"
        argv = [str(table.runs / f"{name}-{arm}"), "--onto", str(weights), "--out", str(out)]
        if not out.exists():
            memory.main(argv)
        policies[f"remembers what {arm} found"] = out / weights.name
    rows = []
    for arm, place in policies.items():
        run = table.runs / f"{name}-test-{'-'.join(arm.split())}"
        argv = ["--benchmark", options.benchmark, "--runs", str(table.runs), "--name", run.name]
        argv += ["--tasks", *tasks, "--policy", f"model:{place}", "--seeds", str(options.test)]
        argv += ["--first-seed", str(options.first_seed)]
        argv += ["--no-baselines", "--pictures", "0", "--concurrency", str(options.concurrency)]
        if not (run / "summary.json").exists():
            benchmark.main(["--resume", str(run)] if run.exists() else argv)
        told = json.loads((run / "summary.json").read_text(encoding="utf-8"))
        row = told["arms"][0]["rounds"][-1]
        cell = (row["success"], row["low"], row["high"], row["episodes"])
        rows.append({"arm": f"{arm}, test seeds, no search", "success": cell})
    return rows


if __name__ == "__main__":
    main()
