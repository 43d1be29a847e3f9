"""MiniWoB++: 125 small web tasks that make their own pages, goals and rewards from a seed.

The pages come with the PyPI package `miniwob` (MIT) and are opened as files. The list is the one
BrowserGym registers, so that results can be compared. The page's own episode timer is switched off:
what counts is the raw reward, which no delay lowers.
"""

import json
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

NAMES = tuple(
    """
    ascending-numbers bisect-angle book-flight book-flight-nodelay buy-ticket choose-date
    choose-date-easy choose-date-medium choose-date-nodelay choose-list circle-center
    click-button click-button-sequence click-checkboxes click-checkboxes-large
    click-checkboxes-soft click-checkboxes-transfer click-collapsible click-collapsible-2
    click-collapsible-2-nodelay click-collapsible-nodelay click-color click-dialog
    click-dialog-2 click-link click-menu click-menu-2 click-option click-pie click-pie-nodelay
    click-scroll-list click-shades click-shape click-tab click-tab-2 click-tab-2-easy
    click-tab-2-hard click-tab-2-medium click-test click-test-2 click-test-transfer click-widget
    copy-paste copy-paste-2 count-shape count-sides daily-calendar drag-box drag-circle
    drag-cube drag-items drag-items-grid drag-shapes drag-shapes-2 drag-single-shape
    drag-sort-numbers draw-circle draw-line email-inbox email-inbox-delete email-inbox-forward
    email-inbox-forward-nl email-inbox-forward-nl-turk email-inbox-important email-inbox-nl-turk
    email-inbox-noscroll email-inbox-reply email-inbox-star-reply enter-date enter-password
    enter-text enter-text-2 enter-text-dynamic enter-time find-greatest find-midpoint find-word
    focus-text focus-text-2 form-sequence form-sequence-2 form-sequence-3 generate-number
    grid-coordinate guess-number highlight-text highlight-text-2 hot-cold identify-shape
    login-user login-user-popup multi-layouts multi-orderings navigate-tree number-checkboxes
    odd-or-even order-food phone-book read-table read-table-2 resize-textarea right-angle
    scroll-text scroll-text-2 search-engine sign-agreement simple-algebra simple-arithmetic
    social-media social-media-all social-media-some stock-market terminal text-editor
    text-transform tic-tac-toe unicode-test use-autocomplete use-autocomplete-nodelay
    use-colorwheel use-colorwheel-2 use-slider use-slider-2 use-spinner visual-addition
    """.split()  # noqa: SIM905
)

FIRST_TWENTY = tuple(
    """
    click-test-2 click-button click-link click-option click-checkboxes click-tab-2
    click-collapsible-2 click-dialog-2 focus-text-2 enter-text enter-password login-user
    choose-list navigate-tree read-table use-autocomplete-nodelay email-inbox social-media
    search-engine click-widget
    """.split()  # noqa: SIM905
)
"""Twenty varied tasks of one to six steps, on which most development is measured."""

VIEWPORT = (320, 280)
"""The task area is 160 by 210; menus, calendars and dialogs open beyond it."""

_NEVER_MS = 1_000_000_000
_NOT_THE_TASK = (
    "#query, #sync-task-cover, #reward-display, #click-canvas, .ui-helper-hidden-accessible"
)
_GOAL = "(said => said.utterance ?? said)(core.getUtterance())"
_GOALS = {
    # Goals that show a picture or a colour instead of saying it, put into words as BrowserGym does.
    "click-menu-2": r"""(() => {
        const query = document.getElementById("query");
        const icon = query.querySelector("span[class*=ui-icon-]");
        if (icon) icon.replaceWith('"' + icon.className.split(" ")[1] + '"');
        return query.textContent.replace(/\s+/g, " ").trim();
    })()""",
    "use-colorwheel-2": r"""(() => {
        const query = document.getElementById("query");
        const parts = [...query.children].map((part) => part.textContent.trim());
        const channels = query.children[1].style.backgroundColor.match(/\d+/g).slice(0, 3);
        const hex = channels.map((one) => Number(one).toString(16).padStart(2, "0")).join("");
        return `${parts[0]} #${hex} ${parts[2]}`.replace(/\s+/g, " ");
    })()""",
}
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
_LONGER = {
    # Tasks that a careful person cannot do in ten actions on every seed.
    15: "click-shades daily-calendar phone-book",
    20: "book-flight book-flight-nodelay choose-date choose-date-nodelay click-checkboxes-large"
    " form-sequence number-checkboxes social-media-all social-media-some use-spinner",
    25: "guess-number order-food",
    30: "generate-number use-slider use-slider-2",
    40: "hot-cold stock-market",
}
_MAX_STEPS = {name: steps for steps, names in _LONGER.items() for name in names.split()}
_SIZES: dict[str, tuple[str, int | None, int | None]] = {
    # The generator's own variable for how much is on the page: its value for fewer things, and for
    # more, as far as the page stays usable.
    "ascending-numbers": ("TOTAL_RECTS", 3, 7),
    "book-flight": ("MAX_FLIGHTS", 2, 8),
    "book-flight-nodelay": ("MAX_FLIGHTS", 2, 8),
    "buy-ticket": ("MAX_TRIPS", 2, 6),
    "click-color": ("MAX_COLORS", 2, 6),
    "click-widget": ("NUM_ELEMENTS", 3, 8),
    "copy-paste-2": ("TEXTAREAS", 2, None),
    "drag-shapes": ("TOTAL_SHAPES", 2, 6),
    "drag-shapes-2": ("TOTAL_SHAPES", 2, None),
    "email-inbox": ("MAX_EMAILS", 5, 20),
    "email-inbox-forward-nl-turk": ("MAX_EMAILS", 5, 20),
    "email-inbox-nl-turk": ("MAX_EMAILS", 5, 20),
    "find-greatest": ("TOTAL_CARDS", 2, 5),
    "focus-text-2": ("TEXTBOXES", 2, None),
    "highlight-text-2": ("PARAGRAPHS", 2, None),
    "navigate-tree": ("MAX_FILES", 3, 14),
    "odd-or-even": ("RANDOM_NUMBERS", 1, 5),
    "phone-book": ("TOTAL_RESULTS", 2, 9),
    "search-engine": ("TOTAL_RESULTS", None, 15),
    "terminal": ("MAX_FILES", 3, 9),
    "tic-tac-toe": ("RANDOM_CHANCE", 100, None),
    "use-slider-2": ("SLIDERS", 2, None),
}
_EASIER = {name: {key: few} for name, (key, few, _) in _SIZES.items() if few is not None}
_HARDER = {name: {key: many} for name, (key, _, many) in _SIZES.items() if many is not None}
_SETTLE_MS = {
    # Prices tick every 100 ms: an action lets one go by.
    "stock-market": 100,
}


@cache
def load() -> Suite:
    """Return all tasks as a suite."""
    return Suite(f"miniwob@{VERSION}", NAMES, _make, _EASIER, _HARDER, {"twenty": FIRST_TWENTY})


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
            goal=_GOALS.get(name, _GOAL),
            over="WOB_DONE_GLOBAL",
            ignore=_NOT_THE_TASK,
        ),
        evidence=_EVIDENCE,
        checks=_CHECKS,
        viewport=VIEWPORT,
        settle_ms=_SETTLE_MS.get(name, 5000),
    )
