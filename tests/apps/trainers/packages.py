"""Other people's packages as installed from PyPI, each in an environment of its own, kept."""

import hashlib
import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from perf.fakes.chat_server import ChatServer

ROOT = Path(__file__).parents[3]
CLIENT = ("websockets>=14", "beautifulsoup4>=4.13")
"""What the adapters import beside the framework."""


def installed(*packages: str) -> Path:
    """The folder with the programs of these packages. Skips where pip cannot reach them."""
    wanted = [*packages, *CLIENT]
    told = hashlib.sha256(" ".join([*wanted, sys.version]).encode()).hexdigest()[:12]
    folder = Path(os.environ["WEBAGENT_TESTS_CACHE"]) / f"trainer-{told}"
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        line = [folder / "bin" / "python", "-m", "pip", "--quiet", "install", *wanted]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode:
            problem = done.stderr.strip().splitlines()[-1:]
            pytest.skip(f"pip cannot install {', '.join(packages)} here: {problem}")
        (folder / "complete").touch()
    return folder / "bin"


def run(programs: Path, line: Sequence[str], folder: Path, more: Mapping[str, str]) -> str:
    """What a program of the environment prints, in this folder; it has to end well."""
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
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    return done.stdout


def evaluate_in_verifiers(
    programs: Path, folder: Path, url: str, model: ChatServer, names: tuple[str, ...], *more: str
) -> list[dict[str, Any]]:
    """The episodes that `vf-eval` writes."""
    taskset = ["--env.taskset.url", url, "--env.taskset.tasks", json.dumps(names)]
    client = ["-m", "scripted", "--client.base-url", model.url, "--client.api-key-var", "KEY"]
    where = ["--no-push", "--no-rich", "-o", str(folder), "--run.name", "played", "-c", "2"]
    line = ["vf-eval", "webagent-taskset", *taskset, *client, *where, *more]
    run(programs, line, folder, {"KEY": "none", "PRIME_API_KEY": "none"})
    lines = (folder / "played" / "traces.jsonl").read_text().splitlines()
    return [json.loads(each) for each in lines]
