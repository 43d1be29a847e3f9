"""Importing costs little: heavy libraries come in where they are used, never on the way."""

import json
import subprocess
import sys

import pytest

HEAVY = {"torch", "transformers", "playwright", "openai", "pyarrow", "ray"}


def loaded(statement: str) -> set[str]:
    """The heavy libraries in a fresh interpreter after this statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return HEAVY & set(json.loads(done.stdout))


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


def test_a_task_is_run_without_waiting_for_torch():
    assert loaded("import recipes.run") == {"playwright"}
