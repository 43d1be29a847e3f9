"""Online-Mind2Web's tasks: levels and sites, nothing that a rule could check."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import online_mind2web
from benchmarks.task_files import UnreadableTasks

RAW = {
    "task_id": "ab12",
    "confirmed_task": "Find the opening hours.",
    "website": "https://www.shop.test/",
    "reference_length": 8,
    "level": "medium",
}


def written(folder: Path, **fields: Any) -> Path:
    """A file with one task, some fields of it changed."""
    path = folder / "Online_Mind2Web_01022026.json"
    path.write_text(json.dumps([{**RAW, **fields}]))
    return path


def test_a_task_is_left_to_a_judge_and_has_site_and_level(tmp_path: Path) -> None:
    (task,) = online_mind2web.tasks(written(tmp_path))

    assert (task.id, task.goal) == ("online-mind2web/ab12@01022026", "Find the opening hours.")
    assert (task.start_url, task.skills) == ("https://www.shop.test/", ("shop.test", "medium"))
    assert task.checks == ()
    assert task.clock == "real"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"level": "extreme"}, "task 0: level is 'extreme', expected one of easy, medium, hard"),
        ({"website": "shop"}, "website is 'shop', expected an address"),
        ({"confirmed_task": ""}, "confirmed_task is '', expected text"),
        ({"reference_length": "8"}, "reference_length is '8', expected a whole number"),
    ],
)
def test_a_field_of_another_form_is_named(fields, said, tmp_path):
    with pytest.raises(UnreadableTasks, match=said):
        online_mind2web.tasks(written(tmp_path, **fields))
