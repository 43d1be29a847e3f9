"""MiniWoB++: 125 small web tasks that make their own pages, goals and rewards from a seed.

The pages come with the PyPI package `miniwob` (MIT) and are opened as files. The list is the one
BrowserGym registers, so that results can be compared. The page's own episode timer is switched off:
what counts is the raw reward, which no delay lowers.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.catalogue import Options
from tasks.suite import Suite, UnknownTask, seed_of
from tasks.task import PageHooks, Task, TaskCheck
from webagent.errors import SetupError

VERSION = 1

_TABLE = tomllib.loads(Path(__file__).with_name("tasks.toml").read_text(encoding="utf-8"))
NAMES = tuple(_TABLE["names"])
FIRST_TWENTY = tuple(_TABLE["twenty"])

VIEWPORT = (320, 280)
"""The task area is 160 by 210; menus, calendars and dialogs open beyond it."""

_NEVER_MS = 1_000_000_000
_NOT_THE_TASK = (
    "#query, #sync-task-cover, #reward-display, #click-canvas, .ui-helper-hidden-accessible"
)
_GOAL = "(said => said.utterance ?? said)(core.getUtterance())"
_EVIDENCE = {
    "raw_reward": "WOB_RAW_REWARD_GLOBAL",
    "done": "WOB_DONE_GLOBAL",
    "reason": "WOB_REWARD_REASON",
}
_CHECKS = (
    TaskCheck("done", "equals", True),
    TaskCheck("raw_reward", "at_least", 0.99),
    TaskCheck("raw_reward", "above", 0, score="raw_positive"),
)
_MAX_STEPS = {name: int(steps) for steps, names in _TABLE["longer"].items() for name in names}


def _sizes(way: str) -> dict[str, dict[str, int]]:
    sizes = _TABLE["sizes"].items()
    return {name: {size["variable"]: size[way]} for name, size in sizes if way in size}


_SETTLE_MS = {
    # Prices tick every 100 ms: an action lets one go by.
    "stock-market": 100
}


@cache
def load() -> Suite:
    """Return all tasks as a suite."""
    return Suite(
        f"miniwob@{VERSION}",
        NAMES,
        _make,
        _sizes("fewer"),
        _sizes("more"),
        {"twenty": FIRST_TWENTY},
    )


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue: the pages are a package's, and there is one set of them."""
    return load()


def select(names: Sequence[str]) -> tuple[str, ...]:
    """Task names, with `twenty` for `FIRST_TWENTY` and `all` for every one, each once.

    Raises `UnknownTask`.
    """
    return load().select(names)


def task(
    name: str, index: int = 0, split: str = "train", settings: Mapping[str, Any] | None = None
) -> Task:
    """Return the index-th task of this name in a split; see `Suite.task`."""
    return _make(name, seed_of(split, index), settings or {})


@cache
def pages() -> Path:
    """Return the folder of the task pages. Raises `SetupError` when the package is missing."""
    spec = find_spec("miniwob")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / "html" / "miniwob"
        if folder.is_dir():
            return folder
    raise SetupError("the pages of MiniWoB++ are not installed; pip install 'webagent-loop[learn]'")


def _make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
    if name not in NAMES:
        raise UnknownTask(name, NAMES)
    base = f"miniwob/{name}@{VERSION}"
    # Settings are assigned to the generator's own variables before an episode begins.
    assignments = "".join(f"{key} = {json.dumps(value)}; " for key, value in settings.items())
    variant = ",".join(f"{key}={json.dumps(value)}" for key, value in sorted(settings.items()))
    return Task(
        id=f"{base}+{variant}" if variant else base,
        parent=base if variant else "",
        start_url=(pages() / f"{name}.html").as_uri(),
        seed=seed,
        max_steps=_MAX_STEPS.get(name, 10),
        hooks=PageHooks(
            start=f"{assignments}Math.seedrandom({seed}); core.EPISODE_MAX_TIME = {_NEVER_MS}; "
            "core.startEpisodeReal(); core.clearTimer();",
            goal=_TABLE["goals"].get(name, _GOAL),
            over="WOB_DONE_GLOBAL",
            ignore=_NOT_THE_TASK,
        ),
        evidence=_EVIDENCE,
        checks=_CHECKS,
        viewport=VIEWPORT,
        settle_ms=_SETTLE_MS.get(name, 5000),
    )
