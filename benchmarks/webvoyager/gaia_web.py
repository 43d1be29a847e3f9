"""GAIA's 90 tasks that need only the web, as WebVoyager's authors chose them, with final answers.

The file is `GAIA_web.jsonl` of https://github.com/MinorJerry/WebVoyager (Apache-2.0). Answers are
compared by GAIA's own rule, which takes the whole answer: the goal asks for nothing else.
"""

from pathlib import Path

from benchmarks.catalogue import Options
from benchmarks.download import Published, found
from benchmarks.task_files import field_of, lines_of, suite_of, typed_of
from tasks.suite import Suite
from tasks.task import Check, Task

VERSION = "1"
MAX_STEPS = 30

FILE = Published(
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
    """The tasks of the file. Raises `UnreadableTasks`."""
    return [
        Task(
            id=f"gaia-web/{field_of(raw, 'id', where)}@{version}",
            start_url=field_of(raw, "web", where),
            goal=f"{field_of(raw, 'ques', where)}\n\n{ANSWER_FORMAT}",
            max_steps=MAX_STEPS,
            checks=(Check("episode.answer", "gaia_answer", field_of(raw, "Final answer", where)),),
            clock="real",
            skills=(f"level-{typed_of(raw, 'Level', int, where)}",),
        )
        for raw, where in lines_of(Path(path))
    ]


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue. Groups are GAIA's levels, as `level-1`.

    Raises `UnreadableTasks` and `TasksMissing`.
    """
    return suite_of(f"gaia-web@{VERSION}", tasks(found(FILE, options.files)))
