"""Online-Mind2Web: 300 tasks on live sites, easy to hard, which only a judge scores.

The file is `Online_Mind2Web_06042025.json` of https://github.com/microsoft/fara, whose repository
is MIT. The authors have replaced tasks since; a later file of the same form has its own version.
"""

from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.catalogue import Benchmark, Options
from benchmarks.task_files import PublishedFile, date_in_name, find_file, make_suite, read_list
from tasks.suite import Suite
from tasks.task import Task

BENCHMARKS = {"online-mind2web": Benchmark("136 live sites, scored by a judge", 300, __name__)}

MAX_STEPS = 50
"""As many screenshots as the published judge looks at; the tasks themselves name no limit."""

LEVELS = ("easy", "medium", "hard")

FILE = PublishedFile(
    "online_mind2web",
    "microsoft/fara",
    "3f3f1fd82cc2769a6630932d1670bac7349f4a42",
    "webeval/data/om2w/Online_Mind2Web_06042025.json",
    "e4bb090a72d8d57d300f358df906ffc0f6838750bc9e8112354e7a81a3c29c07",
)


def tasks(path: Path | str, version: str = "") -> list[Task]:
    """Return the tasks of a file; the version is the date in its name where none is given.

    Raises `UnreadableTasks`.
    """
    file = Path(path)
    version = version or date_in_name(file)
    made = []
    for entry in read_list(file):
        address, level = entry.words("website"), entry.words("level")
        host = urlsplit(address).hostname
        if not host:
            raise entry.wrong("website", "an address")
        if level not in LEVELS:
            raise entry.wrong("level", f"one of {', '.join(LEVELS)}")
        entry.integer("reference_length")
        made.append(
            Task(
                id=f"online-mind2web/{entry.words('task_id')}@{version}",
                start_url=address,
                goal=entry.words("confirmed_task"),
                max_steps=MAX_STEPS,
                clock="real",
                skills=(host.removeprefix("www."), level),
            )
        )
    return made


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue. Groups are sites, and `easy`, `medium` and `hard` as published.

    Raises `UnreadableTasks` and `TasksMissing`.
    """
    file = find_file(FILE, options.files)
    return make_suite(f"online-mind2web@{date_in_name(file)}", tasks(file))
