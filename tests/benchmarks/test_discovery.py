"""A benchmark is added in one place: a folder with its tasks, its oracle, its rule and its page."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.catalogue import Registry, find_benchmarks

FILES = {
    file.name.replace(".txt", ".py"): file.read_text(encoding="utf-8")
    for file in Path(__file__).with_name("bell").iterdir()
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
