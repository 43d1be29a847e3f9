"""The task files of WebArena and its kin, read into tasks whose checks are their scorers'."""

from tasks.benchmarks.arena.dialect import Dialect, Setup
from tasks.benchmarks.arena.reading import read_tasks
from tasks.benchmarks.task_file import UnreadableTasks

__all__ = ["Dialect", "Setup", "UnreadableTasks", "read_tasks"]
