"""Mind2Web-Live's tasks: every key node becomes a check that a rule reads."""

import json
from collections import Counter

import pytest

from benchmarks.mind2web_live import tasks as mind2web_live
from benchmarks.rules import CONSULTING_RULES, RULES
from benchmarks.task_files import UnreadableTasks
from tasks.task import TaskCheck

URL = {
    "match_function_name": "url_exactly_match",
    "content": {"key": "store", "reference_answer": "2630", "url": "https://a.b/?store=2630"},
}
PATH = {
    "match_function_name": "element_path_exactly_match",
    "method": "selector",
    "content": {"reference_answer": "#a > b ", "netloc": "imdb", "url": "https://imdb.com"},
}
VALUE = {
    "match_function_name": "element_value_semantic_match",
    "content": {"reference_answer": "Decide it", "netloc": "ua", "path": "#m", "url": ""},
}


def write(folder, nodes, name="tasks_20240101.json", **fields):
    """A task file with one task."""
    raw = {"index": 3, "task": "Do it", "reference_task_length": 9, "evaluation": nodes, **fields}
    path = folder / name
    path.write_text(json.dumps([raw]))
    return path


def test_key_nodes_become_checks(tmp_path):
    (task,) = mind2web_live.tasks(write(tmp_path, [URL, PATH, VALUE]))

    assert (task.id, task.goal, task.max_steps) == ("mind2web-live/3@20240101", "Do it", 14)
    assert task.records == ("elements",)
    assert task.checks == (
        TaskCheck(
            "episode.urls", "key_node_url", {"reference": "2630", "key": "store", "exact": True}
        ),
        TaskCheck("elements", "key_node_element", {"netloc": "imdb", "selector": "#a > b "}),
        TaskCheck(
            "elements",
            "key_node_value_means",
            {"netloc": "ua", "reference": "Decide it", "selector": "#m"},
        ),
    )


def test_elements_are_noted_only_where_a_node_needs_them(tmp_path):
    (task,) = mind2web_live.tasks(write(tmp_path, [URL]), version="x", start_url="http://a.b")

    assert (task.records, task.id, task.start_url) == ((), "mind2web-live/3@x", "http://a.b")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (
            [{**URL, "match_function_name": "url_match"}],
            "'url_match', expected one of url_included_match",
        ),
        ([{**URL, "content": {}}], "lacks the key 'reference_answer'"),
        ([{**PATH, "method": "xpath"}], "method is 'xpath', expected selector"),
        ([{**PATH, "content": {"reference_answer": "x"}}], "lacks the key 'netloc'"),
        (["node"], "evaluation 0 is 'node', expected an object"),
        (3, "evaluation is 3"),
    ],
)
def test_a_node_of_another_form_is_named(tmp_path, nodes, said):
    with pytest.raises(UnreadableTasks, match=said):
        mind2web_live.tasks(write(tmp_path, nodes))


def test_a_file_of_another_form_is_named(tmp_path):
    path = tmp_path / "tasks.json"
    for text, said in (("[", "is not JSON"), ("{}", "no list of tasks")):
        path.write_text(text)
        with pytest.raises(UnreadableTasks, match=said):
            mind2web_live.tasks(path)


def test_all_published_tasks_load_and_rules_know_their_checks(benchmarks):
    made = mind2web_live.tasks(benchmarks / "mind2web_live" / "mind2web-live_test_20241024.json")
    rules = Counter(check.rule for task in made for check in task.checks)

    assert len(made) == len({task.id for task in made}) == 104
    assert rules.total() == 443
    assert rules.keys() <= RULES.keys() | CONSULTING_RULES.keys()
