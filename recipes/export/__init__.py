"""A run's episodes as files that other people's trainers read."""

from recipes.export.command import main
from recipes.export.request import CONSUMERS, ExportConfig

__all__ = ["CONSUMERS", "ExportConfig", "main"]
