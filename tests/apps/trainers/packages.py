"""Other people's packages as installed from PyPI, each in an environment of its own, kept."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

CLIENT = ("websockets>=14", "beautifulsoup4>=4.13")
"""What the adapters import beside the framework."""


def installed(*packages: str) -> Path:
    """The folder with the programs of these packages. Skips where pip cannot reach them."""
    wanted = [*packages, *CLIENT]
    told = hashlib.sha256(" ".join([*wanted, sys.version]).encode()).hexdigest()[:12]
    folder = Path(os.environ["WEBAGENT_TESTS_CACHE"]) / f"trainer-{told}"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        line = [folder / "bin" / "python", "-m", "pip", "--quiet", "install", *wanted]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode:
            problem = done.stderr.strip().splitlines()[-1:]
            pytest.skip(f"pip cannot install {', '.join(packages)} here: {problem}")
        (folder / "complete").touch()
    return folder / "bin"
