"""Other people's packages as installed from PyPI, each in an environment of its own, kept."""

import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

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
