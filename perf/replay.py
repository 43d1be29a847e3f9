"""How well stored episodes are replayed on changed pages.

    python perf/replay.py [--episodes 200] [--each 3] [--first 0] [--concurrency 2] [--out FILE]

Oracles play tasks of MiniWoB++, Fossil and Oscar; what they did well is replayed by `ReplayPolicy`
on the same page, changed around the very elements that were acted on. Each element is numbered
before the page is changed, so that it is known afterwards which of them a replay acted on: one that
was not acted on in the recording at that point is a false action. What is recorded begins with seed
`--first` of each task: the rules of replaying were made on the first ones.
"""

import argparse
import asyncio
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.catalogue import Options, find_benchmark
from benchmarks.oracles import ORACLES, OraclePolicy
from benchmarks.rules import checks_hold
from benchmarks.sites.hosting import Hosting
from loop.proposers.verification import EpisodePlayer, PlannedPlay
from tasks.task import Task
from webagent.browser import Browser
from webagent.policy.replay import ReplayPolicy
from webagent.records import Ending, Trajectory

SCRIPT = Path(__file__).with_name("replay_truth.js").read_text(encoding="utf-8")
CHANGES = ("reorder", "rename", "classes", "wrap", "reword", "insert", "move", "remove")
WITHOUT_NAMES = tuple(each for each in CHANGES if each not in ("rename", "classes"))
"""For pages whose own scripts go by ids and classes at every click, as MiniWoB++'s do."""
JUDGE = checks_hold()
SHARES = {"miniwob": 0.6, "fossil": 0.18, "oscar": 0.22}


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one replay."""

    task: str
    seed: int
    change: str
    is_completed: bool
    holds: bool
    healed: int
    refusal: str
    false: int
    """Elements acted on that were not to be."""
    rules: tuple[str, ...] = ()


def tracked(task: Task, change: str = "none", targets: Sequence[str] = ()) -> Task:
    """The task on pages that note what is acted on, changed around these elements."""
    is_started = bool(task.hooks.start)
    plan = {"change": change, "targets": list(targets), "atOnce": not is_started}
    script = SCRIPT.replace("__PLAN__", json.dumps(plan))
    start = f"{task.hooks.start}; window.__truth.begin()" if is_started else ""
    hooks = replace(task.hooks, init=f"{task.hooks.init}\n{script}", start=start)
    evidence = {**task.evidence, "acted": "window.__truth ? window.__truth.acted : []"}
    return replace(task, hooks=hooks, evidence=evidence)


def chosen(episodes: int, first: int) -> list[Task]:
    """Tasks that oracles know, spread over the benchmarks, from their seed `first` on."""
    found: list[Task] = []
    for name, share in SHARES.items():
        suite = find_benchmark(name).load(Options())
        known = [each for each in suite.names if each in ORACLES and "infeasible" not in each]
        infeasible = suite.groups.get("infeasible", ())
        known = [each for each in known if each not in infeasible]
        wanted, place = round(episodes * share), 0
        while wanted and known:
            index = first + place // len(known)
            found.append(suite.task(known[place % len(known)], index, "train"))
            wanted, place = wanted - 1, place + 1
            if not suite.is_seeded and place == len(known):
                break
    return found


def false_actions(recorded: Sequence[str], played: Sequence[str]) -> int:
    """How many elements were acted on that are not among the recorded ones in their order."""
    longest = [[0] * (len(recorded) + 1) for _ in range(len(played) + 1)]
    for i, mine in enumerate(played):
        for j, its in enumerate(recorded):
            longest[i + 1][j + 1] = (
                longest[i][j] + 1
                if is_one(mine, its)
                else max(longest[i][j + 1], longest[i + 1][j])
            )
    return len(played) - longest[-1][-1]


def is_one(first: str, second: str) -> bool:
    """Whether two notes are of one element, or of one and what it directly stands in."""
    mine, its = first.split(" < "), second.split(" < ")
    return mine[0] in its or its[0] in mine


def plans(recordings: Sequence[Trajectory], each: int) -> list[tuple[Trajectory, Task, str]]:
    """What is replayed: each on some of the changes in turn."""
    found = []
    turn = 0
    for recording in recordings:
        acted = [each.split(" < ")[0] for each in acted_in(recording)]
        for _ in range(each):
            usable = CHANGES if not recording.task.hooks.start else WITHOUT_NAMES
            change = usable[turn % len(usable)]
            turn += 1
            targets = [random.Random(turn).choice(acted)] if change == "remove" else acted
            plain = next(t for t in PLAIN if (t.id, t.seed) == key(recording.task))
            found.append((recording, tracked(plain, change, targets), change))
    return found


PLAIN: list[Task] = []


def key(task: Task) -> tuple[str, int]:
    """What tells tasks apart."""
    return task.id, task.seed


def acted_in(episode: Trajectory) -> list[str]:
    """The elements that were acted on, in order."""
    acted = episode.evidence.get("acted")
    return [str(each) for each in acted] if isinstance(acted, list) else []


async def result_of(policy: ReplayPolicy, played: Trajectory, change: str) -> Result:
    """What came of a replay."""
    refusal = next((each.refusal for each in policy.accounts if each.refusal), "")
    ended = played.ending in (Ending.ANSWERED, Ending.TASK_OVER)
    score = await JUDGE(played)
    return Result(
        played.task.id,
        played.task.seed,
        change,
        ended and not refusal,
        score.value == 1.0,
        sum(each.is_healed for each in policy.accounts),
        refusal or ("" if ended else str(played.ending)),
        false_actions(acted_in(policy.recording), acted_in(played)),
        tuple(each.rule for each in policy.accounts if each.taken and each.rule),
    )


async def measure(tasks: Sequence[Task], each: int, concurrency: int) -> tuple[int, list[Result]]:
    """Record, replay and count."""
    PLAIN[:] = tasks
    async with Hosting(concurrency) as hosting, Browser() as browser:
        await hosting.prepare(PLAIN)
        open_world = hosting.worlds(partial(browser.world, logins=hosting.logins))
        stage = EpisodePlayer(open_world, concurrency=concurrency)
        shown = await stage.play([PlannedPlay(tracked(t), OraclePolicy()) for t in PLAIN], "record")
        good = [e for e in shown if e and (await JUDGE(e)).value == 1.0 and acted_in(e)]
        print(f"recorded {len(good)} of {len(PLAIN)}", flush=True)
        todo = plans(good, each)
        policies = [ReplayPolicy(recording) for recording, _, _ in todo]
        playing = [
            PlannedPlay(replace(task, max_steps=max(task.max_steps, len(p.recording.steps) + 1)), p)
            for (_, task, _), p in zip(todo, policies, strict=True)
        ]
        played = await stage.play(playing, "replay")
        results = [
            await result_of(policy, episode, change)
            for policy, episode, (_, _, change) in zip(policies, played, todo, strict=True)
            if episode is not None
        ]
    return len(good), results


def table(results: Sequence[Result]) -> str:
    """The shares by what was changed."""
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for each in results:
        kind = "MiniWoB++" if each.task.startswith("miniwob") else "sites"
        groups[kind, each.change].append(each)
    lines = [
        "| pages | what is different | replays | completed | of them healed | checks hold |"
        " refused | false actions |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (kind, change), found in sorted(groups.items()):
        lines.append(row(kind, change, found))
    lines.append(row("all", "", results))
    return "\n".join(lines)


def row(kind: str, change: str, found: Sequence[Result]) -> str:
    """One line of the table."""
    done = [each for each in found if each.is_completed]
    refused = sum(bool(each.refusal) for each in found)
    cells = (
        *(kind, change, len(found), share(len(done), len(found))),
        share(sum(bool(each.healed) for each in done), len(done)),
        share(sum(each.holds for each in done), len(done)),
        share(refused, len(found)),
        sum(each.false for each in found),
    )
    return f"| {' | '.join(map(str, cells))} |"


def share(part: int, whole: int) -> str:
    """So many, and in percent."""
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "0"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--each", type=int, default=3, help="changes for every episode")
    parser.add_argument("--first", type=int, default=0, help="seed that recording begins with")
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    tasks = chosen(asked.episodes, asked.first)
    count, results = asyncio.run(measure(tasks, asked.each, asked.concurrency))
    print(f"{count} recorded episodes, {len(results)} replays\n\n{table(results)}\n")
    reasons = Counter(shape(each.refusal) for each in results if each.refusal)
    for reason, number in reasons.most_common(12):
        print(f"{number:4} {reason}")
    print(Counter(rule for each in results for rule in each.rules).most_common())
    if asked.out:
        content: list[dict[str, Any]] = [asdict(each) for each in results]
        asked.out.write_text(json.dumps(content, indent=1), encoding="utf-8")


def shape(reason: str) -> str:
    """A reason without what is particular to it."""
    return re.sub(r'"[^"]*"|\'[^\']*\'|\d+', "…", reason)[:110]


if __name__ == "__main__":
    main()
