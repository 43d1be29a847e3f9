"""The measuring scripts start, and say plainly what they cannot compare with."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PERF = Path(__file__).parent.parent / "perf"


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The script under our Python."""
    return subprocess.run(
        [sys.executable, PERF / script, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=PERF.parent,
        check=False,
    )


@pytest.mark.slow
def test_without_browsergym_nothing_is_compared_and_that_is_said():
    done = run("browsergym_compat.py")
    assert done.returncode and "name a Python that has it with --browsergym" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", ["browser_table.py", "browsergym_child.py", "browsergym_agent.py"]
)
def test_a_script_tells_its_settings(script: str):
    done = run(script, "--help")
    assert done.returncode == 0 and "usage" in done.stdout


@pytest.mark.browser
def test_our_side_is_measured_alone_where_there_is_no_other():
    done = run("browser_table.py", "--only", "frames", "--times", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert '"theirs": null' in done.stdout


@pytest.mark.very_slow
def test_candidates_are_written_several_times_faster_than_by_transformers():
    done = run("generation.py", "--only", "candidates", "--pairs", "1", "--json")
    assert done.returncode == 0, done.stderr
    wall, processor = json.loads(done.stdout)
    assert wall["ours"] > 0 and processor["ratio"] >= 3


def test_no_script_needs_the_tests_but_their_stand_ins():
    needs = re.compile(r"^\s*(from|import) tests\b(?!\.fakes)", re.M)
    assert [path.name for path in PERF.rglob("*.py") if needs.search(path.read_text("utf-8"))] == []
