"""Nothing is lost, invented or left behind while browsers, workers and the network are broken."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.very_slow]
EPISODES = 60
FAULTS = 8


def test_every_episode_is_accounted_for_under_faults() -> None:
    rate = 1000 * FAULTS / EPISODES
    command = ["perf/soak.py", "--json", f"--episodes={EPISODES}", f"--faults-per-1000={rate}"]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        timeout=290,
    )
    figures = {row["name"]: row["ours"] for row in json.loads(done.stdout)}
    assert done.returncode == 0, figures
    assert figures["episodes with the right reward"] == EPISODES
    assert figures["left behind: processes and folders"] == 0
    assert sum(count for name, count in figures.items() if name.startswith("faults")) >= FAULTS - 2
    failed = [name for name in figures if name.startswith("world failed")]
    assert failed, "the faults were not felt"
