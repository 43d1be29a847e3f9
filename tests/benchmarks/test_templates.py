"""Tasks on our own sites: plain data that anyone can make, each of its own seed."""

import re
from importlib import import_module

import pytest

from benchmarks.catalogue import Options, find_benchmark
from benchmarks.fossil.site import project
from benchmarks.fossil.site import site as fossil_site
from benchmarks.fossil.tasks import TEMPLATES as FOSSIL
from benchmarks.fossil.tasks.pages import worded_pages
from benchmarks.fossil.tasks.questions import options
from benchmarks.oracles import ORACLES
from benchmarks.oscar.site import people
from benchmarks.oscar.site import site as oscar_site
from benchmarks.oscar.site.catalogue import CATEGORIES, products, products_of
from benchmarks.oscar.site.people import EVERYONE, orders
from benchmarks.oscar.tasks import TEMPLATES as OSCAR
from benchmarks.rules import RULES
from benchmarks.templates import TemplateSet
from tasks.suite import Suite, UnknownTask

pytestmark = pytest.mark.slow  # makes tasks of every seed

SITES = {"fossil": fossil_site(), "oscar": oscar_site()}
TEMPLATES: dict[str, TemplateSet] = {"fossil": FOSSIL, "oscar": OSCAR}
SEEDS = 40


@pytest.fixture(params=["fossil", "oscar"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def suite(name: str) -> Suite:
    return find_benchmark(name).load()


def test_a_template_makes_a_task_that_can_be_checked_of_every_seed(name: str, suite: Suite) -> None:
    for template in suite.names:
        tasks = [suite.task(template, index, "test") for index in range(SEEDS)]
        assert tasks == [suite.task(template, index, "test") for index in range(SEEDS)]
        assert len({task.goal for task in tasks}) > 1, template
        for task in tasks:
            assert task.id == f"{name}/{template}@1" and task.template == task.name == template
            logins = {*SITES[name].accounts} | ({""} if name == "oscar" else set())
            assert task.site == f"{name}@1" and task.login in logins, template
            assert task.start_url.startswith(f"{SITES[name].address}/"), template
            assert "{" not in task.goal and "  " not in task.goal, template
            assert {check.rule for check in task.checks} <= RULES.keys(), template
            known = {*task.queries, *(probe.name for probe in task.probes), "changes"}
            of_site = {c.evidence for c in task.checks if not c.evidence.startswith("episode.")}
            assert "changes" in of_site <= known, template
            touched = [c for c in task.checks if c.evidence == "tickets_touched"]
            assert all(c.expected for c in touched), "what is asked for is not so already"


def test_tasks_for_measuring_differ_from_those_for_training(suite: Suite) -> None:
    def goals(split: str) -> set[str]:
        return {suite.task(name, index, split).goal for name in suite.names for index in range(10)}

    assert len(goals("test") - goals("train")) > 0.6 * len(goals("test"))


def test_every_template_has_a_scripted_solution(suite: Suite) -> None:
    assert set(suite.names) <= set(ORACLES)


def test_a_name_that_there_is_not_is_named_with_what_comes_close(name: str, suite: Suite) -> None:
    wrong, right = {
        "fossil": ("ticket-closes", "did you mean ticket-close"),
        "oscar": ("shop-prise", "shop-price"),
    }[name]
    with pytest.raises(UnknownTask, match=right):
        suite.make(wrong, 0, {})


def test_an_infeasible_task_wants_giving_up_and_nothing_changed(suite: Suite) -> None:
    for name in suite.groups["infeasible"]:
        wanted = {(check.evidence, check.rule) for check in suite.task(name, 0).checks}
        assert wanted == {("episode.ending", "equals"), ("changes", "unchanged")}


@pytest.mark.parametrize(
    ("name", "group", "least", "most"),
    [
        ("fossil", "infeasible", 7, 7),
        ("fossil", "long", 7, 51),
        ("oscar", "infeasible", 4, 30),
        ("oscar", "staff", 15, 60),
    ],
)
def test_there_are_templates_of_each_kind(name, suite, group, least, most):
    assert least <= len(suite.groups[group]) <= most
    possible = len(suite.names) - len(suite.groups["infeasible"])
    assert possible == 51 if name == "fossil" else possible >= 34
    steps = sorted(template.steps for template in TEMPLATES[name].values())
    assert steps[0] <= 2 and steps[-1] >= 15


def test_groups_of_the_shop_are_who_plays_them() -> None:
    groups = find_benchmark("oscar").load().groups
    assert set(groups["staff"]) | set(groups["customer"]) == set(OSCAR)
    assert all(name.startswith("shop-") for name in OSCAR)


@pytest.mark.parametrize(("name", "group"), [("fossil", "forum"), ("oscar", "infeasible")])
def test_a_subset_is_a_suite_of_its_own(name: str, suite: Suite, group: str) -> None:
    make = import_module(f"benchmarks.{name}.tasks").suite
    assert make(Options(), group).names == suite.groups[group]
    assert all(group in TEMPLATES[name][each].skills for each in suite.groups[group])


def test_facts_that_are_asked_for_stand_in_the_wiki() -> None:
    text = " ".join(page.text for page in project.pages())
    for fact in FOSSIL.choices["facts"]:
        wanted = rf"\b(?:{'|'.join(fact['answers'])})\b"
        assert re.search(wanted, text, re.IGNORECASE), fact["question"]
    assert len(options()) >= 10


def test_a_word_to_correct_occurs_once_on_its_page() -> None:
    assert len(worded_pages()) >= 8
    for page, word in worded_pages():
        assert len(re.findall(word, page.text, re.IGNORECASE)) == 1


def test_titles_and_the_prices_of_a_category_are_unique() -> None:
    assert len({each.title for each in products()}) == len(products()) == 168
    for category in CATEGORIES:
        assert len({each.price for each in products_of(category.name)}) == 8
        assert any(each.stock for each in products_of(category.name))


def test_keys_count_rows_as_they_are_made() -> None:
    assert people.product_key(products()[0]) == people.record_key(products()[0]) == 1
    shirt = next(each for each in products() if each.sizes)
    assert people.product_key(shirt, "Small") == people.product_key(shirt) + 1
    assert people.basket_key(EVERYONE[0]) == len(orders()) + 1
