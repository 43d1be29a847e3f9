"""Own and proposed tasks are read from files, and what makes no task is named with its place."""

import json
from pathlib import Path

import pytest

from benchmarks.catalogue import Options, TasksMissing, find_benchmark
from benchmarks.proposed import suite
from benchmarks.task_files import UnreadableTasks
from loop.proposers.filters import check_feasibility
from loop.proposers.records import ProposalRecord, write_records
from tasks.suite import UnknownTask
from tasks.task import Refusal, Task, TaskCheck, TaskProposal

GOOD = """
[tasks.hours]
url = "https://shop.example/"
goal = "When is it open?"
max_steps = 4
answer = "9 to 5"
skills = ["search"]

[tasks.order]
url = "https://shop.example/cart"
goal = "Order the cart."
login = "shop"
"""


def test_a_table_is_a_task(tmp_path: Path) -> None:
    file = tmp_path / "tasks.toml"
    file.write_text(GOOD)
    suite = find_benchmark("own").load(Options(files=file))
    hours, order = (suite.task(name, 0) for name in suite.select(["all"]))
    assert (suite.id, suite.is_seeded) == ("own@2", False)
    assert (hours.name, hours.max_steps, hours.skills) == ("hours", 4, ("search",))
    assert hours.checks == (TaskCheck("episode.answer", "same_answer", "9 to 5"),)
    assert (order.start_url, order.login, order.checks) == ("https://shop.example/cart", "shop", ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no tasks"),
        ("[tasks", "not TOML"),
        ("[tasks]\na = 1", r"\[tasks.a\] is 1, expected an object"),
        ('[tasks.a]\nurl = "https://x.test"', "lacks the key 'goal'"),
        ('[tasks.a]\nurl = "x.test"\ngoal = "g"', "expected an http address"),
        ('[tasks.a]\nurl = "http://x"\ngoal = "g"\nmax_steps = 0', "max_steps is 0"),
        ('[tasks.a]\nurl = "http://x"\ngoal = "g"\ncompare = "text"', "beside an answer"),
        (
            '[tasks.a]\nurl = "http://x"\ngoal = "g"\nanswer = "Oslo"\ncompare = "number"',
            "compare is 'number', but 'Oslo' has no number",
        ),
        ('[tasks.a]\nurl = "http://x"\ngaol = "g"', "unknown key 'gaol'; expected goal"),
    ],
)
def test_what_makes_no_task_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "tasks.toml"
    file.write_text(text)
    with pytest.raises(UnreadableTasks, match=said):
        find_benchmark("own").load(Options(files=file))


CHECKS = (TaskCheck("q", "equals", [["Closed", None, 1.5, True]]),)


def written(folder: Path) -> Path:
    """Three proposals: one taken, one refused, one untried."""
    untried = check_feasibility(None)
    assert untried is not None
    lines = []
    for name, refusals in {
        "pages-1": (),
        "manual-2": (Refusal("novelty", "again"),),
        "manual-3": (untried,),
    }.items():
        task = Task(
            f"proposed/{name}@1",
            "http://fossil.test/",
            "Close ticket 5.",
            checks=CHECKS,
            queries={"q": "SELECT 1"},
            records=("changes",),
            site="fossil@1",
            login="admin",
            skills=("form",),
        )
        source = name.partition("-")[0]
        lines.append(
            ProposalRecord(
                TaskProposal(task, source, "why", "e-1", refusals), "m", "hash", "key", 4
            )
        )
    write_records(folder / "proposals.jsonl", lines)
    return folder / "proposals.jsonl"


def test_the_taken_ones_are_a_suite(tmp_path: Path) -> None:
    found = suite(Options(written(tmp_path)), "")
    assert (found.id, found.names) == ("proposed@1", ("pages-1",))
    task = found.task("pages-1", 3, "test")
    assert (task.seed, task.checks, task.login) == (2_000_003, CHECKS, "admin")
    assert task.queries == {"q": "SELECT 1"} and task.skills == ("form",)
    assert found.select(["pages"]) == found.select(["fossil"]) == ("pages-1",)
    assert not found.is_seeded
    with pytest.raises(UnknownTask):
        found.task("pages-9", 0)


def test_what_nobody_has_tried_can_be_tried_and_a_runs_folder_is_as_good_as_the_file(tmp_path):
    assert suite(Options(written(tmp_path)), "untried").names == ("manual-3",)
    assert suite(Options(tmp_path), "").names == ("pages-1",)


def test_without_a_file_it_is_said_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(TasksMissing, match=r"--files tasks\.toml"):
        find_benchmark("own").load(Options())
    with pytest.raises(TasksMissing, match="name it with --files"):
        suite(Options(), "")
    with pytest.raises(UnreadableTasks, match="cannot read"):
        suite(Options(tmp_path), "")
    (tmp_path / "proposals.jsonl").write_text("")
    with pytest.raises(TasksMissing, match="contains no proposal that passed"):
        suite(Options(tmp_path), "")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ("5", "is 5, expected an object"),
        (
            '{"task": {"id": 5, "start_url": "x"}, "source": "pages", "reason": "r"}',
            "Task.id: found 5",
        ),
        ('{"source": "pages", "reason": "r"}', "lacks task"),
        ('{"task": {}, "source": "s", "reason": "r", "goal": "x"}', "has the field goal"),
    ],
)
def test_a_line_that_is_no_proposal_is_named(tmp_path: Path, line: str, problem: str) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(UnreadableTasks) as told:
        suite(Options(path), "")
    assert "line 4" in str(told.value) and problem in str(told.value)


def test_a_plain_proposal_without_who_made_it_is_read(tmp_path: Path) -> None:
    path = written(tmp_path)
    first = json.loads(path.read_text().splitlines()[0])
    first.pop("made")
    path.write_text(json.dumps(first) + "\n")
    assert suite(Options(path), "").names == ("pages-1",)


LINE = {
    "source": "manual",
    "reason": "by hand",
    "task": {
        "id": "notes/add@1",
        "start_url": "http://notes.test/",
        "goal": "Add it.",
        "checks": [{"evidence": "episode.answer", "rule": "same_text", "expected": "x"}],
    },
}


def test_a_byte_order_mark_empty_lines_and_separators_in_a_text_are_passed_over(tmp_path):
    table, lines = tmp_path / "tasks.toml", tmp_path / "tasks.jsonl"
    table.write_text("\ufeff" + GOOD, encoding="utf-8")
    written_out = json.dumps({**LINE, "reason": "by\u2028hand"}, ensure_ascii=False)
    lines.write_text(f"\ufeff{written_out}\r\n\r\n", encoding="utf-8")
    assert find_benchmark("own").load(Options(files=table)).names == ("hours", "order")
    listed = find_benchmark("own").load(Options(files=lines))
    assert (listed.id, listed.names) == ("own@2", ("add",))  # nobody proposed them


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("same_text", "same_txt", "unknown rule 'same_txt'; did you mean same_text"),
        ('"goal"', '"gaol"', "the field gaol, which .* did you mean goal"),
    ],
)
def test_a_misspelt_rule_or_field_is_found_when_the_file_is_read(tmp_path, old, new, said):
    file = tmp_path / "tasks.jsonl"
    file.write_text(json.dumps(LINE).replace(old, new))
    with pytest.raises(UnreadableTasks, match=f"line 1: no proposal: .*{said}"):
        find_benchmark("own").load(Options(files=file))
