"""WebShop's goals as tasks, in the published split."""

from collections.abc import Mapping
from typing import Any

from benchmarks.catalogue import Options
from benchmarks.webshop.site.products import VARIABLE, load_goals
from tasks.suite import SEEDS_PER_SPLIT, Suite, UnknownTask, split_of
from tasks.task import Json, PageHooks, Task, TaskCheck
from webagent.errors import UsageError

NAME = "buy"
PLACES = {"test": (0, 500), "development": (500, 1500), "train": (1500, None)}
"""The published split of the shuffled goals, from and to."""
MAX_STEPS = 20
"""The published environment needs 15 at most for most goals; here a search takes two."""


def suite(options: Options, subset: str = "") -> Suite:
    """Return the one task, whose seeds are the goals of a split in order, from the first again
    after the last. Raises `UsageError` for --files."""
    if options.files is not None:
        raise UsageError(
            f"webshop's site and tasks read the same files: name their folder in {VARIABLE}"
            " in place of --files"
        )
    return Suite("webshop@1", (NAME,), _make)


def _make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
    if name != NAME:
        raise UnknownTask(name, (NAME,))
    split = split_of(seed)
    if split not in PLACES:
        raise ValueError(f"seed {seed} belongs to no split")
    first, last = PLACES[split]
    goals = load_goals()[first:last]
    goal = goals[seed % SEEDS_PER_SPLIT % len(goals)]
    wanted = goal.product
    expected: Json = {  # what the reward needs of it
        "product": {
            "query": wanted.query,
            "product_category": wanted.product_category,
            "nouns": list(wanted.nouns),
        },
        "attributes": list(goal.attributes),
        "options": list(goal.options),
        "price_upper": goal.price_upper,
    }
    return Task(
        id=f"webshop/{NAME}@1",
        start_url="http://webshop.test/",
        goal=goal.instruction,
        seed=seed,
        max_steps=MAX_STEPS,
        hooks=PageHooks(over="location.pathname === '/done'"),
        checks=(
            TaskCheck("purchases", "webshop_bought", expected),
            TaskCheck("purchases", "webshop_reward", expected, score="reward"),
        ),
        site="webshop@1",
        queries={"purchases": "SELECT product, options FROM purchases ORDER BY id"},
        template=NAME,
        skills=("search", "compare", "choose"),
    )
