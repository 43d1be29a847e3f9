"""What continuous integration does with tests that fail."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FAKE_TESTS = """#!/usr/bin/env bash
# Fails so many tests the first time, and as many of them again when it is to run what failed.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
echo "$*" >> "$root/calls"
count=$FIRST
case "$*" in *--last-failed*) count=$AGAIN ;; *--share*) count=0 ;; esac
mkdir -p "$root/.pytest_cache/v/cache"
for i in $(seq "$count"); do
  echo "  \\"tests/test_a.py::test_$i\\": true," >> "$root/.pytest_cache/v/cache/lastfailed"
done
[ "$count" = 0 ]
"""


def run_ci(folder: Path, first: int, again: int) -> tuple[int, str, list[str]]:
    """Run the script with so many failures: status, output and how the tests were called."""
    (folder / ".ci").mkdir()
    (folder / "scripts").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    for name in ("check", "docs", "setup", "test"):
        script = folder / "scripts" / name
        script.write_text(FAKE_TESTS if name == "test" else "#!/usr/bin/env bash\n")
        script.chmod(0o755)
    ready = folder / "bin"
    ready.mkdir()
    for name in ("Xvfb", "xdotool", "chromium"):
        (ready / name).symlink_to("/bin/true")
    environment = {
        **os.environ,
        "PATH": f"{ready}:{os.environ['PATH']}",
        "FIRST": str(first),
        "AGAIN": str(again),
    }
    done = subprocess.run(
        ["bash", folder / ".ci" / "run"], env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout, (folder / "calls").read_text().splitlines()


def test_what_passes_alone_is_named_as_unsteady(tmp_path: Path) -> None:
    status, output, calls = run_ci(tmp_path, first=2, again=0)
    assert status == 0
    assert "unsteady" in output and "tests/test_a.py::test_2" in output
    assert calls[1] == "--all --numprocesses 0 --last-failed"


@pytest.mark.parametrize(("first", "again", "runs"), [(2, 1, 3), (4, 0, 2)])
def test_what_fails_twice_has_failed_and_so_have_many_at_once(tmp_path, first, again, runs):
    status, _, calls = run_ci(tmp_path, first, again)
    assert status == 1
    assert len(calls) == runs
    assert calls[-1].startswith("--share")
