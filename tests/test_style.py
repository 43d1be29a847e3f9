"""The shape of the code is kept: sizes, docstrings, names, no blanket `except`."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # reads the whole tree
ROOT = Path(__file__).parent.parent
PACKAGES = (
    *("tasks", "webagent", "evaluators", "worldmodel"),
    *("benchmarks", "loop", "apps", "recipes"),
)
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
VAGUE = {"utils", "util", "helpers", "common", "misc", "manager", "service", "v2"}
BLANKET = {"Exception", "BaseException"}
WORDS_OUT = {
    "told": ("told", 78),
    "believed": (r"beliefs?|believ(?:e|es|ed|ing)", 50),
    "dreamt": (r"dream(?:t|ed)", 5),
    "foreseen": (r"fores(?:ee|ees|een|aw)", 10),
    "said": ("said", 176),
    "asked": ("asked", 340),
    "drawn": ("drawn", 60),
    "parted": ("parted", 11),
    "woven": (r"(?:inter)?woven", 3),
    "sure": ("sure", 78),
    "in vain": ("in vain", 0),
    "gone by": ("gone by", 1),
}
"""Words that are out (docs/glossary.md has what to write instead), with their patterns and the most
lines of the product on which each may still stand. The numbers only go down."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tree_of(path: Path) -> ast.Module:
    """The module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    """The path as it is written in messages."""
    return path.relative_to(ROOT).as_posix()


def lines_of(function: Function) -> int:
    """Lines from `def` to the end, docstring left out."""
    whole = (function.end_lineno or function.lineno) - function.lineno + 1
    return whole - len((ast.get_docstring(function, clean=False) or "").splitlines())


def file_lines(path: Path) -> int:
    """Lines of the file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def caught(handler: ast.ExceptHandler) -> set[str]:
    """Names an `except` catches; a bare one catches BaseException."""
    if handler.type is None:
        return {"BaseException"}
    return {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}


def test_a_module_says_what_it_is_for() -> None:
    assert [name_of(path) for path in MODULES if not ast.get_docstring(tree_of(path))] == []


def test_a_file_fits_in_600_lines_and_nearly_all_in_500() -> None:
    long = {name_of(path): file_lines(path) for path in MODULES if file_lines(path) > 500}
    assert {name: lines for name, lines in long.items() if lines > 600} == {}
    assert len(long) <= 0.05 * len(MODULES), long


def test_a_function_fits_in_60_lines_and_nearly_all_in_40() -> None:
    lines = {
        f"{name_of(path)}:{function.name}": lines_of(function)
        for path in MODULES
        for function in ast.walk(tree_of(path))
        if isinstance(function, Function)
    }
    assert {name: count for name, count in lines.items() if count > 60} == {}
    assert sum(count > 40 for count in lines.values()) <= 0.03 * len(lines)


def test_an_except_names_what_it_expects() -> None:
    blanket = [
        f"{name_of(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler) and caught(node) & BLANKET
    ]
    assert blanket == []


def test_no_module_has_a_name_that_means_anything() -> None:
    names = {part for path in MODULES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert names & VAGUE == set()


def lines_with(pattern: str) -> list[str]:
    """Lines of the product that have a word, alone or as a part of a name with underscores."""
    word = re.compile(rf"(?<![A-Za-z])(?:{pattern})(?![A-Za-z])", re.IGNORECASE)
    return [
        f"{name_of(path)}:{number}"
        for path in MODULES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if word.search(line)
    ]


@pytest.mark.parametrize("word", WORDS_OUT)
def test_a_word_that_is_out_is_used_on_no_more_lines_than_before(word: str) -> None:
    pattern, most = WORDS_OUT[word]
    found = lines_with(pattern)
    assert len(found) <= most, f"say it as docs/glossary.md does: {found}"
