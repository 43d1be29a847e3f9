"""How a browser presents itself to sites, and what it keeps of an episode."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """The default is what benchmarks are played with."""

    dialogs: str = "dismiss"
    """`dismiss`: closed at once and noted; `ask`: left open until the agent answers."""
