"""`webagent train`: a language model is taught by the episodes that runs have stored."""

from loop.training.settings import TrainSettings

__all__ = ["TrainSettings"]
