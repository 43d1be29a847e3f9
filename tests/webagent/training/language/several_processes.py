"""A short training in as many processes as it is launched in; the first prints what came of it.

accelerate launch --cpu --num_processes 2 several_processes.py [FOLDER]
"""

import json
import sys
from pathlib import Path

import torch

from tests.webagent.training.language.small import llama, rows
from webagent.training.language.config import TrainConfig
from webagent.training.language.losses import Desirability
from webagent.training.language.objectives import Desirable
from webagent.training.language.run import train
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit

CONFIG = TrainConfig(units_per_step=5, learning_rate=1e-2, epochs=2, checkpoint_every=2)


def main() -> None:
    """Train over an odd number of units, so that the last update has none for some process."""
    torch.set_num_threads(1)
    objective = Desirable(Desirability(beta=0.5))
    trainer = Trainer(llama(1), objective, CONFIG, reference=llama(2))
    units = [TrainingUnit((each,), better=number % 2) for number, each in enumerate(rows(11))]
    report = train(trainer, units, Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    sums = [float(p.detach().double().abs().sum()) for p in trainer.model.parameters()]
    if trainer.accelerator.is_main_process:
        found = {"loss": report.loss, "sums": sums, "updates": report.updates}
        found["processes"] = trainer.accelerator.num_processes
        sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
