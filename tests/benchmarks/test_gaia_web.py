"""GAIA's web tasks: their final answers pass their own rule, others do not."""

import pytest

from benchmarks.rules import RULES
from benchmarks.task_files import UnreadableTasks
from benchmarks.webvoyager import gaia_web


def test_all_published_tasks_load_and_their_answers_pass(benchmarks):
    made = gaia_web.tasks(benchmarks / "gaia_web" / "GAIA_web.jsonl")
    answers = [task.checks[0].expected for task in made]

    assert len(made) == len({task.id for task in made}) == 90
    assert all(RULES["gaia_answer"](answer, answer).value == 1.0 for answer in answers)
    assert not any(RULES["gaia_answer"](f"{answer} or so", answer).value for answer in answers)


def test_a_task_without_its_answer_is_named(tmp_path):
    path = tmp_path / "gaia.jsonl"
    path.write_text('{"id": "level1-0", "web": "https://a.b", "ques": "How many?"}\n')
    with pytest.raises(UnreadableTasks, match="lacks the key 'Final answer'"):
        gaia_web.tasks(path)
