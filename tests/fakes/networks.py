"""Small networks that learn the made-up pages within seconds."""

from collections.abc import Sequence
from functools import cache

import torch

from tests.fakes.lessons import demonstrations
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import PrefixLMConfig
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.records import Trajectory
from webagent.training.fit import FitConfig, fit
from webagent.training.rows import grow_vocabulary, make_policy_rows

torch.set_num_threads(1)  # others use the machine too, and one thread gives the same sums always


def untrained(episodes: Sequence[Trajectory] | None = None, seed: int = 0) -> BuiltinModel:
    """A small model that has read these episodes' words and learnt nothing."""
    config = PrefixLMConfig(capacity=512, width=64, depth=2, heads=2, dropout=0.0)
    model = BuiltinModel.create(seed, config)
    grow_vocabulary(model.vocabulary, demonstrations(60) if episodes is None else episodes)
    return model


@cache
def trained() -> BuiltinModel:
    """A small model that has learnt the lessons; shared, so only to be read."""
    episodes = demonstrations(400)
    model = untrained(episodes)
    grammar = ActionGrammar(Codec(model.vocabulary))
    rows = [row for each in episodes for row in make_policy_rows(grammar, each)]
    fit(model.network, rows, FitConfig(tokens=80_000, learning_rate=3e-3, batch_tokens=600))
    return model
