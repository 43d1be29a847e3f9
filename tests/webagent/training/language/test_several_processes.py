"""Several processes learn what one does, whether each holds the weights or a part of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.webagent.training.language import several_processes
from tests.webagent.training.language.small import llama
from webagent.training.language.sharding import walk_in_step

ROOT = Path(__file__).parents[4]
LAUNCH = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
PARTED = {"ACCELERATE_USE_FSDP": "true"}


def ended(folder: Path, *more: str, launch=(), env=None) -> dict:
    """What the first process says in the end."""
    done = subprocess.run(
        [sys.executable, *launch, str(several_processes.__file__), str(folder), *more],
        cwd=ROOT,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
        | (env or {}),
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.very_slow
def test_two_processes_come_to_the_weights_of_one(tmp_path):
    one, two = ended(tmp_path / "one"), ended(tmp_path / "two", launch=LAUNCH)
    assert (one["processes"], two["processes"]) == (1, 2)
    assert two["updates"] == one["updates"] == 6
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
    assert two["sums"] == pytest.approx(one["sums"], rel=1e-5)
    lines = (tmp_path / "two" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert ended(tmp_path / "two", launch=LAUNCH)["sums"] == two["sums"]


@pytest.mark.very_slow
def test_two_processes_that_hold_half_of_the_weights_come_to_those_of_one(tmp_path):
    one, two = ended(tmp_path / "one"), ended(tmp_path / "two", launch=LAUNCH, env=PARTED)
    assert two["held"] == pytest.approx(0.5, abs=0.02) and one["held"] == 1
    assert two["updates"] == one["updates"] == 6
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
    assert two["sums"] == pytest.approx(one["sums"], rel=1e-5)
    again = ended(tmp_path / "two", launch=LAUNCH, env=PARTED)
    assert again["resumed"] == 6 and again["sums"] == two["sums"]
    read = type(llama(1)).from_pretrained(tmp_path / "two" / "model")
    assert sum(float(p.detach().double().abs().sum()) for p in read.parameters()) == pytest.approx(
        sum(two["sums"]), rel=1e-6
    )


@pytest.mark.very_slow
@pytest.mark.filterwarnings(
    "ignore:`is_gradient_checkpointing` is deprecated:FutureWarning"
)  # peft
def test_an_adapter_is_learnt_on_a_base_that_two_processes_hold_half_of(tmp_path):
    from peft import PeftModel

    one = ended(tmp_path / "one", "lora")
    two = ended(tmp_path / "two", "lora", launch=LAUNCH, env=PARTED)
    assert two["sums"] == pytest.approx(one["sums"], rel=1e-5)
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
    model, ids = llama(1), torch.arange(5, 15)[None]
    logits = [
        PeftModel.from_pretrained(llama(1), tmp_path / name / "model")(input_ids=ids).logits
        for name in ("one", "two")
    ]
    assert torch.allclose(*logits, atol=1e-4)
    assert not torch.allclose(logits[1], model(input_ids=ids).logits, atol=1e-3)
    names = [json.loads((tmp_path / n / "model" / "base.json").read_text()) for n in ("one", "two")]
    assert names[0] == names[1]


def test_every_process_makes_as_many_rounds_and_each_item_counts_once():
    walks = [list(walk_in_step([10, 11, 12], index, 2)) for index in range(2)]
    assert [[(item, counts) for item, counts, _ in walk] for walk in walks] == [
        [(10, True), (12, True)],
        [(11, True), (12, False)],
    ]
    assert list(walk_in_step([10, 11], 0, 1)) == [(10, True, [10]), (11, True, [11])]
