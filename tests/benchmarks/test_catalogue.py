"""Benchmarks are found by name, as many tasks as were published, each of which can be checked."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks import task_files
from benchmarks.catalogue import BENCHMARKS, AddressError, Options, UnknownBenchmark, find_benchmark
from benchmarks.rules import CONSULTING_RULES, RULES
from benchmarks.task_files import UnreadableTasks
from tasks.suite import Suite, UnknownTask
from tasks.task import Task

FILES = {
    "webarena": ["webarena/test.raw.json"],
    "webarena-verified": ["webarena_verified/webarena-verified.json"],
    "webarena-verified-hard": [
        "webarena_verified/webarena-verified.json",
        "webarena_verified/webarena-verified-hard.json",
    ],
    "webarena-lite": ["webarena_lite/test_webarena_lite.raw.json"],
    "visualwebarena": [
        f"visualwebarena/test_{site}.raw.json" for site in ("classifieds", "reddit", "shopping")
    ],
    "webchorearena": ["webchorearena/test_webchore.raw.json"],
    "webchorearena-small": [
        "webchorearena/test_webchore.raw.json",
        "webchorearena/small_set_ids.txt",
    ],
    "webvoyager": ["webvoyager/WebVoyager_data.jsonl", "webvoyager/reference_answer.json"],
    "webvoyager-2025": [
        "webvoyager/WebVoyager_data_08312025.jsonl",
        "webvoyager/reference_answer.json",
    ],
    "mind2web-live": ["mind2web_live/mind2web-live_test_20241024.json"],
    "online-mind2web": ["online_mind2web/Online_Mind2Web_06042025.json"],
    "gaia-web": ["gaia_web/GAIA_web.jsonl"],
    "webgames": ["webgames/webgames_tasks.jsonl"],
}
"""What has to be there for a benchmark, in a folder of downloads."""

SITES = {
    name: f"http://{name.replace('_', '-')}.test"
    for name in (
        *("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia"),
        *("classifieds", "homepage"),
    )
}
WITHOUT_CLASSIFIEDS = {name: address for name, address in SITES.items() if name != "classifieds"}
HOSTED = {
    **dict.fromkeys(("webarena", "webarena-lite", "visualwebarena"), SITES),
    **dict.fromkeys(("webchorearena", "webchorearena-small"), SITES),
    **dict.fromkeys(("webarena-verified", "webarena-verified-hard"), WITHOUT_CLASSIFIEDS),
}
WHOLE = {"webarena-verified-hard": "webarena-verified", "webchorearena-small": "webchorearena"}
JUDGED = {"online-mind2web"}
"""Only a judge can say."""

SOME_JUDGED = {"webvoyager", "webvoyager-2025"}

Load = Callable[[str], Suite]


@pytest.fixture(scope="module")
def load(benchmarks: Path) -> Iterator[Load]:
    """Loads a benchmark from the folder of task files, and never from the network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBAGENT_BENCHMARKS", str(benchmarks))
        patch.setattr(task_files, "HOST", "http://127.0.0.1:9")
        kept: dict[str, Suite] = {}

        def loaded(name: str) -> Suite:
            missing = [file for file in FILES[name] if not (benchmarks / file).is_file()]
            if missing:
                pytest.skip(f"{benchmarks} is without {', '.join(missing)}; see docs/benchmarks.md")
            if name not in kept:
                kept[name] = find_benchmark(name).load(Options(addresses=HOSTED.get(name, {})))
            return kept[name]

        yield loaded


def made(suite: Suite) -> list[Task]:
    """All tasks of a suite."""
    return suite.tasks("test", 1)


@pytest.mark.parametrize("name", FILES)
def test_a_benchmark_has_as_many_tasks_as_were_published(name: str, load: Load) -> None:
    suite = load(name)

    assert len(suite.names) == len(made(suite)) == BENCHMARKS[name].count
    assert not suite.is_seeded
    assert suite.id.partition("@")[2]


@pytest.mark.parametrize("name", ["fossil", "oscar", "miniwob"])
def test_a_benchmark_that_comes_with_us_has_as_many_tasks_as_it_says(name: str) -> None:
    assert len(find_benchmark(name).load().names) == BENCHMARKS[name].count


def test_no_two_tasks_of_the_catalogue_have_one_id(load: Load, benchmarks: Path) -> None:
    there = [
        name
        for name, files in FILES.items()
        if name not in WHOLE and all((benchmarks / file).is_file() for file in files)
    ]
    ids = [task.id for name in there for task in made(load(name))]

    assert len(set(ids)) == len(ids) >= 3000


@pytest.mark.parametrize("name", WHOLE)
def test_the_tasks_of_a_subset_are_those_of_the_whole(name: str, load: Load) -> None:
    whole = {task.id: task for task in made(load(WHOLE[name]))}

    assert all(whole[task.id] == task for task in made(load(name)))


@pytest.mark.parametrize("name", FILES)
def test_every_task_is_checked_by_rules_there_are_or_left_to_a_judge(name: str, load: Load) -> None:
    known = RULES.keys() | CONSULTING_RULES.keys()
    tasks = made(load(name))

    assert {check.rule for task in tasks for check in task.checks} <= known
    if name not in JUDGED | SOME_JUDGED:
        assert all(task.checks for task in tasks)
    assert any(task.checks for task in tasks) is (name not in JUDGED)
    assert all(task.goal and task.start_url and task.id.partition("@")[2] for task in tasks)


@pytest.mark.parametrize("name", FILES)
def test_every_task_can_be_chosen_by_a_group(name: str, load: Load) -> None:
    suite = load(name)

    assert set(suite.select([*suite.groups])) == set(suite.names)


@pytest.mark.parametrize(
    ("name", "group", "count"),
    [
        ("webarena", "map", 128),
        ("webarena", "infeasible", 36),
        ("webarena-lite", "reddit", 24),
        ("webarena-verified", "mutate", 374),
        ("webarena-verified-hard", "retrieve", 74),
        ("visualwebarena", "hard", 327),
        ("webchorearena", "massive_memory", 168),
        ("webvoyager", "BBC-News", 42),
        ("online-mind2web", "easy", 83),
        ("gaia-web", "level-2", 64),
        ("webgames", "hard", 51),
        ("mind2web-live", "kohls.com", 6),
    ],
)
def test_groups_are_the_sites_and_what_the_benchmark_sorts_by(name, group, count, load):
    assert len(load(name).groups[group]) == count


@pytest.mark.parametrize(
    ("name", "task", "login", "template"),
    [
        ("webarena", "0", "shopping_admin", "279"),
        ("webarena", "7", "", "79"),
        ("webarena", "552", "gitlab.reddit", "84"),
        ("webarena-lite", "4", "shopping_admin", "279"),
        ("webarena-verified", "552", "gitlab.reddit", "84"),
        ("visualwebarena", "reddit-0", "reddit", "reddit-0"),
        ("webgames", "datehard", "", "date"),
        ("gaia-web", "level1-0", "", ""),
    ],
)
def test_a_task_knows_its_login_and_its_template(name, task, login, template, load):
    found = load(name).task(task, 0)

    assert (found.login, found.template) == (login, template)


def test_as_many_templates_as_were_published(load: Load) -> None:
    assert len({task.template for task in made(load("webarena"))}) == 190
    assert len({task.template for task in made(load("webchorearena"))}) == 117


def test_further_start_pages_are_kept(load: Load) -> None:
    (task,) = (task for task in made(load("webarena-verified")) if task.name == "97")

    assert (task.start_url, task.further_urls) == (SITES["map"], (SITES["wikipedia"],))


def test_a_picture_of_a_goal_is_at_its_published_address_unless_it_is_here(load, benchmarks):
    (picture,) = load("visualwebarena").task("reddit-0", 0).images
    inside = "environment_docker/webarena-homepage/static/input_images/reddit/task_0/input_0.png"

    if (benchmarks / "visualwebarena" / inside).is_file():
        assert picture == str(benchmarks / "visualwebarena" / inside)
    else:
        assert picture.startswith("http://127.0.0.1:9/web-arena-x/visualwebarena/")
        assert picture.endswith(inside)


def test_a_task_without_the_address_of_its_site_is_listed_and_says_what_it_needs(load, benchmarks):
    load("webarena")
    options = Options(addresses={"shopping": "http://shop.test:7770/"})
    suite = find_benchmark("webarena").load(options)

    assert len(suite.names) == 812
    assert suite.task("21", 0).start_url.startswith("http://shop.test:7770/")
    with pytest.raises(AddressError, match=r"webarena/97@1 needs the address of map, wikipedia"):
        suite.task("97", 0)


def test_an_address_of_no_site_and_one_that_is_none_are_refused(load: Load) -> None:
    load("webarena")
    webarena = find_benchmark("webarena")
    with pytest.raises(AddressError, match=r"webarena has no site 'shop' .* it has shopping, "):
        webarena.load(Options(addresses={"shop": "http://a.test"}))
    with pytest.raises(
        AddressError, match=r"the address of map is 'a\.test'; expected one as http"
    ):
        webarena.load(Options(addresses={"map": "a.test"}))


@pytest.mark.parametrize("name", [name for name in FILES if name != "visualwebarena"])
@pytest.mark.parametrize("content", ['[{"question": "who?"}]', '{"question": "who?"}', "<html>"])
def test_a_file_of_another_schema_is_named_with_what_was_expected(name, content, tmp_path):
    file = tmp_path / "other.json"
    file.write_text(content, encoding="utf-8")
    (tmp_path / "reference_answer.json").write_text("{}", encoding="utf-8")
    (tmp_path / "webarena-verified-hard.json").write_text('{"task_ids": []}', encoding="utf-8")
    (tmp_path / "small_set_ids.txt").write_text("1", encoding="utf-8")

    with pytest.raises(UnreadableTasks, match=r"other\.json.*(expected|is not JSON|is no )"):
        find_benchmark(name).load(Options(files=file))


def test_the_three_files_of_visualwebarena_are_named_too(tmp_path: Path) -> None:
    for site in ("classifieds", "reddit", "shopping"):
        (tmp_path / f"test_{site}.raw.json").write_text('[{"task_id": 0, "sites": ["reddit"]}]')

    with pytest.raises(UnreadableTasks, match=r"test_classifieds.*task 0, eval is .*an object"):
        find_benchmark("visualwebarena").load(Options(files=tmp_path))


def test_numbers_of_a_subset_that_are_none_or_of_no_task_are_named(tmp_path, load, benchmarks):
    load("webchorearena")
    whole = (benchmarks / FILES["webchorearena"][0]).read_bytes()
    (tmp_path / "test_webchore.raw.json").write_bytes(whole)
    small = tmp_path / "small_set_ids.txt"
    webchorearena = find_benchmark("webchorearena-small")

    small.write_text("10004, ten")
    with pytest.raises(UnreadableTasks, match=r"small_set_ids\.txt: found 'ten', expected the num"):
        webchorearena.load(Options(files=tmp_path))
    small.write_text("10004\n7")
    with pytest.raises(UnreadableTasks, match="has no tasks 7"):
        webchorearena.load(Options(files=tmp_path))


GAME = '{"id": "a", "path": "a", "title": "A", "description": "Do", "tags": [], "password": "x"}'


def test_two_tasks_of_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(f"{GAME}\n{GAME}")

    with pytest.raises(UnreadableTasks, match="two tasks have the name 'a'"):
        find_benchmark("webgames").load(Options(files=file))


def test_a_task_is_the_same_for_every_seed_and_takes_no_settings(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(GAME)
    suite = find_benchmark("webgames").load(Options(files=file))

    first, other = suite.task("a", 0, "test"), suite.task("a", 5, "test")
    assert (first.seed, first.id) != (other.seed, first.id)
    with pytest.raises(UnknownTask, match="unknown task 'b'"):
        suite.task("b", 0)
    with pytest.raises(ValueError, match=r"webgames/a@1 has no settings; found SIZE"):
        suite.task("a", 0, settings={"SIZE": 3})


def test_a_misspelt_benchmark_is_told_the_nearest_name() -> None:
    with pytest.raises(UnknownBenchmark, match="there is miniwob"):
        find_benchmark("minwob")


@pytest.mark.slow
def test_listing_the_catalogue_imports_neither_task_folders_nor_heavy_libraries() -> None:
    code = (
        "import sys; from benchmarks.catalogue import BENCHMARKS;"
        "print([b.summary for b in BENCHMARKS.values()] and"
        " [m for m in sys.modules if m.partition('.')[0] in ('numpy', 'bs4', 'torch', 'playwright')"
        " or (m.startswith('benchmarks.') and m.count('.') > 1)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"
