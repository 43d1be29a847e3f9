import re

import pytest

from benchmarks.catalogue import Options
from benchmarks.fossil.site import project, site
from benchmarks.fossil.tasks import TEMPLATES, suite
from benchmarks.fossil.tasks.pages import worded_pages
from benchmarks.fossil.tasks.questions import FACTS, options
from benchmarks.oracles import ORACLES
from benchmarks.rules import RULES
from tasks.suite import UnknownTask
from tasks.task import Task

SEEDS = range(12)
SUITE = suite(Options())


def tasks(name: str) -> list[Task]:
    return [SUITE.task(name, seed, "test") for seed in SEEDS]


def test_there_are_fifty_one_templates_that_can_be_done_and_some_that_cannot() -> None:
    assert len([name for name in SUITE.names if "infeasible" not in TEMPLATES[name].skills]) == 51
    assert len(SUITE.groups["infeasible"]) == 7
    assert len(SUITE.groups["long"]) >= 7


def test_a_task_is_the_same_for_the_same_seed_and_complete() -> None:
    for name in SUITE.names:
        assert tasks(name) == tasks(name)
        for task in tasks(name):
            assert task.id == f"fossil/{name}@1" and task.template == task.name == name
            assert task.site == "fossil@1" and task.login in site().accounts, name
            assert task.start_url.startswith(site().address + "/"), name
            assert "{" not in task.goal and "  " not in task.goal, name
            assert {check.rule for check in task.checks} <= RULES.keys(), name
            known = {*task.queries, *(probe.name for probe in task.probes), "changes"}
            of_pages = {c.evidence for c in task.checks if not c.evidence.startswith("episode.")}
            assert "changes" in of_pages <= known, name


def test_seeds_differ_in_words_and_nothing_is_asked_for_that_is_so_already() -> None:
    for name in SUITE.names:
        sampled = tasks(name)
        assert len({task.goal for task in sampled}) > 1, name
        checks = [check for task in sampled for check in task.checks]
        assert all(c.expected for c in checks if c.evidence == "tickets_touched"), name


def test_those_for_training_are_none_of_those_for_measuring() -> None:
    train = SUITE.task("ticket-open", 0, "train")
    assert train.goal != SUITE.task("ticket-open", 0, "test").goal


def test_every_template_has_a_scripted_solution() -> None:
    assert set(SUITE.names) <= set(ORACLES)


def test_an_unknown_template_is_named() -> None:
    with pytest.raises(UnknownTask, match="did you mean ticket-close"):
        SUITE.make("ticket-closes", 0, {})


def test_a_subset_has_only_the_templates_with_that_skill() -> None:
    some = suite(Options(), "forum")
    assert 0 < len(some.names) < len(SUITE.names)
    assert all("forum" in TEMPLATES[name].skills for name in some.names)


def test_facts_that_are_asked_for_stand_in_the_wiki() -> None:
    text = " ".join(page.text for page in project.pages())
    for question, answer in FACTS:
        assert re.search(rf"\b(?:{answer})\b", text, re.IGNORECASE), question
    assert len(options()) >= 10


def test_a_word_to_correct_occurs_once_on_its_page() -> None:
    assert len(worded_pages()) >= 8
    for page, word in worded_pages():
        assert len(re.findall(word, page.text, re.IGNORECASE)) == 1
