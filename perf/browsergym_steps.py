"""The figures of `browser_steps.py` for BrowserGym; run by a Python that has browsergym-miniwob.

Stands alone: that Python need not have this project. Prints one JSON object.
"""

import argparse
import json
import os
import re
import statistics
import time
from typing import Any


def use_chromium(path: str) -> None:
    """Let both of BrowserGym's browsers, page and chat, be this one."""
    from playwright.sync_api import BrowserType  # type: ignore[import-not-found,unused-ignore]

    launch = BrowserType.launch

    def launch_this(self: Any, **options: Any) -> Any:
        return launch(self, **{**options, "executable_path": path})

    BrowserType.launch = launch_this


def plan(goal: str, page: str) -> list[str]:
    """The actions that solve one of the tasks, from its goal and its accessibility tree as text."""
    quoted = re.findall(r'"([^"]*)"', goal)
    fields = re.findall(r"\[(\w+)\] textbox", page)
    fills = [f"fill({mark!r}, {text!r})" for mark, text in zip(fields, quoted)]  # noqa: B905
    label = re.search(r"button (\w+)|press (\w+)", goal)
    assert label, goal
    name = label[1] or label[2]
    button = re.search(rf"\[(\w+)\] button '{name}'", page, re.IGNORECASE)
    assert button, page
    return [*fills, f"click({button[1]!r})"]


def main() -> None:
    """Play the tasks and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", required=True)
    parser.add_argument("--chromium", required=True)
    parser.add_argument("--episodes", type=int, required=True)
    parser.add_argument("tasks", nargs="+")
    options = parser.parse_args()
    os.environ["MINIWOB_URL"] = options.pages
    use_chromium(options.chromium)

    import browsergym.miniwob  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    import gymnasium
    from browsergym.utils.obs import flatten_axtree_to_str  # type: ignore[import-not-found,unused-ignore]

    environments = {name: gymnasium.make(f"browsergym/miniwob.{name}") for name in options.tasks}
    resets, steps = [], []
    begun = time.perf_counter()
    for episode in range(options.episodes):
        environment = environments[options.tasks[episode % len(options.tasks)]]
        started = time.perf_counter()
        seen, _ = environment.reset(seed=episode)
        resets.append((time.perf_counter() - started) * 1000)
        for action in plan(seen["goal"], flatten_axtree_to_str(seen["axtree_object"])):
            started = time.perf_counter()
            _, reward, over, _, _ = environment.step(action)
            steps.append((time.perf_counter() - started) * 1000)
        assert over and reward == 1
    seconds = time.perf_counter() - begun
    figures = {
        "step, median ms": statistics.median(steps),
        "fresh episode start, median ms": statistics.median(resets),
        "steps per second with episode starts, 1 world": len(steps) / seconds,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
