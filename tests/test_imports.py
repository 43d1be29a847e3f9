"""Importing costs little: heavy libraries come in where they are used, never on the way."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from webagent.errors import EXTRAS

ROOT = Path(__file__).parent.parent

HEAVY = {"torch", "transformers", "playwright", "httpx2", "pyarrow", "ray"}
HEAVY |= {"llguidance", "tokenizers"}


def loaded(statement: str, heavy: set[str] = HEAVY) -> set[str]:
    """The heavy libraries in a fresh interpreter after this statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return heavy & set(json.loads(done.stdout))


LIGHT = """
import tasks, webagent, evaluators, worldmodel, benchmarks, loop, apps, recipes
import webagent.models.constrain, webagent.policy, webagent.observation
import evaluators.attribution, evaluators.steps
from webagent import Agent, Result
from webagent.models import *
Agent('m')
EndpointModel(Endpoint('m', 'http://x.invalid/v1'))
"""


@pytest.mark.slow
def test_imports_and_the_making_of_agents_and_endpoints_load_nothing_heavy():
    assert loaded(LIGHT) == set()


WITHOUT_EXTRAS = """
import sys
from webagent.errors import EXTRAS
class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, NotInstalled())
from recipes import cli
"""
"""What a program begins with that runs as after `pip install webagent-loop`."""


def run_without_extras(line: str) -> subprocess.CompletedProcess[str]:
    """Run a statement where only the core is installed."""
    code = f"{WITHOUT_EXTRAS}{line}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_the_core_is_enough_for_what_asks_a_server():
    names = ("run", "benchmark", "view", "mcp", "judge", "replay", "record", "doctor", "report")
    done = run_without_extras(f"for name in {names}: cli.COMMANDS[name].load()")

    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "package", "extra"),
    [
        (["improve", "--preset", "demo"], "numpy", "learn"),
        (["export", "runs/r"], "pyarrow", "learn"),
        (["benchmark", "miniwob", "--policy", "oracle"], "miniwob", "learn"),
    ],
)
def test_a_command_that_needs_an_extra_says_which(line, package, extra, tmp_path):
    done = run_without_extras(f"import os; os.chdir({str(tmp_path)!r}); sys.exit(cli.main({line}))")

    assert done.returncode == 3
    # On a slow machine signs of life come before it.
    lines = [line for line in done.stderr.splitlines() if "s since the start" not in line]
    assert package in done.stderr.lower() and len(lines) == 1
    assert done.stderr.endswith(f"; pip install 'webagent-loop[{extra}]'\n")
    assert not list(tmp_path.iterdir())


def test_what_an_extra_brings_is_no_dependency_of_the_core():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = {line.partition(">")[0] for line in project["dependencies"]}
    named = {{"sklearn": "scikit-learn", "PIL": "pillow"}.get(name, name) for name in EXTRAS}

    assert not core & named
    assert set(EXTRAS.values()) <= project["optional-dependencies"].keys()


@pytest.mark.slow
def test_a_script_beside_a_clone_imports_the_package_and_not_the_folder(tmp_path: Path):
    (tmp_path / "webagent").symlink_to(ROOT)  # the clone's own folder has the package's name
    script = tmp_path / "script.py"
    script.write_text("import webagent; print(webagent.Agent)", encoding="utf-8")
    # As an editable install does: the checkout is on the path, behind the script's folder.
    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr


def test_the_help_of_all_commands_is_there_at_once():
    """Processor time, as the machine may be busy: 0.1 s on two cores of 2024."""
    code = "from recipes import cli; cli.main(['--help']); import time; print(time.process_time())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert float(done.stdout.splitlines()[-1]) < 0.5


def test_a_heavy_library_would_be_noticed():
    assert loaded("import httpx2") == {"httpx2"}


def scripts_that_borrow() -> list[Path]:
    """Measurements that are run by themselves and make use of what is the tests'."""
    scripts = sorted((ROOT / "perf").glob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in scripts}
    return [path for path, text in texts.items() if "\nfrom tests." in text and "__main__" in text]


@pytest.mark.parametrize("path", scripts_that_borrow(), ids=lambda path: path.name)
def test_a_measurement_finds_the_tests_it_borrows_from(path):
    text = path.read_text(encoding="utf-8")
    assert 0 < text.find("sys.path.insert(0, str(") < text.index("\nfrom tests.")


@pytest.mark.slow
def test_what_acts_live_starts_without_torch_numpy_and_pillow():
    assert loaded("import recipes.run", HEAVY | {"numpy", "PIL"}) == {"playwright"}
    assert loaded("import recipes.mcp", {"numpy", "PIL"}) == set()
