"""WebVoyager: 643 tasks on 15 live sites with reference answers, and its refreshed selection.

The files are those of https://github.com/MinorJerry/WebVoyager (Apache-2.0),
`WebVoyager_data.jsonl` and `reference_answer.json`; a refreshed task file of the same form has its
own version. Pages are live: most references are `possible`, examples of what could be found when
they were written, and even a golden one may have changed since. A golden reference that a rule can
compare is checked by rule, one that a model has to compare by `reference_answer`; references that
stand for whatever the page says (`<summary>`, ...) are left to a judge. `reference_of` gives a
judge the hint.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.catalogue import Options
from benchmarks.task_files import (
    FileEntry,
    PublishedFile,
    UnreadableTasks,
    date_in_name,
    find_beside,
    find_file,
    make_suite,
    read_json,
    read_lines,
)
from tasks.suite import Suite
from tasks.task import Task, TaskCheck

MAX_STEPS = 15
"""As in the published runs."""

FILE = PublishedFile(
    "webvoyager",
    "MinorJerry/WebVoyager",
    "5a7896738c10bfb8b9edccce6bb0e0411f8ae569",
    "data/WebVoyager_data.jsonl",
    "69b19fd86c23f1a500244a3724e039aa7ca6a1223d03e11eb10e308d4f11c488",
)
REFERENCES = replace(
    FILE,
    inside="data/reference_answer.json",
    sha256="5473818408d8a19960c4f820c1e5721d218b87b547499d7281c2a0fc4267b0c4",
)
REFRESHED = PublishedFile(
    "webvoyager",
    "microsoft/fara",
    "3f3f1fd82cc2769a6630932d1670bac7349f4a42",
    "webeval/data/webvoyager/WebVoyager_data_08312025.jsonl",
    "5c8cb175fdac7a5ee7a2fa8d15de5dad96c617d86f2cb011853997ee23626b9f",
)

_PLACEHOLDER = re.compile(r"<[^>]+>|^-+$|\.\.\.")
_PLAIN_NUMBER = re.compile(
    r"(?:(?:approximately|around|about) )?[$€£]?[\d,]+(?:\.\d+)?(?: ?(?:%|[A-Za-z]{1,4}))?"
)
_NAME = re.compile(r"\S+|(?:[A-Z0-9][\w.&'’-]*)(?: [A-Z0-9][\w.&'’-]*){1,4}")
_COMPANY = re.compile(r",? (?:Inc|Ltd|LLC|Corp)\.?$")


def tasks(path: Path | str, references: Path | str | None = None, version: str = "") -> list[Task]:
    """Return the tasks of a task file, checked by the references where a file of them is given.

    The version is the eight-digit date in the file's name (month, day, year in the published one)
    where none is given, else 1. Raises `UnreadableTasks`.
    """
    file = Path(path)
    version = version or date_in_name(file)
    known = _references(Path(references)) if references is not None else {}
    made = []
    for entry in read_lines(file):
        name, goal = entry.words("id"), entry.words("ques")
        reference = known.get(name)
        if references is not None and reference is None:
            raise UnreadableTasks(
                f"{entry.place}: there is no reference for {name!r} in {references}"
            )
        checks: tuple[TaskCheck, ...] = ()
        # A placeholder says only what sort of thing to find.
        if reference and not _PLACEHOLDER.search(reference["reference"]):
            text = _COMPANY.sub("", reference["reference"].strip()).rstrip(".")
            check = TaskCheck("episode.answer", "reference_answer", dict(reference))
            if reference["kind"] == "golden" and is_plain(text):
                check = TaskCheck("episode.answer", "golden_answer", text)
            checks = (check,)
        made.append(
            Task(
                id=f"webvoyager/{name.replace(' ', '-')}@{version}",
                start_url=entry.words("web"),
                goal=goal,
                max_steps=MAX_STEPS,
                checks=checks,
                clock="real",
                skills=(name.rpartition("--")[0].replace(" ", "-"),),
            )
        )
    return made


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue, `2025` being the refreshed selection. Groups are sites.

    Raises `UnreadableTasks` and `TasksMissing`.
    """
    file = find_file(REFRESHED if subset else FILE, options.files)
    made = tasks(file, find_beside(REFERENCES, options.files))
    return make_suite(f"webvoyager@{date_in_name(file)}", made)


def reference_of(references: Path | str, task: Task) -> Mapping[str, str]:
    """Return what people wrote down for a task: `reference`, `kind` and `notice`; a hint for a
    judge.

    Raises `UnreadableTasks`, and `KeyError` where there is none.
    """
    known = {name.replace(" ", "-"): one for name, one in _references(Path(references)).items()}
    return known[task.name]


def is_plain(reference: str) -> bool:
    """Return whether a golden reference is one number, word or name: for a rule to compare."""
    return any(form.fullmatch(reference) for form in (_PLAIN_NUMBER, _NAME))


def _references(file: Path) -> dict[str, Mapping[str, str]]:
    """Return the references by task id, such as `Allrecipes--0`."""
    sites = FileEntry.of(read_json(file), f"{file}")
    known: dict[str, Mapping[str, str]] = {}
    for site in sites.values:
        listed = sites.inner(site)
        listed.items("answers")  # it has to be there
        for answer in listed.inners("answers"):
            kind = answer.words("type")
            if kind not in ("golden", "possible"):
                raise answer.wrong("type", "golden or possible")
            known[f"{site}--{answer.values.get('id')}"] = {
                "reference": answer.words("ans"),
                "kind": kind,
                "notice": str(listed.values.get("notice") or "").strip(),
            }
    return known
