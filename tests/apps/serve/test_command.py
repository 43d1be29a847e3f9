"""`webagent serve` as it is typed: told where it is, played through, ended by a signal."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from apps.serve.client import ServedClient
from loop.console.output import Status

TASKS = '[tasks.press]\nurl = "https://example.org/"\ngoal = "Find the press address."\n'


@pytest.mark.browser
@pytest.mark.very_slow
def test_the_command_serves_until_a_signal() -> None:
    line = [sys.executable, "-m", "recipes.cli", "serve", "--tasks", "click-test-2", "--port", "0"]
    with subprocess.Popen([*line, "--json"], stdout=subprocess.PIPE, text=True) as process:
        try:
            told = json.loads(process.stdout.readline())
            assert told["tasks"] == ["click-test-2"]
            with ServedClient(told["address"]) as env:
                env.reset(seed=1)
                assert env.step("click(1)")["reward"] == 1.0
            os.kill(process.pid, signal.SIGTERM)
            assert process.wait(60) == 128 + signal.SIGTERM
        finally:
            process.kill()


@pytest.mark.slow
def test_a_task_that_nobody_could_score_is_not_served(tmp_path: Path, capsys) -> None:
    from recipes.cli import main

    file = tmp_path / "tasks.toml"
    file.write_text(TASKS)
    assert main(["serve", "own", "--files", str(file)]) == Status.USAGE
    assert "has no checks" in capsys.readouterr().err
