"""VisualWebArena: 910 tasks with pictures, on classified advertisements, a forum and a shop.

The task files are `test_classifieds`, `test_reddit` and `test_shopping.raw.json` in
`config_files/vwa` of github.com/web-arena-x/visualwebarena (MIT); each counts its tasks from 0.
"""

from dataclasses import replace
from pathlib import Path

from benchmarks.catalogue import Options
from benchmarks.task_files import PublishedFile, UnreadableTasks, downloads_folder, find_file
from benchmarks.webarena.reading import make_hosted_suite, read_hosted, read_tasks
from benchmarks.webarena.schema import ScorerRules, Setup
from tasks.suite import Suite
from tasks.task import Task

VERSION = 1
FILES = ("classifieds", "reddit", "shopping")

_PUBLISHED = PublishedFile(
    "visualwebarena",
    "web-arena-x/visualwebarena",
    "89f5af29305c3d1e9f97ce4421462060a70c9a03",
    "config_files/vwa/test_classifieds.raw.json",
    "5d7322cc3bef21c755abc966624530d15121ad73403f64177d2f06014dbfb14f",
)
PUBLISHED = {
    "classifieds": _PUBLISHED,
    "reddit": replace(
        _PUBLISHED,
        inside="config_files/vwa/test_reddit.raw.json",
        sha256="68ea7eaa11b5ec16d71cd4012243a6e956fb7abfefe091c5da6584b9189a8e34",
    ),
    "shopping": replace(
        _PUBLISHED,
        inside="config_files/vwa/test_shopping.raw.json",
        sha256="beb9fc27d90406131f11442cc9518facdefc2c4845b5648f4934921aee4afa90",
    ),
}

SCORER_RULES = ScorerRules(
    "visualwebarena",
    VERSION,
    answer_rules={
        "exact_match": "visualwebarena_exact_match",
        "required_values": "visualwebarena_required_values",
        "must_include": "visualwebarena_must_include",
        "must_exclude": "visualwebarena_must_exclude",
        "one_of": "visualwebarena_one_of",
        "fuzzy_match": "visualwebarena_fuzzy_match",
    },
    page_rules={
        "exact_match": "visualwebarena_page_exact_match",
        "must_include": "visualwebarena_page_must_include",
        "must_exclude": "visualwebarena_page_must_exclude",
        "required_values": "visualwebarena_page_required_values",
        "fuzzy_match": "visualwebarena_page_fuzzy_match",
    },
    url_rules={"EXACT": "visualwebarena_url_exact", "GOLD in PRED": "visualwebarena_url_contains"},
    url_note="EXACT",
    unachievable_rule="visualwebarena_unachievable",
    kinds=("overall_difficulty",),
)


def read(folder: Path, setup: Setup) -> tuple[Task, ...]:
    """Return the tasks of the three files in the folder, as `visualwebarena/shopping-0@1`.

    Raises `UnreadableTasks`.
    """
    files = {name: folder / f"test_{name}.raw.json" for name in FILES}
    if missing := [file.name for file in files.values() if not file.is_file()]:
        raise UnreadableTasks(
            f"{folder} lacks {', '.join(missing)}; expected the three VisualWebArena files"
        )
    return tuple(
        task
        for name, file in files.items()
        for task in read_tasks(file, SCORER_RULES, setup, prefix=name)
    )


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue. Groups are sites, and `easy`, `medium` and `hard` as published.

    Raises `UnreadableTasks`, `TasksMissing` and `AddressError`.
    """
    parts = [(find_file(PUBLISHED[name], options.files), name) for name in FILES]
    tasks = [
        replace(task, images=tuple(_picture(image, options.files) for image in task.images))
        for task in read_hosted(parts, SCORER_RULES, options)
    ]
    return make_hosted_suite(tasks, parts, SCORER_RULES, options)


def _picture(image: str, files: Path | None) -> str:
    """Return where a picture of a goal is: in what the user gave, the downloads, or published."""
    if image.startswith(("http://", "https://")):
        return image
    for place in (*([files] if files else []), downloads_folder() / _PUBLISHED.benchmark):
        if (place / image).is_file():
            return str(place / image)
    return replace(_PUBLISHED, inside=image).address
