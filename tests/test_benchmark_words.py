"""The agent knows no benchmark: product code outside `benchmarks/` names none of their tasks, and
what decides what is done has none of their words."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from benchmarks.catalogue import BENCHMARKS, find_benchmark

pytestmark = pytest.mark.slow  # reads the whole tree
ROOT = Path(__file__).parent.parent
OWN = ("fossil", "oscar", "miniwob")
"""Benchmarks whose tasks are made here, and whose demonstrations the agent is developed with."""
GENERAL = {"own", "proposed", "proposed-untried"}
"""Entries of the catalogue that are no benchmarks, but tasks of a user's file."""
PRODUCT = ("tasks", "webagent", "evaluators", "worldmodel", "loop", "apps", "recipes")
DECIDING = ("webagent/memory", "webagent/policy", "worldmodel")
"""Where it is decided what is done: there not even a word of a single benchmark may stand."""
NAMED = {
    "webagent/errors.py": "which extra or download a missing benchmark needs",
    "evaluators/judge/judge.py": "published judges by the benchmark that they were published with",
    "evaluators/judge/published.py": "the same",
    "loop/measurement/preview.py": "a hint at a judge",
    "loop/measurement/settings.py": "the benchmark that is played if none is named",
    "loop/origin.py": "versions that a run folder records",
    "loop/presets.py": "the tasks of the demo",
    "loop/summary/format.py": "raw rewards, which one benchmark alone has",
    "apps/environment/__init__.py": "names of Gymnasium environments",
    "recipes/benchmark.py": "a hint at a judge",
    "recipes/commands.py": "examples in help texts",
    "recipes/doctor.py": "whether that benchmark's package is installed",
    "recipes/serve.py": "a hint at a judge",
}
"""Modules that may name benchmarks, each with what for: nowhere does it decide an action."""
ENGLISH = frozenset(
    "alert already badly been correct lacks less shop stand them they twice whose will".split()  # noqa: SIM905
)
"""Words of sentences, and a role of ARIA, that only one benchmark's goals happen to have; `shop` is
in the example of a file's name."""
SHORTEST = 4
"""Letters of a word; shorter ones stand everywhere."""


@cache
def tree_of(path: Path) -> ast.Module:
    """What a module says."""
    return ast.parse(path.read_text(encoding="utf-8"))


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module that are no docstrings, each with its line."""
    tree = tree_of(path)
    docs = {
        node.value
        for each in ast.walk(tree)
        if isinstance(each, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for node in each.body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docs:
            yield node.lineno, node.value


@cache
def task_names() -> frozenset[str]:
    """Names of tasks that cannot be ordinary words."""
    names = {name for one in OWN for name in find_benchmark(one).load().names}
    return frozenset(name for name in names if "-" in name)


@cache
def words_of_one() -> frozenset[str]:
    """Words of the goals and the task names of a single benchmark that name nothing in the code."""
    found: Counter[str] = Counter()
    for one in OWN:
        suite = find_benchmark(one).load()
        goals = (suite.task(name, 0).goal for name in suite.names)
        text = " ".join([*suite.names, *(re.sub(r'"[^"]*"', " ", goal) for goal in goals)])
        found.update({word for word in re.findall(r"[a-z]+", text) if len(word) >= SHORTEST})
    return frozenset(word for word, count in found.items() if count == 1) - identifiers() - ENGLISH


@cache
def identifiers() -> frozenset[str]:
    """Words of the names of variables, functions and fields."""
    nodes = (node for path in modules(*PRODUCT) for node in ast.walk(tree_of(ROOT / path)))
    names = (getattr(node, key, "") for node in nodes for key in ("id", "attr", "arg", "name"))
    text = " ".join(name for name in names if isinstance(name, str))
    return frozenset(re.findall(r"[a-z]+", text.lower()))


def modules(*folders: str) -> list[str]:
    """Product modules below folders."""
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


@pytest.mark.parametrize("package", PRODUCT)
def test_no_task_or_benchmark_is_named_in_product_code(package: str) -> None:
    names = {*task_names(), *BENCHMARKS} - GENERAL
    named = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w-])")
    found = [
        f"{path}:{line}: {match.group()}"
        for path in modules(package)
        if path not in NAMED
        for line, text in texts(ROOT / path)
        for match in named.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize("folder", DECIDING)
def test_what_decides_knows_no_word_of_a_single_benchmark(folder: str) -> None:
    found = [
        f"{path}:{line}: {word}"
        for path in modules(folder)
        for line, text in texts(ROOT / path)
        for word in re.findall(r"[a-z]+", text.lower())
        if word in words_of_one()
    ]
    assert found == []


def test_words_of_applications_are_found() -> None:
    assert {"wiki", "voucher", "basket"} <= words_of_one()


def test_exceptions_are_needed() -> None:
    names = re.compile("|".join(map(re.escape, {*task_names(), *BENCHMARKS} - GENERAL)))
    idle = [path for path in NAMED if not any(names.search(text) for _, text in texts(ROOT / path))]
    assert idle == []
