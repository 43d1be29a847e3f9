"""Experience remembered: what was demonstrated and done, recalled by likeness."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webagent.memory.analogy import Proposal
    from webagent.memory.cases import Case
    from webagent.memory.memory import Memory, MemoryMismatch
    from webagent.memory.scene import Scene, scene_of

__all__ = ["Case", "Memory", "MemoryMismatch", "Proposal", "Scene", "scene_of"]

_HOMES = {
    **dict.fromkeys(("Memory", "MemoryMismatch"), "memory"),
    **dict.fromkeys(("Scene", "scene_of"), "scene"),
    "Case": "cases",
    "Proposal": "analogy",
}


def __getattr__(name: str) -> Any:
    """Return a name, imported at its first use: goals and pages are read without numpy,
    which remembering needs."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
