"""A short training in as many processes as it is launched in; the first prints what came of it.

accelerate launch --cpu --num_processes 2 several_processes.py FOLDER [lora]
"""

import json
import sys
from pathlib import Path

import torch

from tests.webagent.training.language.small import llama, rows
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.objectives import PolicyGradient
from webagent.training.language.run import train
from webagent.training.language.sharding import gather
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit


def main() -> None:
    """Train over an odd number of units, so that the last update has none for some process."""
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    lora = LoraSettings(rank=4) if sys.argv[2:] == ["lora"] else None
    config = TrainConfig(
        units_per_step=5, learning_rate=1e-2, epochs=2, checkpoint_every=2, lora=lora
    )
    objective = PolicyGradient(penalty=0.5)
    trainer = Trainer(llama(1), objective, config, reference=None if lora else llama(2))
    units = [TrainingUnit((each,)) for each in rows(11)]
    report = train(trainer, units, folder)
    held = sum(getattr(p, "to_local", lambda p=p: p)().numel() for p in trainer.model.parameters())
    whole = [gather(p.detach()).double() for p in trainer.model.parameters()]
    trainer.save(folder / "model")
    if trainer.accelerator.is_main_process:
        found = {"loss": report.loss, "updates": report.updates, "resumed": report.resumed}
        found["sums"] = [float(each.abs().sum()) for each in whole]
        found["processes"] = trainer.accelerator.num_processes
        found["held"] = held / sum(each.numel() for each in whole)
        sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
