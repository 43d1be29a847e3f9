"""WebGames: 150 small games in the browser, each of which shows its password to whoever wins.

The task file is `webgames_tasks.jsonl` of https://github.com/convergence-ai/webgames (Apache-2.0).
The games are one application without a server: they are played where its authors host it, or where
you do, with `webgames` among the addresses. Passwords are published, and are in the application's
script as well: what an agent has found there, or knew, counts as won.
"""

import re
from pathlib import Path

from benchmarks.catalogue import Benchmark, Options
from benchmarks.task_files import PublishedFile, check_addresses, find_file, make_suite, read_lines
from tasks.suite import Suite
from tasks.task import Task, TaskCheck

BENCHMARKS = {
    "webgames": Benchmark("small games that show a password to whoever wins", 150, __name__)
}

VERSION = 1
SITE = "webgames"
ADDRESS = "https://webgames.convergence.ai"
MAX_STEPS = 20
"""As in the published runs."""

LEVELS = ("easy", "medium", "hard")

FILE = PublishedFile(
    "webgames",
    "convergence-ai/webgames",
    "309866f64642b864414ca2c7ff956e59e01d3317",
    "evals/browseruse_webgames/webgames_tasks.jsonl",
    "beef3997a298c07e903cf840329e185a18eb26f9d823032fbb72f0b77441a2b9",
)

WON = "When it is done the page shows a password. Answer with that password."

_ROUTES = "/*"
"""Ends the path of a game that has pages below its own."""


def tasks(path: Path | str, address: str = ADDRESS) -> list[Task]:
    """Return the tasks of the file, played at the address. Raises `UnreadableTasks`."""
    made = []
    for entry in read_lines(Path(path)):
        name, page = (entry.words(key).removesuffix(_ROUTES) for key in ("id", "path"))
        title, description = entry.words("title"), entry.words("description")
        level, password = entry.values.get("difficulty"), entry.words("password")
        if level is not None and level not in LEVELS:
            raise entry.wrong("difficulty", ", ".join(LEVELS))
        tags = [tag for tag in entry.texts("tags") if tag not in LEVELS]
        stop = "" if description.endswith((".", "!", "?")) else "."
        made.append(
            Task(
                id=f"webgames/{name}@{VERSION}",
                start_url=f"{address.rstrip('/')}/{page}",
                goal=f"{title}: {description}{stop} {WON}",
                max_steps=MAX_STEPS,
                checks=(TaskCheck("episode.answer", "matches", re.escape(password)),),
                clock="real",
                template=entry.words("base_task") if "base_task" in entry.values else "",
                skills=tuple(dict.fromkeys([*([level] if level else []), *tags])),
            )
        )
    return made


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue. Groups are levels of difficulty and the games' own tags, as `memory`.

    Raises `UnreadableTasks`, `TasksMissing` and `AddressError`.
    """
    given = check_addresses(options.addresses, (SITE,), "webgames")
    made = tasks(find_file(FILE, options.files), given.get(SITE, ADDRESS))
    return make_suite(f"webgames@{VERSION}", made)
