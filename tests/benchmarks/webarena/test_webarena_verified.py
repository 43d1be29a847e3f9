"""WebArena-Verified's tasks: ids, addresses and checks; a bad schema is named."""

import copy
import json

import pytest

from benchmarks.catalogue import AddressError
from benchmarks.task_files import UnreadableTasks
from benchmarks.webarena import webarena_verified

ADDRESSES = {"gitlab": ["http://git.test", "http://old.test"], "reddit": "http://forum.test/"}

RAW = {
    "sites": ["gitlab", "reddit"],
    "task_id": 7,
    "intent_template_id": 1,
    "start_urls": ["__GITLAB__/explore", "__REDDIT__"],
    "intent": "Post the number of stars.",
    "revision": 3,
    "eval": [
        {
            "evaluator": "AgentResponseEvaluator",
            "results_schema": {"type": "array", "items": {"type": "number", "format": "currency"}},
            "expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": [3]},
        },
        {
            "evaluator": "NetworkEventEvaluator",
            "last_event_only": False,
            "expected": {"url": "__REDDIT__/post", "http_method": "POST"},
        },
    ],
}


@pytest.fixture
def file(tmp_path):
    """Writes tasks to a file."""

    def write(*raws):
        path = tmp_path / "tasks.json"
        path.write_text(json.dumps(raws))
        return path

    return write


def changed(*place, value):
    """The task with the value put at a place in it."""
    raw = copy.deepcopy(RAW)
    *way, last = place
    inner = raw
    for step in way:
        inner = inner[step]
    inner[last] = value
    return raw


def test_a_task_has_its_revision_addresses_and_checks(file):
    (task,) = webarena_verified.tasks(ADDRESSES, file(RAW))
    sites = {"gitlab": ["http://git.test", "http://old.test"], "reddit": ["http://forum.test/"]}

    assert task.id == "webarena-verified/7@3"
    assert task.start_url == "http://git.test/explore"
    assert task.goal.startswith("Post the number of stars.\n")
    assert task.records == ("network",)
    assert [(check.evidence, check.rule) for check in task.checks] == [
        ("episode.answer", "agent_response"),
        ("network", "network_event"),
    ]
    assert task.checks[0].expected == {
        "task_type": "retrieve",
        "status": "SUCCESS",
        "retrieved_data": [3],
        "results_schema": RAW["eval"][0]["results_schema"],
        "sites": sites,
    }
    assert task.checks[1].expected == {
        "expected": RAW["eval"][1]["expected"],
        "last_event_only": False,
        "task_type": "retrieve",
        "sites": sites,
    }


def test_tasks_are_chosen_by_number_and_a_subset_file_has_numbers(file, tmp_path):
    path = file(RAW, changed("task_id", value=8))
    subset = tmp_path / "hard.json"
    subset.write_text(json.dumps({"task_ids": [8]}))
    only = webarena_verified.hard_subset(subset)

    assert [task.name for task in webarena_verified.tasks(ADDRESSES, path, only=only)] == ["8"]
    with pytest.raises(ValueError, match=r"no tasks \[9\]"):
        webarena_verified.tasks(ADDRESSES, path, only=[9])


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (changed("revision", value="3"), "task_id 7.*revision is '3', expected a whole number"),
        (changed("sites", value=["github"]), "sites is .*, expected some of gitlab"),
        (changed("start_urls", value=[]), r"start_urls is \[\], expected an address"),
        (changed("eval", value=[RAW["eval"][1]]), "no AgentResponseEvaluator"),
        (changed("eval", 0, "evaluator", value="Other"), "eval 0: evaluator is 'Other'"),
        (changed("eval", 0, "expected", value=None), "eval 0, expected is None, expected an"),
        (
            changed("eval", 0, "expected", "task_type", value="look"),
            "is 'look', expected RETRIEVE or",
        ),
        (changed("eval", 1, "expected", value={}), "eval 1, expected lacks the key 'url'"),
        (
            changed("eval", 0, "results_schema", "items", "format", value="money"),
            r"eval 0: results_schema.items: format is 'money'",
        ),
        (changed("eval", 1, "post_data_schema", value=[3]), r"post_data_schema is \[3\]"),
        ("a task", "is 'a task', expected an object"),
    ],
)
def test_a_task_of_another_form_is_named(file, raw, said):
    with pytest.raises(UnreadableTasks, match=said):
        webarena_verified.tasks(ADDRESSES, file(raw))


def test_a_file_that_is_no_list_of_tasks_is_named(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text("{")
    with pytest.raises(UnreadableTasks, match="is not JSON"):
        webarena_verified.tasks(ADDRESSES, path)
    path.write_text("{}")
    with pytest.raises(UnreadableTasks, match="holds no list"):
        webarena_verified.tasks(ADDRESSES, path)
    with pytest.raises(UnreadableTasks, match="no list of task_ids"):
        webarena_verified.hard_subset(path)


def test_a_number_twice_and_a_missing_address_are_named(file):
    with pytest.raises(UnreadableTasks, match="twice"):
        webarena_verified.tasks(ADDRESSES, file(RAW, RAW))
    with pytest.raises(AddressError, match="needs the addresses of reddit"):
        webarena_verified.tasks({"gitlab": "http://git.test"}, file(RAW))
