"""An agent written against BrowserGym alone; run by a Python that has browsergym-miniwob.

Stands alone: that Python need not have this project. `play` plays tasks in BrowserGym and prints
each reward; `serve` answers observations, one JSON object a line, with actions. Both ways it is the
same agent: BrowserGym's dictionary in, BrowserGym's calls out, its accessibility text in between.
"""

import argparse
import json
import os
import re
import sys
from typing import Any

TASKS = (
    *("click-test", "click-test-2", "click-button", "click-link", "click-dialog", "enter-text"),
    *("enter-password", "login-user", "click-option", "click-checkboxes", "focus-text"),
    *("click-button-sequence", "enter-text-dynamic", "login-user-popup", "click-tab"),
)
MOST_STEPS = 4


def act(goal: str, page: str) -> str:
    """The calls for one turn, several in one text, from the goal and the page as text."""
    fields = re.findall(r"\[(\w+)\] textbox", page)
    quoted = re.findall(r'"([^"]*)"', goal)
    if "OK to cancel" in page or "session is about to expire" in page:
        return click(page, "Cancel")
    if goal.startswith("Focus"):
        return f"click({fields[0]!r})"
    if fields and quoted and not goal.startswith("Click"):
        texts = quoted if len(quoted) >= len(fields) else quoted * len(fields)
        fills = [f"fill({bid!r}, {text!r})" for bid, text in zip(fields, texts)]  # noqa: B905
        return "\n".join([*fills, click(page, "Submit", "Login")])
    if chosen := re.match(r"Select (.+) and click Submit", goal):
        names = [] if chosen[1] == "nothing" else re.split(r", ", chosen[1])
        return "\n".join([*(click(page, name) for name in names), click(page, "Submit")])
    if order := re.findall(r"[Cc]lick button (\w+)", goal):
        return "\n".join(click(page, name) for name in order)
    if tab := re.search(r"Tab #(\d)", goal):
        return click(page, f"Tab #{tab[1]}")
    if quoted:
        return click(page, "Close" if quoted[0] == "x" else quoted[0])
    return click(page, r"[^']*")


def click(page: str, *names: str) -> str:
    """A click on the first element with a name, or its text, that is one of these."""
    for name in names:
        literal = name if name.startswith("[^") else re.escape(name)
        pattern = rf"\[(\w+)\] (?:button|link|radio|checkbox|tab|generic)[^\n]*? '{literal}'"
        if found := re.search(pattern, page, re.IGNORECASE) or before(page, literal):
            return f"click({found[1]!r})"
    return "noop(100)"


def before(page: str, literal: str) -> "re.Match[str] | None":
    """The last thing with a bid before a text."""
    text = re.search(rf"StaticText '{literal}'", page, re.IGNORECASE)
    above = list(re.finditer(r"\[(\w+)\]", page[: text.start()])) if text else []
    return above[-1] if above else None


def choose(seen: dict[str, Any]) -> str:
    """The agent: BrowserGym's dictionary in, its calls out."""
    from browsergym.utils.obs import (  # type: ignore[import-not-found,unused-ignore]
        flatten_axtree_to_str,
        flatten_dom_to_str,
        prune_html,
    )

    if "dom_object" in seen:
        assert prune_html(flatten_dom_to_str(seen["dom_object"])), "an empty page"
    page = flatten_axtree_to_str(
        seen["axtree_object"], extra_properties=seen.get("extra_element_properties")
    )
    return act(seen["goal"], page)


def use_chromium(path: str) -> None:
    """Let both of BrowserGym's browsers, page and chat, be this one."""
    from playwright.sync_api import BrowserType  # type: ignore[import-not-found,unused-ignore]

    launch = BrowserType.launch

    def launch_this(self: Any, **options: Any) -> Any:
        return launch(self, **{**options, "executable_path": path})

    BrowserType.launch = launch_this


def play(tasks: list[str], seeds: int) -> None:
    """Play and print one JSON object an episode."""
    import browsergym.miniwob  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    import gymnasium

    for task in tasks:
        environment = gymnasium.make(f"browsergym/miniwob.{task}")
        for seed in range(seeds):
            seen, _ = environment.reset(seed=seed)
            goal, reward, over, steps = seen["goal"], 0.0, False, 0
            while not over and steps < MOST_STEPS:
                seen, reward, over, _, info = environment.step(choose(seen))
                steps += 1
            raw = info["task_info"].get("RAW_REWARD_GLOBAL")
            print(json.dumps([task, seed, goal, reward, raw, steps]), flush=True)
        environment.close()


def serve() -> None:
    """Answer each line of standard input, a dictionary, with the calls."""
    for line in sys.stdin:
        print(json.dumps(choose(json.loads(line))), flush=True)


def main() -> None:
    """Play, or serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("play", "serve"))
    parser.add_argument("--pages", default="")
    parser.add_argument("--chromium", default="")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--tasks", nargs="*")
    options = parser.parse_args()
    if options.what == "serve":
        return serve()
    os.environ["MINIWOB_URL"] = options.pages
    use_chromium(options.chromium)
    return play(options.tasks or list(TASKS), options.seeds)


if __name__ == "__main__":
    main()
