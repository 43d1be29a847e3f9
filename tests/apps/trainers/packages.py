"""Other people's packages as installed from PyPI, each in an environment of its own, kept."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from perf.fakes.chat_server import ChatServer

ROOT = Path(__file__).parents[3]
CLIENT = ("websockets>=14", "beautifulsoup4>=4.13")
"""What the adapters import beside the framework."""


def newer_python(least: tuple[int, int]) -> str:
    """A Python of at least this version. Skips where there is none."""
    names = [f"python3.{minor}" for minor in range(least[1], least[1] + 3)]
    kept = sorted(Path(sys.base_prefix).parent.glob("*/bin/python"))  # where pyenv keeps them
    for each in (*names, *map(str, kept)):
        told = "import sys; print(sys.version_info >= tuple(map(int, sys.argv[1:])))"
        line = [each, "-c", told, *map(str, least)]
        with suppress(OSError):
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            if done.stdout.strip() == "True":
                return each
    pytest.skip(f"there is no Python {least[0]}.{least[1]} here")


def installed(*packages: str, python: str = sys.executable) -> Path:
    """The folder with the programs of these packages. Skips where pip cannot reach them."""
    wanted = [*packages, *CLIENT]
    named = sys.version if python == sys.executable else python
    told = hashlib.sha256(" ".join([*wanted, named]).encode()).hexdigest()[:12]
    folder = Path(os.environ["WEBAGENT_TESTS_CACHE"]) / f"trainer-{told}"
    if not (folder / "complete").exists():
        subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
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
