"""WebVoyager and the tasks of GAIA: what a rule checks, what a model, what only a judge."""

import json
from collections import Counter

import pytest

from benchmarks.rules import CONSULTING_RULES, RULES
from benchmarks.task_files import UnreadableTasks
from benchmarks.webvoyager import gaia_web
from benchmarks.webvoyager import tasks as webvoyager
from benchmarks.webvoyager.tasks import is_plain, reference_of


def write(folder, *answers, site="Google Map", notice="busy"):
    """A task file and one of references, with as many tasks as answers."""
    tasks, references = folder / "tasks.jsonl", folder / "references.json"
    lines = [
        {"web_name": site, "id": f"{site}--{at}", "ques": f"Find {at}", "web": "https://a.b/"}
        for at, _ in enumerate(answers)
    ]
    tasks.write_text("\n".join(map(json.dumps, lines)) + "\n")
    listed = [{"id": at, "type": kind, "ans": text} for at, (kind, text) in enumerate(answers)]
    references.write_text(json.dumps({site: {"notice": notice, "answers": listed}}))
    return tasks, references


def test_each_kind_of_reference_has_its_way_of_being_checked(tmp_path):
    answers = [
        ("golden", "Hollywood Boulders"),
        ("golden", "48GB"),
        ("golden", "Use the menu at the top, then the list."),
        ("possible", "Be Local"),
        ("possible", "<summary> (about health)"),
    ]
    made = webvoyager.tasks(*write(tmp_path, *answers))
    checks = [[(check.rule, check.expected) for check in task.checks] for task in made]

    assert [task.id for task in made[:2]] == [
        "webvoyager/Google-Map--0@1",
        "webvoyager/Google-Map--1@1",
    ]
    assert checks == [
        [("golden_answer", "Hollywood Boulders")],
        [("golden_answer", "48GB")],
        [("reference_answer", {"reference": answers[2][1], "kind": "golden", "notice": "busy"})],
        [("reference_answer", {"reference": "Be Local", "kind": "possible", "notice": "busy"})],
        [],
    ]


def test_without_references_only_a_judge_can_say_and_can_be_given_a_hint(tmp_path):
    tasks, references = write(tmp_path, ("possible", "Be Local"))
    (task,) = webvoyager.tasks(tasks)

    assert task.checks == ()
    assert reference_of(references, task)["reference"] == "Be Local"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Jrue Holiday", True),
        ("2007", True),
        ("approximately 33038", True),
        ("resource-watch/resource-watch", True),
        ("There are trade-in offers", False),
        ("7 + 3 (-4 + x)^3", False),
    ],
)
def test_only_numbers_words_and_names_are_for_a_rule(text, plain):
    assert is_plain(text) is plain


@pytest.mark.parametrize(
    ("tasks", "references", "said"),
    [
        ("{", None, "line 1 is not JSON"),
        ("[]", None, r"line 1 is \[\], expected an object"),
        ('{"id": "a"}', None, "lacks the key 'ques'"),
        ('{"id": "a--0", "ques": "q", "web": "w"}', "{}", "no reference for 'a--0'"),
        ("", "[]", r"r\.json is \[\], expected an object"),
        ("", "{", "is not JSON"),
        ("", '{"a": {}}', "a lacks the key 'answers'"),
        ("", '{"a": {"answers": [{"id": 0, "type": "gold", "ans": "x"}]}}', "type is 'gold'"),
    ],
)
def test_files_of_another_form_are_named(tmp_path, tasks, references, said):
    (tmp_path / "t.jsonl").write_text(tasks)
    (tmp_path / "r.json").write_text(references or "{}")
    with pytest.raises(UnreadableTasks, match=said):
        webvoyager.tasks(tmp_path / "t.jsonl", (tmp_path / "r.json") if references else None)


@pytest.mark.parametrize(
    ("name", "count", "version"),
    [("WebVoyager_data.jsonl", 643, "1"), ("WebVoyager_data_08312025.jsonl", 595, "08312025")],
)
def test_all_published_tasks_load_with_their_references(benchmarks, name, count, version):
    folder = benchmarks / "webvoyager"
    made = webvoyager.tasks(folder / name, folder / "reference_answer.json")
    rules = Counter(check.rule for task in made for check in task.checks)

    assert len(made) == len({task.id for task in made}) == count
    assert {task.id.rsplit("@")[-1] for task in made} == {version}
    assert (
        rules.keys()
        == {"golden_answer", "reference_answer"}
        <= RULES.keys() | CONSULTING_RULES.keys()
    )
    assert rules["golden_answer"] > 25


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
