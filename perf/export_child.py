"""The reading side of perf/export_readers.py, under the Python that has the reader.

    PYTHON perf/export_child.py READER WHAT EXPORT MODEL [--pictures]

Prints what the reader's own loader made of the export as one line of JSON: `rows`, and where it
tokenises itself the replies it would `teach`, those it would `reject`, and the labels.
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", AXOLOTL_DO_NOT_TRACK="1", WANDB_MODE="disabled")
os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"


def processor_of(model: Path) -> Any:
    """The model's processor, for pictures."""
    from transformers import AutoProcessor

    return AutoProcessor.from_pretrained(model)


def tokenizer_of(model: Path) -> Any:
    """The model's tokenizer."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model)


def taught(words: Any, ids: Any, labels: Any) -> str:
    """The text of the ids that are trained on."""
    return str(words.decode([int(i) for i, y in zip(ids, labels, strict=True) if int(y) != -100]))


def llamafactory(what: str, export: Path, model: Path, *, pictures: bool) -> dict[str, Any]:
    """Its `get_dataset`, as its trainers call it."""
    from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
    from llamafactory.hparams import DataArguments, ModelArguments
    from transformers import Seq2SeqTrainingArguments

    words = tokenizer_of(model)
    processor = processor_of(model) if pictures else None
    data = DataArguments(
        template="llava" if pictures else "default",
        dataset=f"webagent_{what}",
        dataset_dir=str(export),
        cutoff_len=8192,
        overwrite_cache=True,
    )
    training = Seq2SeqTrainingArguments(output_dir=str(export.parent / "training"), use_cpu=True)
    stage = {"sft": "sft", "preference": "rm", "kto": "kto"}[what]
    template = get_template_and_fix_tokenizer(words, data)
    module = get_dataset(
        template,
        ModelArguments(model_name_or_path=str(model)),
        data,
        training,
        stage,
        words,
        processor,
    )
    rows = list(module["train_dataset"])
    found: dict[str, Any] = {"rows": len(rows)}
    if what == "preference":
        for name in ("chosen", "rejected"):
            texts = [taught(words, r[f"{name}_input_ids"], r[f"{name}_labels"]) for r in rows]
            found["teach" if name == "chosen" else "reject"] = texts
    else:
        found["teach"] = [taught(words, row["input_ids"], row["labels"]) for row in rows]
    if what == "kto":
        found["labels"] = [row["kto_tags"] for row in rows]
    if pictures:
        image = words.convert_tokens_to_ids("<image>")
        ids = "chosen_input_ids" if what == "preference" else "input_ids"
        found["pictures"] = [int(image in row[ids]) for row in rows]
    return found


def verl(what: str, export: Path, model: Path, *, pictures: bool) -> dict[str, Any]:
    """Its two dataset classes, as its trainers make them."""
    from omegaconf import OmegaConf
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
    from verl.utils.dataset.rl_dataset import RLHFDataset

    files = sorted(str(path) for path in (export / "data").glob("*.parquet"))
    words = tokenizer_of(model)
    processor = processor_of(model) if pictures else None
    if what == "rl":
        config = OmegaConf.create(
            {
                "max_prompt_length": 8192,
                "cache_dir": str(export.parent),
                "filter_overlong_prompts": not pictures,
            }
        )
        rows = [row for row in RLHFDataset(files, words, config, processor)]
        shown = [
            sum(b["type"] == "image" for m in r["raw_prompt"] for b in m["content"])
            for r in rows
            if pictures
        ]
        seeds = [int(r["extra_info"]["seed"]) for r in rows]
        return {"rows": len(rows), "pictures": shown, "seeds": seeds}
    config = OmegaConf.create({"max_length": 8192, "pad_mode": "no_padding"})
    rows = [row for row in MultiTurnSFTDataset(files, words, config, processor)]
    texts = [str(words.decode(row["input_ids"][row["loss_mask"].bool()].tolist())) for row in rows]
    return {"rows": len(rows), "teach": texts}


def axolotl(what: str, export: Path, model: Path, *, pictures: bool) -> dict[str, Any]:
    """Its `prepare_datasets` and `prepare_preference_datasets`, under the settings beside the
    data, and for pictures its collator."""
    import yaml
    from axolotl.utils.data.rl import prepare_preference_datasets
    from axolotl.utils.data.sft import prepare_datasets
    from axolotl.utils.dict import DictDefault
    from axolotl.utils.schemas.enums import RLType

    os.chdir(export)
    words = tokenizer_of(model)
    settings = yaml.safe_load((export / "axolotl.yml").read_text())
    base = {
        "base_model": str(model),
        "tokenizer_config": str(model),
        "sequence_len": 8192,
        "chat_template": "chatml" if what == "kto" else "tokenizer_default",
        "dataset_prepared_path": str(export.parent / "prepared"),
        "micro_batch_size": 1,
        "batch_size": 1,
        "gradient_accumulation_steps": 1,
        "num_epochs": 1,
        "seed": 1,
        "shuffle_merged_datasets": False,
        "dataset_num_proc": 1,
        "train_on_inputs": False,
        "val_set_size": 0,
    }
    cfg = DictDefault({**base, **settings})
    if cfg.rl:
        cfg.rl = RLType(cfg.rl)
        rows = list(prepare_preference_datasets(cfg, words)[0])
        if what == "kto":
            texts = [row["completion"].removesuffix("<|im_end|>") for row in rows]
            return {"rows": len(rows), "teach": texts, "labels": [row["label"] for row in rows]}
        text = (lambda said: said) if not pictures else (lambda said: said[0]["content"])
        return {
            "rows": len(rows),
            "teach": [text(row["chosen"]) for row in rows],
            "reject": [text(row["rejected"]) for row in rows],
        }
    processor = processor_of(model) if pictures else None
    rows = list(prepare_datasets(cfg, words, processor=processor)[0])
    if not pictures:
        texts = [taught(words, row["input_ids"], row["labels"]) for row in rows]
        return {"rows": len(rows), "teach": texts}
    from axolotl.processing_strategies import ProcessingStrategy
    from axolotl.utils.collators.mm_chat import MultiModalChatDataCollator

    strategy = ProcessingStrategy(
        processor,
        processor.chat_template,
        role_boundaries_override=[
            {"role": "assistant", "start": "<|assistant|>", "end": "<|end|>"}
        ],
    )
    collate = MultiModalChatDataCollator(words, strategy)
    batches = [collate([row]) for row in rows]
    texts = [taught(words, b["input_ids"][0], b["labels"][0]) for b in batches]
    return {
        "rows": len(rows),
        "teach": texts,
        "pictures": [len(batch["pixel_values"]) for batch in batches],
    }


READERS = {"llamafactory": llamafactory, "verl": verl, "axolotl": axolotl}


def main() -> None:
    """Read, and print what was read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("what")
    parser.add_argument("export", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--pictures", action="store_true")
    asked = parser.parse_args()
    read = READERS[asked.reader]
    found = read(asked.what, asked.export.resolve(), asked.model.resolve(), pictures=asked.pictures)
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main()
