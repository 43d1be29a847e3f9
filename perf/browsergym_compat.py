"""Whether an agent written for BrowserGym plays the same here: same pages, goals and rewards.

    python perf/browsergym_compat.py --browsergym PYTHON [--json] [--seeds 2] [--tasks NAME ...]

The agent (`browsergym_agent.py`) runs under that Python, which has `browsergym-miniwob`, and reads
pages with BrowserGym's own functions. There it plays in BrowserGym; here it is sent the dictionary
of our compatible environment. Without `--browsergym` nothing can be compared, and that is said.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
from rows import options

import apps.environment
from benchmarks.miniwob import tasks as miniwob
from webagent.browser import find_chromium

AGENT = Path(__file__).with_name("browsergym_agent.py")
MOST_STEPS = 4


def theirs(python: str, tasks: list[str], seeds: int) -> dict[tuple[str, int], tuple[str, float]]:
    """Goal and raw reward by task and seed, as BrowserGym gives them."""
    command = [python, str(AGENT), "play", f"--pages={miniwob.pages().as_uri()}/"]
    command += [f"--chromium={find_chromium().path}", f"--seeds={seeds}", "--tasks", *tasks]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    if done.returncode:
        raise SystemExit(f"BrowserGym failed:\n{done.stderr[-2000:]}")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return {(task, seed): (goal, raw) for task, seed, goal, _, raw, _ in rows}


@contextmanager
def agent(python: str) -> Iterator[subprocess.Popen[str]]:
    """The agent under the other Python, which answers a dictionary with calls."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([python, str(AGENT), "serve"], **pipes) as process:  # type: ignore[call-overload]
        yield process
        process.stdin.close()


def ask(process: subprocess.Popen[str], seen: dict[str, Any]) -> str:
    """The agent's calls for this dictionary."""
    plain = {key: value for key, value in seen.items() if not hasattr(value, "tolist")}
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(plain) + "\n")
    process.stdin.flush()
    return str(json.loads(process.stdout.readline()))


def ours(python: str, tasks: list[str], seeds: int) -> dict[tuple[str, int], tuple[str, float]]:
    """The same from our environment, asking the same agent."""
    gymnasium.register_envs(apps.environment)
    found = {}
    with agent(python) as process:
        for task in tasks:
            environment = gymnasium.make(f"webagent/browsergym.miniwob.{task}-v1")
            for seed in range(seeds):
                seen, info = environment.reset(seed=seed)
                over, steps = False, 0
                while not over and steps < MOST_STEPS:
                    seen, _, over, _, info = environment.step(ask(process, seen))
                    steps += 1
                raw = info["task_info"].get("RAW_REWARD_GLOBAL", 0)
                found[task, seed] = (seen["goal"], raw)
            environment.close()
    return found


def main() -> None:
    """Play on both sides and print what differs."""
    parser = options(__doc__)
    parser.add_argument("--browsergym", metavar="PYTHON", help="a Python with browsergym-miniwob")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--tasks", nargs="*")
    chosen = parser.parse_args()
    if not chosen.browsergym:
        raise SystemExit("nothing to compare with: name a Python that has it with --browsergym")
    from browsergym_agent import TASKS

    tasks = chosen.tasks or list(TASKS)
    here = ours(chosen.browsergym, tasks, chosen.seeds)
    there = theirs(chosen.browsergym, tasks, chosen.seeds)
    rows = [
        {"task": task, "seed": seed, "ours": here[task, seed], "theirs": there[task, seed]}
        for task, seed in here
    ]
    same = [row for row in rows if row["ours"] == row["theirs"]]
    solved = [row for row in same if row["ours"][1] == 1]
    if chosen.json:
        print(json.dumps({"episodes": len(rows), "same": len(same), "rows": rows}))
        return
    for row in rows:
        if row not in same:
            print(f"{row['task']} seed {row['seed']}: ours {row['ours']}, theirs {row['theirs']}")
    print(f"{len(same)} of {len(rows)} the same goal and raw reward; {len(solved)} solved on both")


if __name__ == "__main__":
    main()
