"""Replies are read strictly: what is not of the schema is named, and nothing is made up."""

import json
from dataclasses import replace

import numpy as np
import pytest

from loop.proposers.material import VisitedPage
from loop.proposers.requests import (
    PROPOSE,
    SiteScope,
    TaskRequest,
    build_proposals,
    build_task,
    fill_system_slots,
    parse_tasks,
    read_object,
)
from loop.proposers.sources import Seed, choose_seeds, from_name, from_pages, from_seeds
from tasks.curriculum import TriedTask
from tasks.task import Task, TaskCheck
from webagent.models.prompt import load_prompt
from webagent.models.replies import UnusableError

HERE = SiteScope(
    "Fossil",
    "http://fossil.test/",
    "fossil@1",
    {"admin": "everything"},
    {"ticket": ("title",)},
    is_reset=True,
)
DRAFT = {"goal": "Close the ticket about links.", "why": "it is a form", "steps": 4}


def test_a_task_is_read_with_all_it_says() -> None:
    checks = [{"evidence": "q", "rule": "equals", "expected": [["Closed"]]}]
    more = {"start": "/ticket", "login": "admin", "skills": ["form"], "from": 2}
    entry = {**DRAFT, **more, "queries": {"q": "SELECT 1"}, "checks": checks}
    [written], _ = parse_tasks({"tasks": [entry]})
    task = build_task(written, HERE, "pages", "fossil/close@1")
    assert task.start_url == "http://fossil.test/ticket"
    assert (task.login, task.site) == ("admin", "fossil@1")
    assert task.checks == (TaskCheck("q", "equals", [["Closed"]]),)
    assert (task.parent, task.skills, task.records) == ("fossil/close@1", ("form",), ("changes",))
    assert task.id.startswith("proposed/pages-")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"goal": 5}, "goal: 5 is not of type 'string'"),
        ({"goal": ""}, "goal"),
        ({"steps": 0}, "steps"),
        ({"steps": "four"}, "steps"),
        ({"direction": "upwards"}, "direction"),
        ({"difficulty": "hard"}, "'difficulty' was unexpected"),
        ({"checks": [{"evidence": "q", "rule": "equals"}]}, "'expected' is a required property"),
        ({"why": None}, "why"),
    ],
)
def test_a_task_of_another_schema_is_named_and_left_out(change, problem):
    found, problems = parse_tasks({"tasks": [DRAFT, {**DRAFT, **change}]})
    assert len(found) == 1
    assert problems[0].startswith("task 2: ") and problem in problems[0]


def test_quotation_marks_that_a_reply_does_not_escape_are_read() -> None:
    reply = json.dumps({"tasks": [DRAFT, {**DRAFT, "goal": "Mark 'Feed, the cat' as 'done'."}]})
    [first, second], problems = read_object(reply.replace("'", '"'), parse_tasks)
    assert (first, problems) == (DRAFT, [])
    assert second["goal"] == 'Mark "Feed, the cat" as "done".'


def test_an_account_that_is_none_is_nobody() -> None:
    written, _ = parse_tasks({"tasks": [{**DRAFT, "login": "none"}]})
    assert build_task(written[0], replace(HERE, accounts={}), "pages").login == ""


@pytest.mark.parametrize("reply", [{}, {"tasks": "none"}, {"tasks": [], "more": 1}, {"goals": []}])
def test_a_reply_of_another_shape_is_unreadable(reply: dict[str, object]) -> None:
    with pytest.raises(UnusableError, match="expected one key"):
        parse_tasks(reply)


def test_the_same_draft_has_the_same_id_and_another_goal_another() -> None:
    written, _ = parse_tasks({"tasks": [DRAFT, DRAFT, {**DRAFT, "goal": "Else."}]})
    ids = [build_task(each, HERE, "pages").id for each in written]
    assert ids[0] == ids[1] != ids[2]


def test_a_draft_names_the_page_that_it_is_from_where_one_of_that_number_was_shown() -> None:
    [request] = from_pages(HERE, [VisitedPage("http://fossil.test/a", "A", "text")], 3)
    made, problems = build_proposals([{**DRAFT, "from": 1}, {**DRAFT, "from": 12}], request, HERE)
    assert made[0].proposal.reason == "it is a form (from the page http://fossil.test/a)"
    assert made[1].proposal.reason == "it is a form" and not problems


@pytest.mark.parametrize(
    ("given", "start"),
    [
        ({"start": "/a"}, "http://fossil.test/a"),
        ({"start": "/invented", "from": 2}, "http://fossil.test/b"),
        ({"start": "5f0c9d27ab61"}, "http://fossil.test/"),
        ({}, "http://fossil.test/"),
    ],
)
def test_a_task_begins_on_a_page_that_was_shown(given: dict[str, object], start: str) -> None:
    pages = [VisitedPage(f"http://fossil.test/{name}", name, "text") for name in "ab"]
    [request] = from_pages(HERE, pages, 3)
    draft = {key: value for key, value in DRAFT.items() if key != "start"}
    [made], _ = build_proposals([{**draft, **given}], request, HERE)
    assert made.proposal.task.start_url == start


def test_no_more_proposals_are_made_than_were_asked_for() -> None:
    [request] = from_name(HERE, 2)
    made, _ = build_proposals([DRAFT] * 5, request, HERE)
    assert len(made) == 2


def attempt(name: str, tries: int, successes: int) -> TriedTask:
    """A tried task."""
    return TriedTask(Task(f"fossil/{name}@1", "http://fossil.test/", name), tries, successes)


def test_what_is_failed_becomes_easier_and_what_is_mastered_harder() -> None:
    tried = [attempt("failed", 8, 0), attempt("half", 8, 4), attempt("mastered", 8, 8)]
    found = choose_seeds(tried, 3, np.random.default_rng(0))
    assert {seed.attempt.task.goal: seed.direction for seed in found} == {
        "failed": "easier",
        "half": "sideways",
        "mastered": "harder",
    }


def test_seeds_are_drawn_by_how_much_is_to_be_learnt_from_them() -> None:
    tried = [attempt("half", 40, 20), attempt("mastered", 40, 40), attempt("hopeless", 40, 0)]
    drawn = [
        choose_seeds(tried, 1, np.random.default_rng(n))[0].attempt.task.goal for n in range(200)
    ]
    assert drawn.count("half") > 150 and len(set(drawn)) == 3


def test_a_task_that_goes_another_way_than_it_was_to_is_none() -> None:
    [request] = from_seeds(HERE, [Seed(attempt("failed", 8, 0), 0.1, "easier")], 3)
    entries = [
        {**DRAFT, "from": 1, "direction": "easier"},
        {**DRAFT, "from": 1, "direction": "harder"},
        {**DRAFT, "from": 2},
    ]
    made, problems = build_proposals(entries, request, HERE)
    assert [each.proposal.task.parent for each in made] == ["fossil/failed@1"]
    assert len(problems) == 2 and "was to be easier" in problems[0]
    assert "does not say which task" in problems[1]


def test_every_section_of_the_prompt_is_filled_by_its_source() -> None:
    prompt = load_prompt(PROPOSE)
    system = prompt.fill("system", **fill_system_slots(HERE, prompt.sections))
    assert "put back afterwards" in system and "- ticket: title" in system
    live = prompt.fill(
        "system", **fill_system_slots(SiteScope("S", "https://s.test/"), prompt.sections)
    )
    assert "SELECT" not in live and "Nothing may be bought" in live
    slots = from_name(HERE, 1)[0].slots
    for section, material in (("pages", "pages"), ("failures", "attempts")):
        assert "{{" not in prompt.fill(section, **slots, **{material: "x"})
    assert "{{" not in prompt.fill("name", **slots)


def test_a_request_for_nothing_is_none() -> None:
    assert from_name(HERE, 0) == []
    assert from_pages(HERE, [], 5) == []
    assert isinstance(from_name(HERE, 1)[0], TaskRequest)
