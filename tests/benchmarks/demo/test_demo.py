"""The demo's tasks: what is evaluated is never practised; the checks know what was wanted."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from benchmarks.catalogue import Options
from benchmarks.demo.tasks import _LISTS, NOTEBOOK, site, suite
from benchmarks.rules import changes_are

ROOT = Path(__file__).parents[3]
DEMO = suite(Options())


def goals(name: str, split: str) -> set[str]:
    """What is asked for in the first hundred seeds."""
    return {DEMO.task(name, index, split).goal for index in range(100)}


@pytest.mark.parametrize("name", NOTEBOOK)
def test_notes_of_the_evaluation_are_never_practised(name: str) -> None:
    practised, evaluated = goals(name, "train"), goals(name, "test")
    assert len(practised) >= 6 and len(evaluated) >= 6
    assert not practised & evaluated
    assert DEMO.task(name, 3, "test") == DEMO.task(name, 3, "test")


def test_the_tasks_name_the_notes_that_the_site_begins_with() -> None:
    assert runpy.run_path(str(ROOT / "docs/example/notes.py"))["LISTS"] == _LISTS
    assert site().id == "notebook@1" and site().folder == ROOT / "docs/example"


CHANGES: dict[str, Any] = {
    "notebook-add": {"added": [{"id": 13, "list": "Home", "text": "NEW", "done": 0}]},
    "notebook-add-to-list": {"added": [{"id": 13, "list": "LIST", "text": "NEW", "done": 0}]},
    "notebook-finish": {
        "changed": [
            {"before": {"id": 1, "text": "NEW", "done": 0}, "after": {"text": "NEW", "done": 1}}
        ]
    },
    "notebook-delete": {"removed": [{"id": 1, "list": "Home", "text": "NEW", "done": 0}]},
}


@pytest.mark.parametrize("name", NOTEBOOK)
def test_a_task_is_done_by_its_own_change_alone(name: str) -> None:
    task = DEMO.task(name, 0)
    _, text, *rest = task.goal.split('"')
    listed = rest[1] if len(rest) > 1 else "Home"

    def found(text: str) -> Any:
        made = json.dumps(CHANGES[name]).replace("NEW", text).replace("LIST", listed)
        return {"note": json.loads(made)}

    (check,) = task.checks
    assert changes_are(found(text), check.expected).value == 1.0
    assert changes_are(found("Another note"), check.expected).value == 0.0
    assert changes_are({}, check.expected).value == 0.0
