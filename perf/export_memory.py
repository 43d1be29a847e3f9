"""How long an export of many steps takes, and how much memory, as their number grows.

    python perf/export_memory.py [--steps 10000 100000] [--pictures KILOBYTES] [--json]

Each size is written in a process of its own, so that its peak is its own. Pages have 60 lines; with
--pictures every step has a screenshot of that many kilobytes, none like another.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parent.parent
# perf.fakes is installed nowhere: this checkout must be found first.
sys.path.insert(0, str(ROOT))

from perf.fakes.played import run_folder  # noqa: E402
from perf.fakes.run import JUDGE, episode  # noqa: E402
from recipes import cli  # noqa: E402
from webagent.action.actions import Click  # noqa: E402
from webagent.records import Decision, Node, Provenance, Score, Trajectory  # noqa: E402
from webagent.store import Store  # noqa: E402

STEPS = 10
"""Of an episode."""


def fill(store: Store, steps: int, kilobytes: int) -> None:
    """Episodes of ten steps on pages of sixty lines, every third of them a failure."""
    for index in range(steps // STEPS):
        place = Provenance(arm="a", phase="collect", index=index)
        whole = longer(episode(place, "click-link", index, True), store, kilobytes)
        store.add(whole)
        store.score(whole.id, Score("success", float(index % 3 > 0), "as it is", JUDGE))


def longer(whole: Trajectory, store: Store, kilobytes: int) -> Trajectory:
    """The episode with ten steps, each on a page of its own."""
    first = whole.steps[0]
    made = []
    for number in range(STEPS):
        lines = tuple(
            Node(line, "button", f"line {line} of page {number} of {whole.id}", kind="button")
            for line in range(3, 63)
        )
        picture = store.images.add(_picture(kilobytes)) if kilobytes else ""
        page = replace(
            first.observation,
            nodes=(*first.observation.nodes[:2], *lines),
            screenshot=picture,
            title=f"page {number} of {whole.id}",
        )
        thought = f"On page {number} I see what there is to do and type it."
        action = Click(3 + number)
        decision = Decision(action, thought, usage={"input_tokens": 900})
        made.append(replace(first, observation=page, decision=decision))
    return replace(whole, steps=tuple(made))


def _picture(kilobytes: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + os.urandom(1024 * kilobytes)


def one(run: Path, to: str, out: Path) -> dict[str, float]:
    """Seconds, and the most memory above what the program itself takes, in MB."""
    with redirect_stdout(sys.stderr):
        cli.main(["export", str(run), "--to", to, "--out", str(out / "warm"), "--arms", "none"])
        before = resource.getrusage(resource.RUSAGE_SELF)
        started = time.perf_counter()
        cli.main(["export", str(run), "--to", to, "--out", str(out / "whole")])
        seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    size = sum(path.stat().st_size for path in (out / "whole").rglob("*") if path.is_file())
    return {
        "seconds": seconds,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "memory": (after.ru_maxrss - before.ru_maxrss) / 1024,
        "size": size / 1e6,
    }


def main() -> None:
    """A line for each size and reader."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--pictures", type=int, default=0)
    parser.add_argument("--to", nargs="*", default=["datasets", "trl"])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", type=Path, nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(one(asked.child[0], asked.to[0], asked.child[1])))
        return
    rows = []
    for steps in asked.steps:
        with tempfile.TemporaryDirectory() as place:
            run = run_folder(Path(place) / "run", images=bool(asked.pictures)).path
            with Store.open(run) as store:
                fill(store, steps, asked.pictures)
            for to in asked.to:
                child = [sys.executable, __file__, "--to", to, "--child", str(run)]
                done = subprocess.run(
                    [*child, str(Path(place) / to)], stdout=subprocess.PIPE, text=True, check=True
                )
                rows.append({"steps": steps, "to": to, **json.loads(done.stdout.splitlines()[-1])})
    if asked.json:
        print(json.dumps(rows))
        return
    print(f"{'steps':>8} {'to':<9} {'s':>7} {'CPU s':>7} {'MB more':>8} {'MB written':>10}")
    for row in rows:
        numbers = (row["seconds"], row["cpu"], row["memory"], row["size"])
        shown = " ".join(f"{n:>{w}.0f}" for n, w in zip(numbers, (7, 7, 8, 10), strict=True))
        print(f"{row['steps']:>8,} {row['to']:<9} {shown}")


if __name__ == "__main__":
    main()
