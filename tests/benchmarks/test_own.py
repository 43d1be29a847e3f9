"""Tasks of one's own are read from TOML, and what makes no task is named with its place."""

from pathlib import Path

import pytest

from benchmarks.catalogue import Options, TasksMissing, find_benchmark
from benchmarks.task_files import UnreadableTasks
from tasks.task import TaskCheck

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
    assert (suite.id, suite.is_seeded) == ("own@1", False)
    assert (hours.name, hours.max_steps, hours.skills) == ("hours", 4, ("search",))
    assert hours.checks == (TaskCheck("episode.answer", "same_text", "9 to 5"),)
    assert (order.start_url, order.login, order.checks) == (
        "https://shop.example/cart",
        "shop",
        (),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no tasks"),
        ("[tasks", "not TOML"),
        ("[tasks]\na = 1", r"\[tasks.a\] is 1, expected an object"),
        ('[tasks.a]\nurl = "https://x.test"', "lacks the key 'goal'"),
        ('[tasks.a]\nurl = "x.test"\ngoal = "g"', "expected an http address"),
        ('[tasks.a]\nurl = "http://x"\ngoal = "g"\nmax_steps = 0', "max_steps is 0"),
        ('[tasks.a]\nurl = "http://x"\ngaol = "g"', "unknown key 'gaol'; expected goal"),
    ],
)
def test_what_makes_no_task_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "tasks.toml"
    file.write_text(text)
    with pytest.raises(UnreadableTasks, match=said):
        find_benchmark("own").load(Options(files=file))


def test_without_a_file_it_says_how_to_name_one() -> None:
    with pytest.raises(TasksMissing, match=r"--files tasks\.toml"):
        find_benchmark("own").load(Options())
