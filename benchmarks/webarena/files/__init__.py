"""The task files of WebArena and its kin, read into tasks whose checks are their scorers'."""

from benchmarks.task_file import UnreadableTasks
from benchmarks.webarena.files.dialect import Dialect, Setup
from benchmarks.webarena.files.reading import read_tasks

__all__ = ["Dialect", "Setup", "UnreadableTasks", "read_tasks"]
