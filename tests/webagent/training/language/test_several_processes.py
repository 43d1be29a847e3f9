"""Several processes learn what one does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.webagent.training.language import several_processes

ROOT = Path(__file__).parents[4]
LAUNCH = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")


def ended(folder: Path, *launch: str) -> dict[str, object]:
    """What the first process says in the end."""
    done = subprocess.run(
        [sys.executable, *launch, str(several_processes.__file__), str(folder)],
        cwd=ROOT,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.very_slow
def test_two_processes_come_to_the_weights_of_one(tmp_path):
    one, two = ended(tmp_path / "one"), ended(tmp_path / "two", *LAUNCH)
    assert (one["processes"], two["processes"]) == (1, 2)
    assert two["updates"] == one["updates"] == 6
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
    assert two["sums"] == pytest.approx(one["sums"], rel=1e-5)
    lines = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2, 3, 4, 5, 6]
    again = ended(tmp_path / "two", *LAUNCH)
    assert again["sums"] == two["sums"]
