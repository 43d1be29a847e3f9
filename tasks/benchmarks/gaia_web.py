"""GAIA's 90 tasks that need only the web, as WebVoyager's authors chose them, with final answers.

The file is `GAIA_web.jsonl` of https://github.com/MinorJerry/WebVoyager (Apache-2.0). Answers are
compared by GAIA's own rule, which takes the whole answer: the goal asks for nothing else.
"""

from pathlib import Path

from tasks.benchmarks.webvoyager import field_of, lines_of
from tasks.task import Check, Task

MAX_STEPS = 30

ANSWER_FORMAT = (
    "Answer with the value alone: a number without unit or thousands separators unless they are "
    "asked for, as few words as possible without articles or abbreviations, or a list of these "
    "with commas between them."
)


def tasks(path: Path | str, version: str = "1") -> list[Task]:
    """The tasks of the file. Raises `webvoyager.UnreadableTasks` and `OSError`."""
    return [
        Task(
            id=f"gaia-web/{field_of(raw, 'id', where)}@{version}",
            start_url=field_of(raw, "web", where),
            goal=f"{field_of(raw, 'ques', where)}\n\n{ANSWER_FORMAT}",
            max_steps=MAX_STEPS,
            checks=(Check("episode.answer", "gaia_answer", field_of(raw, "Final answer", where)),),
            clock="real",
        )
        for raw, where in lines_of(Path(path))
    ]
