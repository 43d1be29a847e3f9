"""GAIA's 90 tasks that need only the web, as WebVoyager's authors chose them, with final answers.

The file is `GAIA_web.jsonl` of https://github.com/MinorJerry/WebVoyager (Apache-2.0). Answers are
compared by GAIA's own rule, which takes the whole answer: the goal asks for nothing else.
"""

from pathlib import Path

from benchmarks.catalogue import Options
from benchmarks.task_files import PublishedFile, find_file, make_suite, read_lines
from tasks.suite import Suite
from tasks.task import Task, TaskCheck

VERSION = "1"
MAX_STEPS = 30

FILE = PublishedFile(
    "gaia_web",
    "MinorJerry/WebVoyager",
    "5a7896738c10bfb8b9edccce6bb0e0411f8ae569",
    "data/GAIA_web.jsonl",
    "3b801188b17cb07d909dee66edffd1500759bc9faed107d6f3475a853b6fdbf3",
)

ANSWER_FORMAT = (
    "Answer with the value alone: a number without unit or thousands separators unless they are "
    "asked for, as few words as possible without articles or abbreviations, or a list of these "
    "with commas between them."
)


def tasks(path: Path | str, version: str = VERSION) -> list[Task]:
    """Return the tasks of the file. Raises `UnreadableTasks`."""
    return [
        Task(
            id=f"gaia-web/{entry.words('id')}@{version}",
            start_url=entry.words("web"),
            goal=f"{entry.words('ques')}\n\n{ANSWER_FORMAT}",
            max_steps=MAX_STEPS,
            checks=(TaskCheck("episode.answer", "gaia_answer", entry.words("Final answer")),),
            clock="real",
            skills=(f"level-{entry.integer('Level')}",),
        )
        for entry in read_lines(Path(path))
    ]


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue. Groups are GAIA's levels, as `level-1`.

    Raises `UnreadableTasks` and `TasksMissing`.
    """
    return make_suite(f"gaia-web@{VERSION}", tasks(find_file(FILE, options.files)))
