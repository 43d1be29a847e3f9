"""Oracles: scripts that show how tasks are done, from what the agent itself can see."""

from importlib import import_module

from benchmarks.solutions.policy import OraclePolicy
from benchmarks.solutions.registry import ORACLES, Oracle, oracle
from benchmarks.solutions.view import View

__all__ = ["ORACLES", "Oracle", "OraclePolicy", "View", "oracle"]

_PACKAGES = ("benchmarks.miniwob", "benchmarks.fossil", "benchmarks.oscar")

for _package in _PACKAGES:  # importing a module registers its oracles
    import_module(f"{_package}.solutions")
