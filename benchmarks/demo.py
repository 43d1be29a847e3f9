"""The demo's tasks: a notebook, the site of docs/example, and some pages of MiniWoB++."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.catalogue import Benchmark, Options
from benchmarks.miniwob import tasks as miniwob
from benchmarks.sites.described import CommandSite, read_sites
from benchmarks.sites.site import SiteError
from tasks.suite import Suite, UnknownTask, split_of
from tasks.task import Task, TaskCheck

VERSION = 1
BENCHMARKS = {
    "demo": Benchmark("the demo's: a notebook, and pages of MiniWoB++", 15, __name__),
}
SITES = {"notebook@1": __name__}
PAGES = tuple(
    """choose-list click-checkboxes enter-password enter-text enter-text-2 enter-text-dynamic use-autocomplete-nodelay click-collapsible-2 click-menu-2 click-tab-2-hard login-user login-user-popup click-widget focus-text click-scroll-list search-engine choose-date-easy multi-layouts phone-book navigate-tree click-option click-checkboxes-transfer form-sequence-3 email-inbox-delete""".split()
)
_VERBS = ("Order", "Paint", "Sell", "Clean", "Repair", "Measure", "Borrow", "Move")
_THINGS = (
    "the chairs",
    "a ladder",
    "the bicycle",
    "two lamps",
    "the fence",
    "a carpet",
    "the oven",
)
_LISTS = {
    "Home": ("Water the plants", "Fix the tap", "Feed the rabbit", "Wash the windows"),
    "Work": ("Call the printer", "Send the invoice", "Plan the workshop", "Read the contract"),
    "Errands": ("Return the library books", "Call the dentist", "Buy stamps", "Collect the parcel"),
}
_NOTEBOOK = (
    "notebook-add",
    "notebook-add-to-list",
    "notebook-finish",
    "notebook-delete",
    "notebook-find",
)


def site() -> CommandSite:
    """Return the notebook."""
    packaged = Path(__file__).with_name("example")
    folder = packaged if packaged.is_dir() else Path(__file__).parents[1] / "docs/example"
    described = read_sites(folder / "sites.toml")["notes@1"]
    if not isinstance(described, CommandSite):
        raise SiteError(f"{folder} describes a site that is not served from there")
    return replace(described, id="notebook@1", address="http://notebook.test")


def suite(options: Options, subset: str = "") -> Suite:
    """Return the tasks; those of the notebook name other notes in each split."""
    return Suite(f"demo@{VERSION}", (*_NOTEBOOK, *PAGES), _make, groups={"notebook": _NOTEBOOK})


def _make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
    if name in PAGES:
        return miniwob.load().make(name, seed, settings)
    if name not in _NOTEBOOK:
        raise UnknownTask(name, (*_NOTEBOOK, *PAGES))
    half, is_train = seed // 2, split_of(seed) == "train"
    new = [f"{verb} {thing}" for thing in _THINGS for verb in _VERBS]
    added = new[(10 * half + 5 * is_train) % len(new) // 2 * 2 + is_train]
    lists = list(_LISTS)
    chosen = lists[seed % len(lists)]
    old = _LISTS[chosen][2 * is_train + half % 2]
    goal, changes = {
        "notebook-add": (f'Add the note "{added}".', {"added": [{"text": added, "done": 0}]}),
        "notebook-add-to-list": (
            f'Add the note "{added}" to the list "{chosen}".',
            {"added": [{"text": added, "list": chosen, "done": 0}]},
        ),
        "notebook-finish": (
            f'Mark the note "{old}" as done.',
            {"changed": [{"after": {"text": old, "done": 1}}]},
        ),
        "notebook-delete": (f'Delete the note "{old}".', {"removed": [{"text": old}]}),
        "notebook-find": (f'On which list is the note "{old}"? Answer with its name.', {}),
    }[name]
    checks = (
        TaskCheck("changes", "changes_are", {"note": changes} if changes else {}),
        *((TaskCheck("episode.answer", "same_text", chosen),) if not changes else ()),
    )
    return Task(
        id=f"demo/{name}@{VERSION}",
        start_url="http://notebook.test/",
        goal=goal,
        seed=seed,
        site="notebook@1",
        max_steps=6,
        records=("changes",),
        checks=checks,
    )
