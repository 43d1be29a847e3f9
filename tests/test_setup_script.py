"""scripts/setup says in one sentence what it cannot do without."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = (
    *("bash", "cat", "cut", "dirname", "env", "find", "grep", "id"),
    *("mkdir", "rm", "sed", "sleep", "tail", "tr", "uname", "wc"),
)


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder for PATH with the tools of every system and no Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        place = shutil.which(tool)
        assert place, f"{tool} is needed by scripts/setup"
        (folder / tool).symlink_to(place)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with only what set-up reads, so that no test touches the real .venv."""
    folder = tmp_path / "checkout"
    (folder / "scripts").mkdir(parents=True)
    for name in ("scripts/setup", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def set_up(checkout: Path, path: Path) -> subprocess.CompletedProcess[str]:
    """Run the script with nothing but this PATH, from another folder."""
    return subprocess.run(
        [checkout / "scripts" / "setup"],
        env={"PATH": str(path), "HOME": str(checkout)},
        cwd=path,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("interpreters", [(), ("python3", "python3.11")])
def test_without_a_recent_python_one_sentence_says_what_to_install(
    checkout, bare_path, interpreters
):
    for name in interpreters:
        script = bare_path / name
        script.write_text("#!/bin/sh\nexit 1\n")  # fails the version check, as an old one does
        script.chmod(0o755)
    done = set_up(checkout, bare_path)
    assert done.returncode == 1
    assert "Python 3.11 or newer" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (checkout / ".venv").exists()


@pytest.mark.slow
def test_a_step_that_takes_long_says_every_few_seconds_how_far_it_is(checkout, bare_path):
    slow = bare_path / "python3.11"
    slow.write_text('#!/bin/sh\ncase "$*" in "-m venv "*) echo unpacking; sleep 6; exit 1; esac\n')
    slow.chmod(0o755)
    done = set_up(checkout, bare_path)
    assert done.returncode == 1
    assert "setup:   venv 4 s, 0 packages in place  unpacking" in done.stderr.splitlines()


def test_every_script_can_be_run() -> None:
    scripts = [p for p in (ROOT / "scripts").iterdir() if p.is_file() and not p.suffix]
    scripts.append(ROOT / ".ci" / "run")
    assert [script.name for script in scripts if not os.access(script, os.X_OK)] == []
    for script in scripts:
        subprocess.run(["bash", "-n", script], check=True)
