"""A benchmark is added in one place: a folder with its tasks, its oracle, its rule and its page."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.catalogue import Registry, find_benchmarks

FILES = {
    "__init__.py": '''
"""A bell to ring."""

from benchmarks.catalogue import Benchmark

BENCHMARKS = {"bell": Benchmark("a bell to ring", 1, "benchmarks.bell.tasks")}
''',
    "tasks.py": '''
"""One task: ring the bell twice."""

from pathlib import Path

from benchmarks.catalogue import Options
from benchmarks.task_files import make_suite
from tasks.suite import Suite
from tasks.task import Task, TaskCheck

PAGE = Path(__file__).with_name("bell.html").as_uri()


def suite(options: Options, subset: str = "") -> Suite:
    """Return the suite of the one task."""
    count = TaskCheck("rung", "bell_rung", 2)
    task = Task("bell/ring@1", PAGE, "Ring twice.", evidence={"rung": "rung"}, checks=(count,))
    return make_suite("bell@1", [task])
''',
    "rules.py": '''
"""Whether the bell was rung as often as asked."""

from evaluators.rules.checks import rule


@rule
def bell_rung(found, expected):
    """Return whether the counts agree."""
    return found == expected
''',
    "oracles.py": '''
"""Who knows how to ring."""

from benchmarks.oracles import oracle
from webagent.action.actions import Answer, Click


@oracle("ring")
def ring(view):
    """Click twice, then say so."""
    return Click(view.find("button").mark) if len(view.done) < 2 else Answer("")
''',
    "bell.html": "<script>let rung = 0</script><button onclick='rung += 1'>Ring</button>",
}

RUN = """
import sys
import benchmarks
benchmarks.__path__.append(sys.argv[1])
from recipes.cli import main
sys.exit(main(["benchmark", "bell", "--name", "a", "--json"]))
"""


@pytest.mark.browser
@pytest.mark.very_slow
def test_a_folder_is_all_that_a_new_benchmark_takes(tmp_path: Path) -> None:
    folder = tmp_path / "more" / "bell"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text.lstrip(), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-c", RUN, str(folder.parent)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr[-2000:]
    (arm,) = json.loads(done.stdout)["arms"]
    assert arm["by_task"]["ring"]["success"] == 1.0


def test_what_benchmarks_share_is_not_taken_for_one() -> None:
    found = [name.removeprefix("benchmarks.") for name in find_benchmarks()]

    assert {"fossil", "miniwob", "own", "webarena"} <= set(found)
    shared = {"catalogue", "discovery", "rules", "sites", "task_files", "templates"}
    assert not shared & set(found)


def test_a_registry_is_filled_once_and_what_was_put_there_before_stays() -> None:
    fills = []

    def fill() -> dict[str, int]:
        fills.append(1)
        return {"a": 1, "b": 2}

    registry = Registry(fill)
    registry["b"] = 3

    assert not fills
    assert dict(registry) == {"a": 1, "b": 3} and len(registry) == 2
    del registry["a"]
    assert list(registry) == ["b"] and len(fills) == 1
