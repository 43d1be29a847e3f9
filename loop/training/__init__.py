"""Models are taught by the episodes that runs have stored: language models, and judges."""

from loop.training.settings import TrainSettings

__all__ = ["TrainSettings"]
