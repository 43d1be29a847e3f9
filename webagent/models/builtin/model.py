"""The built-in model as one thing to save and load: network, words and a version of both."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from transformers.utils.logging import disable_progress_bar

from webagent.errors import ModelError
from webagent.models.builtin.network import PrefixLM, PrefixLMConfig
from webagent.models.builtin.vocabulary import FIXED, Vocabulary


@dataclass(slots=True)
class BuiltinModel:
    """A network with the vocabulary it reads by. Not shared between processes; copy by saving."""

    network: PrefixLM
    vocabulary: Vocabulary

    @classmethod
    def create(cls, seed: int, config: PrefixLMConfig | None = None) -> "BuiltinModel":
        """Return an untrained model; the same seed gives the same weights."""
        config = config or PrefixLMConfig()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = PrefixLM(config)
        return cls(network, Vocabulary(FIXED, config.words, config.capacity))

    @classmethod
    def load(cls, folder: Path) -> "BuiltinModel":
        """Return a saved model. Raises `ModelError` when the folder does not hold a whole one."""
        disable_progress_bar()
        try:
            network = PrefixLM.from_pretrained(folder)
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            raise ModelError(f"no built-in model can be loaded from {folder}: {error}") from error
        network.train(False)
        config = network.config
        return cls(network, Vocabulary(FIXED, config.words, config.capacity))

    def save(self, folder: Path) -> None:
        """Write configuration, words and weights (safetensors)."""
        disable_progress_bar()
        self.network.config.words = list(self.vocabulary.words)
        self.network.save_pretrained(folder)

    @property
    def version(self) -> str:
        """Twelve hexadecimal digits that change whenever weights or words do."""
        digest = hashlib.blake2b(" ".join(self.vocabulary.words).encode(), digest_size=6)
        for value in self.network.state_dict().values():
            digest.update(value.detach().contiguous().numpy().tobytes())
        return digest.hexdigest()
