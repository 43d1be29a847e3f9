"""The seam between an episode and whatever keeps it."""

from typing import Protocol

from webagent.records import Step, Trajectory


class Recorder(Protocol):
    """Keeps an episode while it happens. The store is one."""

    def begin(self, trajectory: Trajectory) -> None:
        """The episode starts; nothing has been done yet."""
        ...

    def add_step(self, episode: str, position: int, step: Step) -> None:
        """One step has happened; safe once this returns."""
        ...

    def finish(self, trajectory: Trajectory) -> None:
        """The episode is over, its steps are known."""
        ...

    def load(self, episode: str) -> Trajectory | None:
        """What is known of an episode; None if it never began."""
        ...


class Unrecorded:
    """Keeps nothing."""

    def begin(self, trajectory: Trajectory) -> None:
        """Let it go."""

    def add_step(self, episode: str, position: int, step: Step) -> None:
        """Let it go."""

    def finish(self, trajectory: Trajectory) -> None:
        """Let it go."""

    def load(self, episode: str) -> Trajectory | None:
        """Nothing is known of any episode."""
        return None
