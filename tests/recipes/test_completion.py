"""Shells complete commands, flags, values, run folders and files."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recipes import cli
from recipes.commands import COMMANDS
from recipes.completion import FILES, SHELLS, candidates


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one run in it."""
    (tmp_path / "runs/one").mkdir(parents=True)
    (tmp_path / "runs/one/run.json").write_text("{}")
    (tmp_path / "runs/other").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["re"], ["report", "record", "replay"]),
        ([], [*COMMANDS, "--help", "--version", "--completion", "--json"]),
        (["nothing", ""], []),
        (["improve", "--rou"], ["--rounds", "--round-tokens"]),
        (["improve", "--memory", "of"], ["off"]),
        (["improve", "--memory", "off", "o"], []),
        (["benchmark", "minio"], []),
        (["benchmark", "miniw"], ["miniwob"]),
        (["benchmark", "--benchmark", "=", "miniw"], ["miniwob"]),
        (["benchmark", "--split", "de"], ["development"]),
        (["improve", "--resume", "runs/"], ["runs/one", FILES]),
        (["train", "--runs", "runs/one", "runs/o"], ["runs/one", FILES]),
        (["site", "st"], ["start", "stop"]),
        (["benchmark", "--no-im"], ["--no-images"]),
        (["benchmark", "--config", "x"], [FILES]),
        (["--completion", "fi"], []),
    ],
)
def test_what_may_come_next(words: list[str], expected: list[str]) -> None:
    assert candidates(words) == expected


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_can_be_completed(name: str) -> None:
    assert {"--help", "--json", "--config"} <= set(candidates([name, ""]))


def test_a_script_is_printed_for_a_shell_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    for shell, script in SHELLS.items():
        assert cli.main(["--completion", shell]) == 0
        assert capsys.readouterr().out == f"{script}\n"
    assert cli.main(["--completion", "csh"]) == 2
    assert "unknown shell 'csh'" in capsys.readouterr().err


def test_bash_offers_what_the_program_answers(folder: Path) -> None:
    program = folder / "webagent"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m recipes.cli "$@"\n')
    program.chmod(0o755)
    line = """
    export PATH="$PWD:$PATH" PYTHONPATH="$1"
    eval "$(webagent --completion bash)"
    COMP_WORDS=(webagent improve --resume runs/o) COMP_CWORD=3
    _webagent
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    root = str(Path(cli.__file__).parents[1])
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "-c", line, "bash", root], capture_output=True, text=True, check=True, cwd=folder
    )
    assert set(done.stdout.split()) == {"runs/one", "runs/other"}
