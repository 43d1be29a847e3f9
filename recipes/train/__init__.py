"""`webagent train`: a language model is taught by the episodes that runs have stored."""

from recipes.train.recipe import main
from recipes.train.settings import TrainSettings

__all__ = ["TrainSettings", "main"]
