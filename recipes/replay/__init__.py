"""Playing stored episodes again without a model, and writing them as scripts."""

from recipes.replay.command import main

__all__ = ["main"]
