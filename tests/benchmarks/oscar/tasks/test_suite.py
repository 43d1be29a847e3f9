"""The shop's tasks: plain data that anyone can make, each of its own seed."""

import pytest

from benchmarks.catalogue import Options
from benchmarks.oracles import ORACLES
from benchmarks.oscar.site import people, site
from benchmarks.oscar.site.catalogue import CATEGORIES, products, products_of
from benchmarks.oscar.site.people import EVERYONE, orders
from benchmarks.oscar.tasks import suite
from benchmarks.oscar.tasks.template import TEMPLATES
from benchmarks.rules import RULES
from tasks.suite import UnknownTask

SUITE = suite(Options())
SEEDS = 40


def test_a_template_makes_a_task_that_can_be_checked_of_every_seed() -> None:
    for name in SUITE.names:
        tasks = [SUITE.task(name, index, "train") for index in range(SEEDS)]
        assert len({task.goal for task in tasks}) > 1, name
        for task in tasks:
            assert (task.id, task.site) == (f"oscar/{name}@1", "oscar@1")
            assert task.start_url.startswith(site().address + "/"), name
            assert task.login in ("", *site().accounts), name
            assert {check.rule for check in task.checks} <= set(RULES), name
            known = {"changes", "episode.answer", "episode.ending", *task.queries}
            assert {check.evidence for check in task.checks} <= known, name
            assert "{" not in task.goal, name


def test_the_same_seed_is_the_same_task() -> None:
    again = suite(Options())
    for name in SUITE.names:
        assert SUITE.task(name, 3, "test") == again.task(name, 3, "test")


def test_tasks_for_measuring_differ_from_those_for_training() -> None:
    def goals(split: str) -> set[str]:
        return {SUITE.task(name, index, split).goal for name in SUITE.names for index in range(10)}

    assert len(goals("test") - goals("train")) > 0.6 * len(goals("test"))


def test_there_are_at_least_34_templates_and_4_that_cannot_be_done() -> None:
    impossible = SUITE.groups["infeasible"]
    assert len(SUITE.names) - len(impossible) >= 34
    assert len(impossible) >= 4
    assert len(SUITE.groups["staff"]) >= 15
    assert set(SUITE.groups["staff"]) | set(SUITE.groups["customer"]) == set(SUITE.names)


def test_tasks_go_from_one_step_to_long_ones() -> None:
    steps = sorted(template.steps for template in TEMPLATES.values())
    assert steps[0] <= 2 and steps[-1] >= 15


def test_every_template_has_a_scripted_solution() -> None:
    assert set(SUITE.names) <= set(ORACLES)
    assert all(name.startswith("shop-") for name in SUITE.names)


def test_a_subset_is_a_suite_of_its_own() -> None:
    assert suite(Options(), "infeasible").names == SUITE.groups["infeasible"]


def test_a_name_that_there_is_not_is_named_with_what_comes_close() -> None:
    with pytest.raises(UnknownTask, match="shop-price"):
        SUITE.task("shop-prise", 0)


def test_an_infeasible_task_wants_giving_up_and_nothing_changed() -> None:
    for name in SUITE.groups["infeasible"]:
        task = SUITE.task(name, 0)
        wanted = {(check.evidence, check.rule) for check in task.checks}
        assert wanted == {("episode.ending", "equals"), ("changes", "unchanged")}


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
