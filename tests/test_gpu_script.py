"""The measurements of a 7 B model on a GPU, tried in tiny shapes on the processor."""

import gzip
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("peft")
ROOT = Path(__file__).parent.parent


@pytest.fixture
def steps(tmp_path: Path) -> Path:
    """Six steps that begin alike."""
    file = tmp_path / "steps.jsonl.gz"
    with gzip.open(file, "wt") as lines:
        for place in range(6):
            prompt = [*range(40), *range(1000 * place, 1000 * place + 30 + place)]
            print(json.dumps({"prompt": prompt, "reply": [7, 8, place]}), file=lines)
    return file


@pytest.mark.parametrize("part", ["train text whole", "round text", "round vision"])
def test_each_part_gives_its_figures(part, steps, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "perf"), *sys.path])
    import gpu

    found = gpu.measure(part, steps, tmp_path, "tiny")
    assert found["rows"] == 6 and found["planned bytes"] > 0
    if part.startswith("round"):
        assert found["sampled tokens"] == 6 * gpu.REPLY
        # What was sampled is scored the same by the trainer, but for bfloat16.
        assert found["ratio"] == pytest.approx(1, abs=0.02)
        assert 0 <= found["kl_sampling"] < 1e-3
    else:
        prompts = [70 + place + 3 for place in range(6)]
        assert found["training tokens"] == sum(prompts[2:])
