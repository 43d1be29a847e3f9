"""How to act: observe a page, choose an action, play an episode, learn from it."""

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

__all__ = [
    "Decision",
    "Ending",
    "Node",
    "Observation",
    "Provenance",
    "Score",
    "Step",
    "Trajectory",
]
