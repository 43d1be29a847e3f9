"""A newcomer's additions, each in the place that docs/architecture.md names, then used as typed.

An action and a command are added to a copy of the product; a policy and a judge are files of one's
own. A benchmark is added in tests/benchmarks/test_discovery.py.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = (
    *("apps", "benchmarks", "evaluators", "loop"),
    *("recipes", "tasks", "webagent", "worldmodel"),
)

FIRST_BUTTON = """
from webagent import Decision
from webagent.action import GiveUp
from webagent.action.actions import Click


class FirstButton:
    async def act(self, trajectory, observation):
        buttons = [node.mark for node in observation.nodes if node.role == "button"]
        return Decision(Click(buttons[0]) if buttons else GiveUp("there is no button"))

    async def propose(self, trajectory, observation, n):
        return [await self.act(trajectory, observation)]
"""

SHORT = '''
from evaluators import Verdict, evaluator


@evaluator("short")
def was_short(trajectory):
    """Return whether it took at most three steps."""
    return Verdict(float(len(trajectory.steps) <= 3), f"{len(trajectory.steps)} steps")
'''

SHOUTER = """
from webagent import Decision
from webagent.action import Answer, describe, parse_action


class Shouter:
    async def act(self, trajectory, observation):
        (field,) = [node for node in observation.nodes if node.role == "textbox"]
        if trajectory.steps:
            return Decision(Answer(field.value))
        assert "shout" in describe(["shout"])
        return Decision(parse_action(f"shout({field.mark}, 'hello')"))

    async def propose(self, trajectory, observation, n):
        return [await self.act(trajectory, observation)]
"""

ECHO = '''
"""`webagent echo`: say it again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from loop.console.output import CommandResult
from recipes.settings import resolve


@dataclass(frozen=True)
class EchoConfig:
    """Say it again."""

    text: str = ""
    """What to say."""


class Echoed(TypedDict):
    """What was said."""

    said: str


def main(argv: Sequence[str]) -> CommandResult:
    """Print the text."""
    config = resolve(EchoConfig, "echo", argv)
    print(config.text)
    return CommandResult({"said": config.text})
'''


def run(folder: Path, product: Path, *words: str) -> dict[str, Any]:
    """Return the last JSON that a command printed, run in a folder with that product."""
    done = subprocess.run(
        [sys.executable, "-m", "recipes.cli", *words, "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(product)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    last = done.stdout[f"\n{done.stdout}".rindex("\n{") :]
    printed: dict[str, Any] = json.loads(last)
    return printed


def edit(file: Path, before: str, addition: str) -> None:
    """Put lines before the first place where a file has these words."""
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, f"{addition}{before}", 1), encoding="utf-8")


@pytest.fixture
def product(tmp_path: Path) -> Path:
    """Return the folder of a copy of the product that may be changed."""
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / "product" / package, ignore=ignored)
    return tmp_path / "product"


@pytest.mark.browser
@pytest.mark.slow
def test_a_policy_and_a_judge_are_files_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FIRST_BUTTON, encoding="utf-8")
    (tmp_path / "judges.py").write_text(SHORT, encoding="utf-8")

    play = ("benchmark", "miniwob", "--tasks", "click-test", "--seeds", "2", "--name", "a")
    (arm,) = run(tmp_path, ROOT, *play, "--policy", "python:mine.py:FirstButton")["arms"]
    judged = run(tmp_path, ROOT, "judge", "runs/a", "--with", "python:judges.py:was_short")

    assert arm["by_task"]["click-test"]["success"] == 1.0
    assert "short@1#" in json.dumps(judged)


@pytest.mark.browser
@pytest.mark.slow
def test_an_action_is_a_class_and_how_it_is_done(tmp_path: Path, product: Path) -> None:
    edit(
        product / "webagent/action/actions.py",
        "@dataclass(frozen=True, slots=True)\nclass Clear:",
        "@dataclass(frozen=True, slots=True)\nclass Shout:\n"
        '    """Fill a field with capitals."""\n\n    mark: int\n    text: str\n\n\n',
    )
    edit(product / "webagent/action/actions.py", "    Clear,\n", "    Shout,\n")
    edit(
        product / "webagent/browser/perform.py",
        "@perform.register\nasync def wait(",
        "@perform.register\nasync def shout(action: act.Shout, tabs: Tabs) -> str:\n"
        "    return await perform(act.Fill(action.mark, action.text.upper()), tabs)\n\n\n",
    )
    (tmp_path / "shouter.py").write_text(SHOUTER, encoding="utf-8")
    page = tmp_path / "page.html"
    page.write_text("<input aria-label=Words>", encoding="utf-8")

    task = ("run", "Shout.", "--url", page.as_uri(), "--name", "a")
    result = run(tmp_path, product, *task, "--policy", "python:shouter.py:Shouter")

    assert result["answer"] == "HELLO"


@pytest.mark.slow
def test_a_command_is_a_file_and_an_entry_in_the_table(tmp_path: Path, product: Path) -> None:
    (product / "recipes/echo.py").write_text(ECHO.lstrip(), encoding="utf-8")
    edit(
        product / "recipes/commands.py",
        ")\n\nCOMMANDS = ",
        '    Command("echo", "say it again", "around", settings="recipes.echo:EchoConfig",\n'
        '            facts="recipes.echo:Echoed", examples=("webagent echo --text hello",)),\n',
    )

    assert run(tmp_path, product, "echo", "--text", "hello")["said"] == "hello"
