"""BrowserGym's side of every measurement; run by a Python that has browsergym-miniwob.

Stands alone: that Python need not have this project. Prints one JSON object. BrowserGym's own
defaults stay as its registration sets them, but for the Chromium, which is ours, and where a figure
says so for the fixed sleep before each observation.
"""

import argparse
import contextlib
import ctypes
import json
import os
import re
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MEASUREMENTS = ("steps", "large", "frames", "memory", "throughput", "many")
_PR_SET_CHILD_SUBREAPER = 36
TASKS = ("click-test-2", "enter-text", "login-user")


def use_chromium(path: str) -> None:
    """Let both of BrowserGym's browsers, page and chat, be this one."""
    from playwright.sync_api import BrowserType  # type: ignore[import-not-found,unused-ignore]

    launch = BrowserType.launch

    def launch_this(self: Any, **options: Any) -> Any:
        return launch(self, **{**options, "executable_path": path})

    BrowserType.launch = launch_this


def miniwob(name: str, **options: Any) -> Any:
    """A MiniWoB++ environment."""
    import browsergym.miniwob  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    import gymnasium

    return gymnasium.make(f"browsergym/miniwob.{name}", **options)


def open_page(url: str, **options: Any) -> Any:
    """An environment on one page, begun."""
    import browsergym.core  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    import gymnasium

    arguments = {"start_url": url, "goal": "look"}
    environment = gymnasium.make("browsergym/openended", task_kwargs=arguments, **options)
    environment.reset(seed=0)
    return environment


def plan(goal: str, page: str) -> list[str]:
    """The actions that solve one of the tasks, from its goal and its accessibility tree as text."""
    quoted = re.findall(r'"([^"]*)"', goal)
    fields = re.findall(r"\[(\w+)\] textbox", page)
    fills = [f"fill({mark!r}, {text!r})" for mark, text in zip(fields, quoted)]  # noqa: B905
    label = re.search(r"button (\w+)|press (\w+)", goal)
    assert label, goal
    button = re.search(rf"\[(\w+)\] button '{label[1] or label[2]}'", page, re.IGNORECASE)
    assert button, page
    return [*fills, f"click({button[1]!r})"]


def milliseconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """How long the work took, and what it gave."""
    started = time.perf_counter()
    given = work()
    return (time.perf_counter() - started) * 1000, given


def steps(episodes: int) -> dict[str, float]:
    """Median milliseconds of a step, as it is and without the sleep, and of a reset."""
    figures: dict[str, float] = {}
    for name, options in (("default", {}), ("no sleep", {"pre_observation_delay": 0.0})):
        times, resets, began = [], [], time.perf_counter()
        environments = {task: miniwob(task, **options) for task in TASKS}
        for episode in range(episodes):
            environment = environments[TASKS[episode % len(TASKS)]]
            took, (seen, _) = milliseconds(lambda e=environment, s=episode: e.reset(seed=s))
            resets.append(took)
            for action in plan(seen["goal"], flat(seen)):
                took, turn = milliseconds(lambda e=environment, a=action: e.step(a))
                times.append(took)
            assert turn[2] and turn[1] == 1, "each episode must end in success"
        figures |= {f"step, {name}": statistics.median(times)}
        figures |= {f"reset, {name}": statistics.median(resets)}
        figures[f"steps per second, {name}"] = len(times) / (time.perf_counter() - began)
        for environment in environments.values():
            environment.close()
    return figures


def flat(seen: dict[str, Any]) -> str:
    """The accessibility tree as text."""
    from browsergym.utils.obs import (  # type: ignore[import-not-found,unused-ignore]
        flatten_axtree_to_str,
    )

    return str(flatten_axtree_to_str(seen["axtree_object"]))


def large(url: str, times: int) -> dict[str, float]:
    """Median milliseconds to observe a page."""
    environment = open_page(url)
    look = environment.unwrapped._get_obs
    look()
    taken = [milliseconds(look)[0] for _ in range(times)]
    environment.close()
    return {"observe": statistics.median(taken)}


def frames(url: str, times: int) -> dict[str, float]:
    """Steps on a page, with a line on standard error before and after them to count between."""
    environment = open_page(url)
    environment.step("noop(0)")
    for word in ("BEGIN", "END"):
        time.sleep(1)
        print(f"\n==={word}===", file=sys.stderr, flush=True)
        for _ in range(times if word == "BEGIN" else 0):
            environment.step("noop(0)")
    environment.close()
    return {"steps": times}


def memory() -> dict[str, float]:
    """Megabytes (PSS) of one environment in an episode without its Python, and of one more."""
    sizes = []
    for number in range(2):
        environment = miniwob(TASKS[number])
        environment.reset(seed=number)
        sizes.append(tree_megabytes(os.getpid()))
    return {"first": sizes[0], "extra": sizes[1] - sizes[0]}


def tree_megabytes(root: int) -> float:
    """PSS of all processes below this one."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    below = {root}
    while more := {each for each, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(map(megabytes, below - {root}))


def megabytes(process: int) -> float:
    """PSS of one process; none where it has gone."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def throughput(path: str) -> dict[str, float]:
    """Seconds for episodes of so many steps each: task and count, one a line of the file. The steps
    do nothing and wait for nothing, which is the cheapest that a step can be."""
    plans = [line.split() for line in Path(path).read_text().splitlines()]
    started = time.perf_counter()
    for task, count in plans:
        environment = miniwob(task)
        environment.reset(seed=0)
        for _ in range(int(count)):
            environment.step("noop(0)")
        environment.close()
    return {"seconds": time.perf_counter() - started, "episodes": len(plans)}


def many(path: str, thinking: float) -> dict[str, float]:
    """Seconds of episodes that begin at an address and have so many steps, one a line of the file,
    each after the seconds that a model would think; begun when a line comes on standard input, with
    everything imported. And processor seconds of all processes, for which those whose parents have
    ended become children of this one."""
    import browsergym.core  # type: ignore[import-not-found,unused-ignore]
    import gymnasium  # noqa: F401

    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    plans = [line.split() for line in Path(path).read_text().splitlines()]
    print("ready", flush=True)
    sys.stdin.readline()
    before, started = processor_seconds(), time.perf_counter()
    for url, count in plans:
        environment = open_page(url)
        for _ in range(int(count)):
            time.sleep(thinking)
            environment.step("noop(0)")
        environment.close()
    seconds = time.perf_counter() - started
    if plans:
        browsergym.core._get_global_playwright().stop()
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    return {"seconds": seconds, "processor": processor_seconds() - before}


def processor_seconds() -> float:
    """What this process and its ended children have taken."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Measure one thing and print it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", required=True)
    parser.add_argument("--chromium", required=True)
    parser.add_argument("what", choices=MEASUREMENTS)
    parser.add_argument("argument", nargs="?", default="")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--thinking", type=float, default=0.0)
    chosen = parser.parse_args()
    os.environ["MINIWOB_URL"] = chosen.pages
    use_chromium(chosen.chromium)
    measure: dict[str, Callable[[], dict[str, float]]] = {
        "steps": lambda: steps(chosen.times),
        "large": lambda: large(chosen.argument, chosen.times),
        "frames": lambda: frames(chosen.argument, chosen.times),
        "memory": memory,
        "throughput": lambda: throughput(chosen.argument),
        "many": lambda: many(chosen.argument, chosen.thinking),
    }
    print(json.dumps(measure[chosen.what]()))


if __name__ == "__main__":
    main()
