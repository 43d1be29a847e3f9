"""Experience remembered: what was demonstrated and done, recalled by likeness."""

from webagent.memory.analogy import Proposal
from webagent.memory.cases import Case
from webagent.memory.explain import explain
from webagent.memory.memory import Memory, MemoryMismatch
from webagent.memory.scene import Scene, scene_of

__all__ = ["Case", "Memory", "MemoryMismatch", "Proposal", "Scene", "explain", "scene_of"]
