"""Tasks of one's own as a benchmark: a TOML file that names an address and a goal for each.

[tasks.contact]
url = "https://example.org/"
goal = "Find the address for press enquiries."
max_steps = 20
answer = "press@example.org"
"""

import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.catalogue import Benchmark, Options, TasksMissing
from benchmarks.task_files import UnreadableTasks, make_suite, read_text
from tasks.suite import Suite
from tasks.task import Check, Task

BENCHMARKS = {
    "own": Benchmark("tasks of a TOML file of yours, by address", 0, __name__),
}

VERSION = 1
_TEXTS = ("url", "goal", "answer", "login", "site")
_KNOWN = (*_TEXTS, "max_steps", "skills")


def suite(options: Options, subset: str = "") -> Suite:
    """The tasks of the file that `options.files` names; every seed of one is the same task.

    With an `answer` the episode's answer is held against it; without one only a judge can say.
    Raises `TasksMissing` where no file is named, `UnreadableTasks` for what makes no task.
    """
    if options.files is None:
        raise TasksMissing("name the TOML file of your tasks with --files tasks.toml")
    return make_suite(f"own@{VERSION}", read(options.files).values(), groups={})


def read(path: Path) -> dict[str, Task]:
    """The tasks by name. Raises `UnreadableTasks` naming file, task and field."""
    try:
        tables = tomllib.loads(read_text(path)).get("tasks")
    except tomllib.TOMLDecodeError as error:
        raise UnreadableTasks(f"{path} is not TOML: {error}") from error
    if not isinstance(tables, dict) or not tables:
        raise UnreadableTasks(f"{path} names no tasks; expected a table [tasks.NAME] for each")
    return {name: _task(name, table, f"{path}: [tasks.{name}]") for name, table in tables.items()}


def _task(name: str, table: Any, where: str) -> Task:
    if not isinstance(table, dict):
        raise UnreadableTasks(f"{where} should be a table with url and goal")
    if unknown := sorted(set(table) - set(_KNOWN)):
        raise UnreadableTasks(f"{where}: unknown {unknown[0]!r}; known: {', '.join(_KNOWN)}")
    texts = {key: table.get(key, "") for key in _TEXTS}
    for key, text in texts.items():
        if not isinstance(text, str) or (key in ("url", "goal") and not text):
            raise UnreadableTasks(f"{where}: {key} is {text!r}; expected text")
    if urlsplit(texts["url"]).scheme not in ("http", "https", "file"):
        raise UnreadableTasks(f"{where}: url is {texts['url']!r}; expected an http address")
    answer, steps, skills = texts["answer"], table.get("max_steps", 30), table.get("skills", [])
    if not isinstance(steps, int) or steps < 1:
        raise UnreadableTasks(f"{where}: max_steps is {steps!r}; expected a number above 0")
    return Task(
        f"own/{name}@{VERSION}",
        texts["url"],
        texts["goal"],
        max_steps=steps,
        clock="real",
        checks=(Check("episode.answer", "same_text", answer),) if answer else (),
        site=texts["site"],
        login=texts["login"],
        skills=tuple(map(str, skills)),
    )
