"""How often memory would do what was demonstrated, and how long it takes to say so.

    python perf/recall.py RUN [--demonstrations 3] [--prior] [--without name …] [--errors 20]
    python perf/recall.py RUN --ablate [--json FILE]
    python perf/recall.py RUN --latency

Memory is made of the run's first successful demonstrations on training seeds, so many a task. The
other successful demonstrations are gone through step by step, memory being asked at every step of
the demonstrator's way; where there are none, each remembered episode in turn, left out.
"""

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluators.statistics import wilson
from tasks.suite import split_of
from webagent.action import Action, format_action
from webagent.memory import Memory, Proposal
from webagent.memory.explain import explain
from webagent.memory.memory import same_value
from webagent.memory.scene import MARKS, arguments
from webagent.records import Observation, Trajectory
from webagent.store import Store

FAMILIES: dict[str, tuple[str, ...]] = {
    "named": ("name", "part"),
    "named in the goal": ("wanted",),
    "holds a value": ("state",),
    "beside a value or label": ("row", "rows", "after", "before"),
    "behind a label of the goal": ("labelled",),
    "after each place of a value": ("each",),
    "by place": ("nth", "untried"),
    "first of a list": ("extreme", "cell of", "only"),
    "count": ("count",),
    "text beside": ("beside", "line"),
    "on an earlier page": ("earlier",),
    "composed": ("compose",),
}
"""Heads of descriptors that are left out in turn by --ablate, by what they say."""
SIZES = (1_000, 100_000)
"""Cases in memory whose latency is measured."""


def main() -> None:
    """Print accuracy, or latency."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("run", type=Path)
    parser.add_argument("--demonstrations", type=int, default=3)
    parser.add_argument("--prior", action="store_true", help="without what the scorer learnt")
    parser.add_argument("--without", nargs="+", default=(), help="leave out these descriptors")
    parser.add_argument("--ablate", action="store_true", help="leave out each family in turn")
    parser.add_argument("--json", type=Path, help="file for the rows of --ablate")
    parser.add_argument("--errors", type=int, default=0, help="explain so many errors")
    parser.add_argument("--latency", action="store_true")
    options = parser.parse_args()
    shown, held_out = _episodes(options.run, options.demonstrations)
    if not shown:
        parser.error(f"{options.run} has no successful demonstration on a training seed")
    memory = Memory()
    memory.remember_all(shown)
    if options.ablate:
        rows = list(_ablate(memory, shown, held_out or shown))
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        return
    if options.without:
        _leave_out(memory, options.without)
    if not options.prior:
        memory.learn(shown)
    if options.latency:
        for size in SIZES:
            print(_latency(_grown(memory, size), held_out or shown))
    else:
        _print_accuracy(memory, held_out or shown, options.errors)


def _episodes(run: Path, count: int) -> tuple[list[Trajectory], list[Trajectory]]:
    """Successful demonstrations: the first of each task on training seeds, and the others."""
    shown: dict[str, list[Trajectory]] = defaultdict(list)
    others = []
    with Store.look(run) as store:
        scores = store.scores(phase="demonstrate")
        for episode in store.trajectories(phase="demonstrate"):
            values = [s.value for s in scores.get(episode.id, ()) if s.name == "success"]
            if not any(values):
                continue
            same = shown[episode.task.name]
            if split_of(episode.task.seed) == "train" and len(same) < count:
                same.append(episode)
            else:
                others.append(episode)
    return [episode for same in shown.values() for episode in same], others


def _ablate(
    memory: Memory, shown: Sequence[Trajectory], held_out: Sequence[Trajectory]
) -> Iterator[dict[str, Any]]:
    """Print and return for each family of descriptors how many episodes are right throughout
    without it, all else learnt again."""
    cases = memory.index.cases
    for family, heads in {"": (), **FAMILIES}.items():
        smaller = Memory(episodes=memory.episodes, reader=memory.reader)
        for case in cases:
            smaller.index.add(case)
        _leave_out(smaller, heads)
        smaller.learn(shown)
        whole = steps = count = 0
        for episode in held_out:
            pairs = zip(_asked(smaller, episode), episode.steps, strict=True)
            right = [
                found is not None and _is_same(found, step.decision.action, step.observation)
                for (_, found, _), step in pairs
            ]
            whole, steps, count = whole + all(right), steps + sum(right), count + len(right)
        low, high = wilson(whole, len(held_out))
        row = {"without": family, "steps": steps / count, "episodes": whole / len(held_out)}
        yield {**row, "low": low, "high": high, "count": len(held_out)}
        print(
            f"{f'without {family}' if family else 'all':40} steps {steps / count:.1%}, whole"
            f" episodes {whole} of {len(held_out)} ({low:.1%} to {high:.1%})",
            flush=True,
        )


def _leave_out(memory: Memory, heads: Sequence[str]) -> None:
    """Take families of descriptors from every case: what they are worth shows in what is lost."""
    cases, memory.index = memory.index.cases, type(memory.index)()
    for case in cases:
        kept = tuple(
            (name, frozenset(d for d in held if str(d[0]) not in heads))
            for name, held in case.arguments
        )
        memory.index.add(replace(case, arguments=kept))


def _asked(memory: Memory, episode: Trajectory) -> Iterator[tuple[int, Proposal | None, float]]:
    """For each step what memory would do, and the seconds of processor it took to say it."""
    for i, step in enumerate(episode.steps):
        began = time.process_time()
        found = memory.propose(step.observation, episode.steps[:i], without=episode.id)
        yield i, found[0] if found else None, time.process_time() - began


def _print_accuracy(memory: Memory, episodes: Sequence[Trajectory], errors: int) -> None:
    right, whole, told = Counter[str](), 0, 0
    sure: list[tuple[float, bool]] = []
    for episode in episodes:
        is_whole = True
        for i, proposal, _ in _asked(memory, episode):
            step = episode.steps[i]
            wanted = step.decision.action
            is_right = proposal is not None and _is_same(proposal, wanted, step.observation)
            name = format_action(wanted).partition("(")[0]
            right[f"{name} asked"] += 1
            right[name] += is_right
            is_whole &= is_right
            sure.append((proposal.confidence if proposal else 0.0, is_right))
            if not is_right and told < errors:
                told += 1
                print(f"\n{episode.task.name}, step {i + 1}: {episode.goal}")
                print(f"  demonstrated: {format_action(wanted)[:120]}")
                scene = memory.scene(step.observation, episode.steps[:i])
                print(
                    "\n".join(f"  {line}" for line in explain(proposal, scene)) if proposal else ""
                )
        whole += is_whole
    asked = len(sure)
    correct = sum(is_right for _, is_right in sure)
    print(f"{len(memory)} cases; steps {correct} of {asked} ({correct / asked:.1%}),", end=" ")
    print(f"whole episodes {whole} of {len(episodes)} ({whole / len(episodes):.1%})")
    for name in sorted(name for name in right if not name.endswith(" asked")):
        print(f"  {name}: {right[name]} of {right[f'{name} asked']}")
    for bound in (0.5, 0.8, 0.95):
        above = [is_right for confidence, is_right in sure if confidence >= bound]
        if above:
            print(f"  at least {bound:.0%} sure: {len(above)}, right {sum(above) / len(above):.1%}")


def _is_same(proposal: Proposal, wanted: Action, page: Observation) -> bool:
    """Whether it is the demonstrated action, or one on an element of the same role and name."""
    if type(proposal.action) is not type(wanted):
        return False
    pairs = zip(arguments(proposal.action), arguments(wanted), strict=True)
    for (name, a), (_, b) in pairs:
        if name in MARKS and a != b:
            x, y = page.node(a), page.node(b)
            if not x or not y or not x.name or (x.role, x.name) != (y.role, y.name):
                return False
        elif name not in MARKS and not same_value(a, b):
            return False
    return True


def _grown(memory: Memory, size: int) -> Memory:
    """A memory of so many cases: the same again as other episodes' until there are enough."""
    grown = Memory(relevance=memory.relevance, scorers=memory.scorers)
    cases = memory.index.cases
    for i in range(size):
        case = cases[i % len(cases)]
        grown.index.add(replace(case, episode=f"{case.episode}/{i // len(cases)}"))
    return grown


def _latency(memory: Memory, episodes: Sequence[Trajectory]) -> str:
    times = sorted(t for episode in episodes for _, _, t in _asked(memory, episode))
    middle, late = (1000 * times[int(len(times) * part)] for part in (0.5, 0.95))
    return f"{len(memory)} cases: p50 {middle:.1f} ms, p95 {late:.1f} ms of {len(times)} decisions"


if __name__ == "__main__":
    main()
