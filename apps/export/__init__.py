"""A run's episodes as files that other people's trainers read."""

from apps.export.request import CONSUMERS, ExportConfig

__all__ = ["CONSUMERS", "ExportConfig"]
