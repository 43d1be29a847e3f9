"""The register of oracles: which function shows how which task is done."""

from collections.abc import Callable
from typing import TypeAlias

from benchmarks.solutions.view import View
from webagent.action import Action

Oracle: TypeAlias = Callable[[View], Action]
"""Chooses the next action; raises `PolicyError` when the view offers none."""

ORACLES: dict[str, Oracle] = {}
"""Task name, as `click-test-2`, to its oracle."""


def oracle(*names: str) -> Callable[[Oracle], Oracle]:
    """Register a function as the oracle of these tasks."""

    def register(function: Oracle) -> Oracle:
        for name in names:
            if name in ORACLES:
                raise ValueError(f"two oracles for {name}")
            ORACLES[name] = function
        return function

    return register
