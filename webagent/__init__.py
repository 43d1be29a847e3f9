"""How to act: observe a page, choose an action, play an episode, learn from it."""

from typing import TYPE_CHECKING, Any

from webagent.action import custom_action
from webagent.records import (
    Decision,
    Ending,
    Node,
    Observation,
    Provenance,
    Score,
    Step,
    Trajectory,
)

if TYPE_CHECKING:
    from webagent.agent import Agent, Cost, Result, Stop

__all__ = [
    "Agent",
    "Cost",
    "Decision",
    "Ending",
    "Node",
    "Observation",
    "Provenance",
    "Result",
    "Score",
    "Step",
    "Stop",
    "Trajectory",
    "custom_action",
]

_FROM_AGENT = ("Agent", "Cost", "Result", "Stop")


def __getattr__(name: str) -> Any:
    """Return the agent's names, imported when they are first asked for."""
    if name in _FROM_AGENT:
        from importlib import import_module

        return getattr(import_module("webagent.agent"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
