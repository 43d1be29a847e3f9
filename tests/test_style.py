"""The shape of the code is kept: sizes, docstrings, names, no blanket `except`, light imports."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("tasks", "webagent", "evaluators", "worldmodel", "recipes")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
VAGUE = {"utils", "util", "helpers", "common", "misc", "manager", "service", "v2"}
BLANKET = {"Exception", "BaseException"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    """The path as it is written in messages."""
    return path.relative_to(ROOT).as_posix()


def functions(path: Path) -> Iterator[Function]:
    """Every function and method of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            yield node


def lines_of(function: Function) -> int:
    """Lines from `def` to the end, docstring left out."""
    whole = (function.end_lineno or function.lineno) - function.lineno + 1
    return whole - len((ast.get_docstring(function, clean=False) or "").splitlines())


def caught(handler: ast.ExceptHandler) -> set[str]:
    """Names an `except` catches; a bare one catches BaseException."""
    if handler.type is None:
        return {"BaseException"}
    return {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), "no module docstring"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_fits_in_500_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_function_fits_in_60_lines(path: Path) -> None:
    long = {function.name: lines_of(function) for function in functions(path)}
    assert {name: lines for name, lines in long.items() if lines > 60} == {}


def test_nearly_all_functions_fit_in_40_lines_and_files_in_300() -> None:
    bodies = [lines_of(function) for path in MODULES for function in functions(path)]
    files = [len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES]
    assert sum(lines > 40 for lines in bodies) <= 0.03 * len(bodies)
    assert sum(lines > 300 for lines in files) <= 0.1 * len(files)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_an_except_names_what_it_expects(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    blanket = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and caught(node) & BLANKET
    ]
    assert blanket == [], f"blanket except at lines {blanket}"


def test_no_module_has_a_name_that_means_anything() -> None:
    names = {part for path in MODULES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert names & VAGUE == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_loads_neither_torch_nor_playwright(package: str) -> None:
    code = f"import sys, {package}; print(sorted({{'torch', 'playwright'}} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
