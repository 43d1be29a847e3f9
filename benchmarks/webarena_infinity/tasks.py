"""The tasks of both published suites, with the state of the application as evidence; its sites."""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.catalogue import Options, TasksMissing
from benchmarks.sites.described import CommandSite
from benchmarks.task_files import FileEntry, UnreadableTasks, make_suite
from benchmarks.webarena_infinity import SUITES, VARIABLE, VERSION, find_applications
from tasks.suite import Suite
from tasks.task import Probe, Task, TaskCheck
from webagent.errors import UsageError

REPOSITORY = "https://github.com/web-arena-x/webarena-infinity"
MAX_STEPS = 50
"""As in the published runs."""
EVIDENCE = "state"
_LAUNCHER = Path(__file__).with_name("launch.py")


def site(application: str) -> CommandSite:
    """Return the site of an application of the checkout.

    The application keeps its state in the browser and in the memory of its server, so that a new
    server and a new session are a reset.
    """
    folder = find_applications()[application]
    source = hashlib.sha256((folder / "server.py").read_bytes()).hexdigest()
    return CommandSite(
        id=f"{application}@{VERSION}",
        address=f"http://{application}.test",
        serve_command=(sys.executable, str(_LAUNCHER), "{port}", str(folder)),
        environment={"WEBAGENT_INFINITY_SERVER": source},
        restart_on_reset=True,
        folder=folder,
    )


def suite(options: Options, subset: str = "") -> Suite:
    """Return the tasks of every application as `APPLICATION.ID`, in groups by application, by
    difficulty and by suite. Every seed of a task is the same task.

    Raises `TasksMissing` without a checkout, `UnreadableTasks` for a file that is not as published,
    and `UsageError` for --files.
    """
    if options.files is not None:
        raise UsageError(
            f"webarena-infinity's sites and tasks read the same checkout: name it in {VARIABLE} in"
            " place of --files"
        )
    tasks: dict[str, Task] = {}
    groups: dict[str, list[str]] = {}
    for application, folder in find_applications().items():
        for task, within in _read(application, folder):
            tasks[task.name] = task
            for group in within:
                groups.setdefault(group, []).append(task.name)
    if not tasks:
        raise TasksMissing(
            f"the applications of WebArena-Infinity are not here: git clone {REPOSITORY}, and name"
            f" its folder in {VARIABLE}"
        )
    named: Mapping[str, Any] = {name: tuple(members) for name, members in groups.items()}
    return make_suite(f"webarena-infinity@{VERSION}", tasks.values(), groups=named)


def _read(application: str, folder: Path) -> Iterator[tuple[Task, tuple[str, ...]]]:
    """Yield each task of an application with the groups it is in."""
    for kind, file in SUITES.items():
        path = folder / file
        if not path.is_file():
            continue
        try:
            entries = json.loads(path.read_bytes())
        except ValueError as error:
            raise UnreadableTasks(f"{path} is not JSON: {error}") from error
        if not isinstance(entries, list):
            raise UnreadableTasks(f"{path} has no list of tasks")
        for number, value in enumerate(entries):
            entry = FileEntry.of(value, f"{path}: entry {number}")
            short = entry.words("id").removeprefix("task_")
            verifier = entry.words("verify")
            if not (folder / verifier).is_file():
                raise entry.wrong("verify", "a file beside the tasks")
            difficulty = entry.text("difficulty", "")
            label = short if kind == "real" else f"function-{short}"
            task = Task(
                f"webarena-infinity/{application}.{label}@{VERSION}",
                f"http://{application}.test/",
                entry.words("instruction"),
                max_steps=MAX_STEPS,
                checks=(TaskCheck(EVIDENCE, "infinity_verified", f"{application}/{verifier}"),),
                probes=(
                    Probe(
                        EVIDENCE,
                        url=f"http://{application}.test/api/state",
                        script="JSON.parse(document.body.textContent)",
                    ),
                ),
                site=f"{application}@{VERSION}",
            )
            parts = (application, kind, difficulty)
            joined = (f"{application}-{each}" for each in (kind, difficulty))
            yield task, tuple(each for each in (*parts, *joined) if not each.endswith("-") and each)
