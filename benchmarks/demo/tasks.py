"""The demo's tasks: what a notebook, the site of docs/example, can do, and pages of MiniWoB++."""

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.catalogue import Options
from benchmarks.demo import SITE
from benchmarks.miniwob import tasks as miniwob
from benchmarks.sites.described import CommandSite, read_sites
from benchmarks.sites.site import SiteError
from tasks.suite import Suite, UnknownTask, split_of
from tasks.task import Json, Task, TaskCheck

VERSION = 1
ADDRESS = "http://notebook.test"
NOTEBOOK = ("notebook-add", "notebook-add-to-list", "notebook-finish", "notebook-delete")
PAGES = (
    *("click-checkboxes", "choose-list", "enter-text", "enter-password", "login-user"),
    "use-autocomplete-nodelay",
)
_LISTS: Mapping[str, tuple[str, ...]] = {
    "Home": ("Water the plants", "Fix the tap", "Feed the rabbit", "Wash the windows"),
    "Work": ("Call the printer", "Send the invoice", "Plan the workshop", "Read the contract"),
    "Errands": ("Return the library books", "Call the dentist", "Buy stamps", "Collect the parcel"),
}
"""The notes that are there; of each list the first half is for evaluation."""
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


def site() -> CommandSite:
    """Return the notebook. Raises `SiteError` where its files are not those of docs/example."""
    packaged = Path(__file__).with_name("example")
    folder = packaged if packaged.is_dir() else Path(__file__).parents[2] / "docs/example"
    described = read_sites(folder / "sites.toml").get("notes@1")
    if not isinstance(described, CommandSite):
        raise SiteError(f"{folder}/sites.toml does not say how notes@1 is served")
    return replace(described, id=SITE, address=ADDRESS)


def suite(options: Options, subset: str = "") -> Suite:
    """Return the tasks. Those on the notebook are about other notes in training than in evaluation;
    those of MiniWoB++ make their own pages from the seed."""
    names = (*NOTEBOOK, *PAGES)
    return Suite(f"demo@{VERSION}", names, _make, groups={"notebook": NOTEBOOK})


def _make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
    if name in PAGES:
        return miniwob.load().make(name, seed, settings)
    is_train, rng = split_of(seed) == "train", random.Random(seed)
    verbs = _VERBS[4:] if is_train else _VERBS[:4]
    new = f"{rng.choice(verbs)} {rng.choice(_THINGS)}"
    listed = rng.choice(list(_LISTS))
    old = rng.choice(_LISTS[listed][2:] if is_train else _LISTS[listed][:2])
    wanted: dict[str, tuple[str, dict[str, Json]]] = {
        "notebook-add": (f'Add the note "{new}".', {"added": [{"text": new, "done": 0}]}),
        "notebook-add-to-list": (
            f'Add the note "{new}" to the list "{listed}".',
            {"added": [{"text": new, "list": listed, "done": 0}]},
        ),
        "notebook-finish": (
            f'Mark the note "{old}" as done.',
            {"changed": [{"after": {"text": old, "done": 1}}]},
        ),
        "notebook-delete": (f'Delete the note "{old}".', {"removed": [{"text": old}]}),
    }
    if name not in wanted:
        raise UnknownTask(name, (*NOTEBOOK, *PAGES))
    goal, changes = wanted[name]
    return Task(
        id=f"demo/{name}@{VERSION}",
        start_url=f"{ADDRESS}/",
        goal=goal,
        seed=seed,
        site=SITE,
        max_steps=6,
        records=("changes",),
        checks=(TaskCheck("changes", "changes_are", {"note": changes}),),
    )
