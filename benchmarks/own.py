"""Tasks of one's own as a benchmark: a TOML file that names an address and a goal for each.

[tasks.contact]
url = "https://example.org/"
goal = "Find the address for press enquiries."
max_steps = 20
answer = "press@example.org"
compare = "text"
"""

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks import proposed
from benchmarks.catalogue import Benchmark, Options, TasksMissing
from benchmarks.task_files import FileEntry, UnreadableTasks, make_suite
from evaluators.rules import RULES
from tasks.suite import Suite
from tasks.task import Task, TaskCheck
from webagent.files import read_toml

BENCHMARKS = {"own": Benchmark("tasks of a TOML file of yours, by address", 0, __name__)}

VERSION = 2
COMPARISONS = {
    "": "same_answer",
    "exact": "equals",
    "text": "same_wording",
    "number": "same_number",
    "contains": "has_wording",
    "date": "same_date",
}
"""Rules by what `compare` says; without it, what a person would accept."""


def suite(options: Options, subset: str = "") -> Suite:
    """Return the tasks of the file that `options.files` names; every seed of one is the same task.

    With an `answer` the episode's answer is compared with it, as `compare` says; without one only a
    judge can decide. Tasks with other checks are JSON lines, as `webagent propose` writes them.
    Raises `TasksMissing` where no file is named, `UnreadableTasks` for what makes no task.
    """
    if options.files is None:
        raise TasksMissing("name the TOML file of your tasks with --files tasks.toml")
    if options.files.suffix == ".jsonl":
        return replace(proposed.suite(options), id=f"own@{VERSION}")
    return make_suite(f"own@{VERSION}", read(options.files).values(), groups={})


def read(path: Path) -> dict[str, Task]:
    """Return the tasks by name. Raises `UnreadableTasks` naming file, task and field."""
    tables = read_toml(path, UnreadableTasks).get("tasks")
    if not isinstance(tables, dict) or not tables:
        raise UnreadableTasks(f"{path} names no tasks; expected a table [tasks.NAME] for each")
    tasks = {}
    for name, table in tables.items():
        entry = FileEntry.of(table, f"{path}: [tasks.{name}]")
        entry.allow(
            ("url", "goal", "answer", "compare", "login", "site", "dialogs", "max_steps", "skills")
        )
        url, answer = entry.words("url"), entry.text("answer", "")
        if urlsplit(url).scheme not in ("http", "https", "file"):
            raise entry.wrong("url", "an http address")
        compare = entry.text("compare", "")
        if compare not in COMPARISONS or (compare and not answer):
            known = ", ".join(filter(None, COMPARISONS))
            raise entry.wrong("compare", f"one of {known}, beside an answer")
        rule = COMPARISONS[compare]
        try:
            if answer and not RULES[rule](answer, answer):
                raise TypeError("it does not match itself")
        except TypeError as error:
            raise UnreadableTasks(f"{entry.place}: compare is {compare!r}, but {error}") from error
        dialogs = entry.text("dialogs", "dismiss")
        if dialogs not in ("ask", "dismiss"):
            raise entry.wrong("dialogs", "ask or dismiss")
        steps = entry.integer("max_steps") if "max_steps" in entry.values else 30
        if steps < 1:
            raise entry.wrong("max_steps", "a number above 0")
        tasks[name] = Task(
            f"own/{name}@{VERSION}",
            url,
            entry.words("goal"),
            max_steps=steps,
            clock="real",
            dialogs=dialogs,
            checks=(TaskCheck("episode.answer", rule, answer),) if answer else (),
            site=entry.text("site", ""),
            login=entry.text("login", ""),
            skills=tuple(map(str, entry.values.get("skills", []))),
        )
    return tasks
