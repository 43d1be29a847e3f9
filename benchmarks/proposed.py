"""Proposals as a benchmark: the tasks that were taken, read back from proposals.jsonl.

`webagent propose` writes the file (docs/proposing.md). The subset `untried` are the tasks that
passed every other filter and that nobody has tried yet, for whoever wants to try them.
"""

from collections import defaultdict
from pathlib import Path

from benchmarks.catalogue import Benchmark, Options, TasksMissing
from benchmarks.task_files import UnreadableTasks, make_suite, read_lines
from tasks.suite import Suite
from tasks.task import UNTRIED, TaskProposal
from webagent.errors import StoreError, UsageError, unknown_name
from webagent.serialize import from_json

BENCHMARKS = {
    "proposed": Benchmark("what `webagent propose` has found and had solved", 0, __name__),
    "proposed-untried": Benchmark(
        "proposals that passed every filter and that nobody has tried", 0, __name__, "untried"
    ),
}

VERSION = 1
_FILE = "proposals.jsonl"


def suite(options: Options, subset: str = "") -> Suite:
    """Return the accepted proposals of a file, or of the folder of a run that proposed.

    Every seed of a task is the same task. The sources and the sites are groups. Raises
    `TasksMissing` where no file is named or nothing in it was taken, `UnreadableTasks` for a file
    that cannot be read or a line that is no proposal.
    """
    if options.files is None:
        raise TasksMissing(
            "proposed tasks are in the file that `webagent propose` writes; name it with --files"
            f" RUN/{_FILE}"
        )
    path = options.files / _FILE if options.files.is_dir() else options.files
    wanted = [("feasibility", UNTRIED)] if subset == "untried" else []
    proposals = [
        each for each in read(path) if [(r.filter, r.reason) for r in each.refusals] == wanted
    ]
    if not proposals:
        what = "that nobody has tried" if subset else "that passed every filter"
        raise TasksMissing(f"{path} contains no proposal {what}; propose or solve more")
    tasks = {each.task.name: each.task for each in proposals}
    groups = defaultdict[str, tuple[str, ...]](tuple)
    for each in proposals:
        for group in filter(None, (each.source, each.task.site.partition("@")[0])):
            groups[group] += (each.task.name,)
    named = f"proposed-{subset}" if subset else "proposed"
    return make_suite(f"{named}@{VERSION}", tasks.values(), groups=groups)


def read(path: Path) -> list[TaskProposal]:
    """Every proposal of a file, refused ones included. Raises `UnreadableTasks`."""
    from benchmarks.rules import CONSULTING_RULES, RULES  # all of them, benchmarks' own included

    proposals = []
    for entry in read_lines(path):
        values = {name: value for name, value in entry.values.items() if name != "made"}
        try:
            proposals.append(from_json(TaskProposal, values))
            for check in proposals[-1].task.checks:
                if check.rule not in RULES and check.rule not in CONSULTING_RULES:
                    raise unknown_name("rule", check.rule, [*RULES, *CONSULTING_RULES])
        except (StoreError, UsageError) as error:
            raise UnreadableTasks(f"{entry.place}: no proposal: {error}") from error
    return proposals
