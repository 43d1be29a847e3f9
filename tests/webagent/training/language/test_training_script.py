"""The measuring script compares gradients with TRL's before it says how fast anything is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
SMALL = ("--prompt", "40", "--reply", "8", "--width", "32", "--rounds", "1", "--json")


def measured(*arguments: str, path: object = "") -> subprocess.CompletedProcess[str]:
    """The script under our Python, which finds modules at this path first."""
    return subprocess.run(
        [sys.executable, ROOT / "perf" / "training.py", *SMALL, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{path}:{ROOT}", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


@pytest.mark.very_slow
def test_every_loss_is_measured_beside_trl_with_equal_gradients():
    pytest.importorskip("trl")
    done = measured("--groups", "2")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("gradients differ from padded by tree") == 3
    rows = json.loads(done.stdout)
    assert len(rows) == 9 and all(row["theirs"] for row in rows)


@pytest.mark.very_slow
def test_without_trl_ours_stands_alone(tmp_path):
    (tmp_path / "trl.py").write_text("raise ImportError('no trl here')\n")
    done = measured("--kinds", "sft", path=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ours alone" in done.stderr
    assert [row["theirs"] is None for row in json.loads(done.stdout)] == [True, True, False]
