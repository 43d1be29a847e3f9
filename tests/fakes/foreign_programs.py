"""Programs of other people's packages, run on our episodes."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.fakes.chat_server import ChatServer

ROOT = Path(__file__).parents[2]


_SECONDS = 280.0


def run(programs, line, folder, more, seconds=_SECONDS):
    """What a program of the environment prints, in this folder; it has to end well, in time."""
    paths = f"{ROOT}{os.pathsep}{ROOT / 'apps' / 'trainers'}"
    variables = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": paths,
        "HOME": str(folder),
        **more,
    }
    done = subprocess.run(
        [programs / line[0], *line[1:]],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    return done.stdout


def evaluate_in_verifiers(
    programs: Path,
    folder: Path,
    url: str,
    model: ChatServer,
    names: tuple[str, ...],
    *more: str,
    seconds: float = _SECONDS,
) -> list[dict[str, Any]]:
    """The episodes that `vf-eval` writes."""
    taskset = ["--env.taskset.url", url, "--env.taskset.tasks", json.dumps(names)]
    client = ["-m", "scripted", "--client.base-url", model.url, "--client.api-key-var", "KEY"]
    where = ["--no-push", "--no-rich", "-o", str(folder), "--run.name", "played", "-c", "2"]
    line = ["vf-eval", "webagent-taskset", *taskset, *client, *where, *more]
    run(programs, line, folder, {"KEY": "none", "PRIME_API_KEY": "none"}, seconds)
    lines = (folder / "played" / "traces.jsonl").read_text().splitlines()
    return [json.loads(each) for each in lines]
