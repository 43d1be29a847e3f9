"""What TRL and `datasets` read of an export, through their own loaders and trainers."""

import json
from pathlib import Path
from typing import Any

import datasets
import pytest

from tests.fakes import tiny_models
from tests.fakes.played import export, play, run_folder
from webagent.store import Store

THEIR_WARNINGS = pytest.mark.filterwarnings("default")
"""TRL's trainers warn of their own future."""


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No hub, and a cache of its own."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    datasets.disable_progress_bars()


def exported(tmp_path: Path, *asked: str, variant: str = "text") -> Path:
    """An export of a run with successes and failures on the same seeds."""
    run = run_folder(tmp_path / "run", observation=variant).path
    with Store.open(run) as store:
        for seed in range(2):
            play(store, seed, index=2 * seed, variant=variant)
            play(store, seed, index=2 * seed + 1, right=False, variant=variant)
    return export(run, *asked)


def load(folder: Path, *name: str) -> Any:
    """The train split, as anyone would load it."""
    return datasets.load_dataset(str(folder), *name, split="train")


def test_datasets_opens_both_tables_with_their_pictures(tmp_path: Path) -> None:
    out = exported(tmp_path, variant="screenshot")
    steps, episodes = load(out, "steps"), load(out, "episodes")
    assert (len(steps), len(episodes)) == (10, 4)
    assert [picture.size for picture in steps[0]["images"]] == [(56, 56)]
    assert steps[0]["messages"][1]["content"][1] == {"type": "image", "text": None}
    assert {row["episode"] for row in steps} == set(episodes["episode"])
    assert json.loads(episodes[0]["task_record"])["id"] == episodes[0]["task"]


@pytest.mark.slow
def test_a_streamed_dataset_reads_the_same(tmp_path: Path) -> None:
    out = exported(tmp_path)
    streamed = datasets.load_dataset(str(out), "steps", split="train", streaming=True)
    assert [row["action"] for row in streamed] == load(out, "steps")["action"]


def trained(tmp_path: Path, kind: str, out: Path, *, pictured: bool = False, **config: Any) -> Any:
    """A trainer of TRL that has taken one step on the export; it and what it logged."""
    import torch
    import trl
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, AutoProcessor
    from trl.experimental import kto

    torch.set_num_threads(1)
    folder = (tiny_models.llava if pictured else tiny_models.causal)(tmp_path / "model")
    auto = AutoModelForImageTextToText if pictured else AutoModelForCausalLM
    home = trl if hasattr(trl, f"{kind}Trainer") else kto
    arguments = getattr(home, f"{kind}Config")(
        output_dir=str(tmp_path / "trained"),
        max_steps=1,
        per_device_train_batch_size=4,
        use_cpu=True,
        bf16=False,
        report_to=[],
        disable_tqdm=True,
        save_strategy="no",
        logging_steps=1,
        **config,
    )
    reference = {} if kind == "SFT" else {"ref_model": auto.from_pretrained(folder)}
    trainer = getattr(home, f"{kind}Trainer")(
        model=auto.from_pretrained(folder),
        args=arguments,
        train_dataset=load(out),
        processing_class=AutoProcessor.from_pretrained(folder),
        **reference,
    )
    trainer.train()
    return trainer


@pytest.mark.slow
@pytest.mark.sample(3)  # others mostly load more of TRL
@THEIR_WARNINGS
@pytest.mark.parametrize(("what", "kind"), [("sft", "SFT"), ("preference", "DPO"), ("kto", "KTO")])
def test_trl_takes_a_step_on_what_it_was_written(tmp_path: Path, what: str, kind: str) -> None:
    out = exported(tmp_path, "--to", "trl", "--what", what)
    trainer = trained(tmp_path, kind, out, max_length=4096)
    assert trainer.state.log_history[0]["loss"] > 0
    assert len(trainer.train_dataset) == {"sft": 6, "preference": 2, "kto": 10}[what]
    if what == "sft":  # on replies alone
        for labels in next(iter(trainer.get_train_dataloader()))["labels"]:
            taught = trainer.processing_class.decode([int(i) for i in labels if i != -100])
            assert taught.startswith("Thought: I do what the task says.\nAction: ")


@pytest.mark.slow
@THEIR_WARNINGS
def test_trl_takes_a_step_on_pictures(tmp_path: Path) -> None:
    out = exported(tmp_path, "--to", "trl", variant="screenshot")
    assert "images" in load(out).column_names
    trainer = trained(tmp_path, "SFT", out, pictured=True, max_length=None)
    assert trainer.state.log_history[0]["loss"] > 0


@pytest.mark.slow
def test_trl_samples_for_prompts_alone(tmp_path: Path) -> None:
    found = load(exported(tmp_path, "--to", "trl", "--what", "rl"))
    assert found.column_names == ["prompt", "origin"]
    assert [json.loads(row["origin"])["seed"] for row in found] == [0, 1]
    assert [json.loads(row["origin"])["successes"] for row in found] == [1.0, 1.0]
