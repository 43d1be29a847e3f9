"""Importing costs little: heavy libraries come in where they are used, never on the way."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

HEAVY = {"torch", "transformers", "playwright", "openai", "pyarrow", "ray"}


def loaded(statement: str) -> set[str]:
    """The heavy libraries in a fresh interpreter after this statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return HEAVY & set(json.loads(done.stdout))


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    ["webagent", "webagent.models", "webagent.policy", "webagent.observation", "evaluators"],
)
def test_an_import_loads_nothing_heavy(module):
    assert loaded(f"import {module}") == set()


def test_making_an_endpoint_model_loads_nothing_heavy_and_calls_nobody():
    statement = "from webagent.models import *\nEndpointModel(Endpoint('m', 'http://x.invalid/v1'))"

    assert loaded(statement) == set()


def test_making_an_agent_loads_nothing_heavy():
    assert loaded("from webagent import Agent, Result\nAgent('m')") == set()


def test_a_heavy_library_would_be_noticed():
    assert loaded("import openai") == {"openai"}


def scripts_that_borrow() -> list[Path]:
    """Measurements that are run by themselves and make use of what is the tests'."""
    scripts = sorted((ROOT / "perf").glob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in scripts}
    return [path for path, text in texts.items() if "\nfrom tests." in text and "__main__" in text]


@pytest.mark.parametrize("path", scripts_that_borrow(), ids=lambda path: path.name)
def test_a_measurement_finds_the_tests_it_borrows_from(path):
    text = path.read_text(encoding="utf-8")
    assert 0 < text.find("\nsys.path.insert(0, str(ROOT))\n") < text.index("\nfrom tests.")


@pytest.mark.slow
def test_a_task_is_run_without_waiting_for_torch():
    assert loaded("import recipes.run") == {"playwright"}
