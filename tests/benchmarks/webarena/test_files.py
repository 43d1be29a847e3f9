"""The task files of WebArena and its kin: all of them read, and what is wrong in one is named."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.catalogue import AddressError
from benchmarks.rules import CONSULTING_RULES, RULES
from benchmarks.task_files import UnreadableTasks
from benchmarks.webarena import visualwebarena, webarena, webchorearena
from benchmarks.webarena.schema import Setup
from tasks.task import Probe, Task
from tests.benchmarks.webarena.published import ADDRESSES as SITES
from tests.benchmarks.webarena.published import read
from webagent.serialize import from_json, to_json

COUNTS = {"webarena": 812, "visualwebarena": 910, "webchorearena": 532}


def written(folder: Path, evaluation: dict[str, Any] | None = None, **fields: Any) -> Path:
    """A file with one task."""
    task = {
        "task_id": 7,
        "sites": ["shopping"],
        "start_url": "__SHOPPING__",
        "intent": "Find it",
        "eval": {
            "eval_types": ["string_match"],
            "reference_answers": {"exact_match": "it"},
            **(evaluation or {}),
        },
        **fields,
    }
    path = folder / "tasks.json"
    path.write_text(json.dumps([task]), encoding="utf-8")
    return path


def page(locator: str = "", url: str = "last", **target: Any) -> dict[str, Any]:
    """An `eval` that looks at one part of a page."""
    target = {"required_contents": {"must_include": ["x"]}, **target}
    return {
        "eval_types": ["program_html"],
        "program_html": [{"url": url, "locator": locator, **target}],
    }


def probes(folder: Path, evaluation: dict[str, Any]) -> tuple[Probe, ...]:
    """The probes of a task with this `eval`."""
    return webarena.read(written(folder, evaluation), Setup(SITES))[0].probes


@pytest.mark.parametrize("benchmark", COUNTS)
def test_every_task_is_read_and_every_check_can_be_made(benchmark: str, benchmarks: Path) -> None:
    tasks = read(benchmark, benchmarks, Setup(SITES))

    assert len(tasks) == len({task.id for task in tasks}) == COUNTS[benchmark]
    for task in tasks:
        names = [probe.name for probe in task.probes]
        assert len(names) == len(set(names))
        assert task.checks
        for check in task.checks:
            assert check.rule in RULES or check.rule in CONSULTING_RULES
            assert check.evidence in (*names, "episode.said", "episode.url")
        used = {check.evidence for check in task.checks} | {
            name
            for text in (*(probe.url for probe in task.probes), str(task.checks))
            for name in names
            if name in text
        }
        assert used >= set(names), "a probe that nothing needs"
        assert task.start_url.startswith("http")
        assert "__" not in task.start_url
        assert from_json(Task, to_json(task)) == task


def test_what_each_scorer_compares_is_counted_as_in_the_files(benchmarks: Path) -> None:
    counted = {
        benchmark: Counter(
            check.rule.split("_", 1)[1]
            for task in read(benchmark, benchmarks)
            for check in task.checks
        )
        for benchmark in COUNTS
    }

    assert counted["webarena"] == {
        "must_include": 176,
        "fuzzy_match": 82,
        "unachievable": 36,
        "exact_match": 45,
        "url_match": 205,
        "page_must_include": 463,
        "page_exact_match": 188,
    }
    assert counted["visualwebarena"]["picture_answer"] == 31
    assert counted["visualwebarena"]["same_picture"] == 20
    assert counted["visualwebarena"]["pictures"] == 4
    assert counted["webchorearena"]["must_include"] == 254


def test_ids_name_benchmark_file_number_and_version(benchmarks: Path) -> None:
    assert read("webarena", benchmarks)[0].id == "webarena/0@1"
    assert read("visualwebarena", benchmarks)[0].id == "visualwebarena/classifieds-0@1"
    assert read("webchorearena", benchmarks)[0].id == "webchorearena/10000@1"


def test_tasks_of_sites_that_are_not_there_are_left_out(benchmarks: Path) -> None:
    shop = Setup({"shopping": SITES["shopping"]}, only=("shopping",))
    assert len(read("webarena", benchmarks, shop)) == 187


def test_several_start_pages_pictures_and_a_view_of_its_own_are_kept(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        start_url="__SHOPPING__/a |AND| __REDDIT__/b",
        image=["a.png", "b.png"],
        viewport_size={"width": 430},
    )
    (task,) = webarena.read(path, Setup(SITES))

    assert task.start_url == "http://shopping.test/a"
    assert task.further_urls == ("http://reddit.test/b",)
    assert task.images == ("a.png", "b.png")
    assert task.viewport == (430, 720)


def test_webchorearena_can_start_nearer(tmp_path: Path) -> None:
    path = written(tmp_path, start_url_lite="__SHOPPING__/near")
    assert webchorearena.read(path, Setup(SITES), lite=True)[0].start_url.endswith("/near")


def test_the_latest_order_is_asked_of_the_shop_and_its_page_opened_after_that(tmp_path):
    order, found = probes(tmp_path, page("document.title", "func:shopping_get_latest_order_url()"))

    assert (order.name, order.url) == ("order_0", "http://shopping.test")
    assert "/rest/V1/orders?" in order.script
    assert (found.name, found.url) == ("found_0", "{order_0}")


def test_a_post_is_opened_at_the_address_that_the_last_page_gives(tmp_path: Path) -> None:
    post, found = probes(tmp_path, page("", "func:reddit_get_post_url('__last_url__')"))

    assert (post.name, post.url) == ("post_0", "")
    assert (found.takes, found.url) == ("source", "{post_0}")


def test_what_two_checks_need_is_looked_at_once(tmp_path: Path) -> None:
    both = page("document.title", "__SHOPPING__/a")
    both["program_html"] *= 2
    (task,) = webarena.read(written(tmp_path, both), Setup(SITES))

    assert len(task.probes) == 1
    assert [check.evidence for check in task.checks] == ["found_0", "found_0"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"intent": 3}, r"tasks\.json: task 7: intent is 3, expected text"),
        ({"start_url": None}, "task 7: start_url is None, expected text"),
        ({"eval": []}, r"task 7, eval is \[\], expected an object"),
        ({"task_id": "x"}, "task 0: task_id is 'x', expected a whole number"),
    ],
)
def test_a_wrong_field_is_named_with_file_task_and_key(fields, message, tmp_path):
    with pytest.raises(UnreadableTasks, match=message):
        webarena.read(written(tmp_path, **fields), Setup(SITES))


def test_a_site_without_an_address_is_named(tmp_path: Path) -> None:
    with pytest.raises(AddressError, match="no address for __GITHUB__; expected one for 'github'"):
        webarena.read(written(tmp_path, start_url="__GITHUB__"), Setup(SITES))
    asks = page("document.title", "func:shopping_get_latest_order_url()")
    with pytest.raises(AddressError, match="asks the shop; expected 'shopping' among the sites"):
        webarena.read(written(tmp_path, asks, start_url="http://a.test"), Setup({}))


@pytest.mark.parametrize(
    ("evaluation", "message"),
    [
        ({"eval_types": ["guess"]}, r"eval: eval_types is .* expected some of string_match"),
        ({"eval_types": []}, "eval_types"),
        ({"surprise": 1}, "task 7, eval has an unknown key 'surprise'"),
        ({"reference_answers": {"almost": "x"}}, "reference_answers has an unknown key 'almost'"),
        ({"reference_answers": {}}, "reference_answers is {}, expected some of exact_match"),
        ({"reference_answers": {"must_include": "x"}}, "must_include is .* a list of texts"),
        (
            {"reference_answers": {"must_include": ["x"], "fuzzy_match": "N/A"}},
            "expected N/A alone",
        ),
        ({"eval_types": ["url_match"], "url_note": "NEAR"}, "url_note is 'NEAR'"),
        ({"eval_types": ["url_match"]}, "lacks the key 'reference_url'; expected text"),
        (page("window.title"), "locator is 'window.title', expected document"),
        (page("func:__import__('os').system('ls')"), "expected a call of a helper"),
        (page("func:shopping_get_secret('x')"), "expected one of the helpers"),
        (page("func:get_query_text(__page__)"), "expected one of the helpers"),
        (page(url="func:shopping_get_latest_order_url('x')"), "url is .* expected shopping_get_l"),
        (page(url="nowhere"), "url is 'nowhere', expected an address"),
        (page(required_contents={"matches": "x"}), "unknown key 'matches'"),
        (page(required_contents={}), "required_contents is {}, expected one of"),
    ],
)
def test_a_check_that_cannot_be_made_is_refused_when_the_file_is_read(
    evaluation, message, tmp_path
):
    with pytest.raises(UnreadableTasks, match=message):
        webarena.read(written(tmp_path, evaluation), Setup(SITES))


def test_a_picture_query_without_a_question_is_refused(tmp_path: Path) -> None:
    for name in visualwebarena.FILES:
        query = {"eval_image_url": "last", "eval_image_class": ".a"}
        evaluation = {"eval_types": ["page_image_query"], "page_image_query": [query]}
        written(tmp_path, evaluation).rename(tmp_path / f"test_{name}.raw.json")

    with pytest.raises(UnreadableTasks, match="lacks the key 'eval_vqa'; expected questions"):
        visualwebarena.read(tmp_path, Setup(SITES))


def test_a_file_that_is_not_there_or_no_list_of_tasks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    with pytest.raises(UnreadableTasks, match=r"cannot read .*tasks\.json"):
        webarena.read(path, Setup(SITES))
    with pytest.raises(UnreadableTasks, match=r"lacks test_classifieds\.raw\.json, test_reddit"):
        visualwebarena.read(tmp_path, Setup(SITES))
    path.write_text("{", encoding="utf-8")
    with pytest.raises(UnreadableTasks, match="is not JSON"):
        webarena.read(path, Setup(SITES))
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(UnreadableTasks, match="found dict, expected a list of tasks"):
        webarena.read(path, Setup(SITES))


def test_two_tasks_of_one_number_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) * 2), encoding="utf-8")
    with pytest.raises(UnreadableTasks, match="two tasks have the id webarena/7@1"):
        webarena.read(path, Setup(SITES))
