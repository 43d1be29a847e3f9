"""Who is at work: the agent, nobody, or the person in the browser's window."""

import asyncio
from collections.abc import Callable
from typing import Literal, TypeAlias

Worker: TypeAlias = Literal["agent", "nobody", "person"]
HELP = "p pauses, t takes over in the window, Enter goes on or hands back, q stops"
HELP_UNSEEN = "p pauses, Enter goes on, q stops"
_AWAITED: dict[Worker, str] = {
    "agent": "the model is thinking",
    "nobody": "paused",
    "person": "the page is yours",
}


class Desk:
    """Where the agent is paused, taken over from, and set to work again."""

    def __init__(self, *, has_window: bool, say: Callable[[str], object]) -> None:
        self.worker: Worker = "agent"
        self.has_window = has_window
        self._say = say
        self._changed = asyncio.Event()

    def awaited(self) -> str:
        """What is waited for from one step to the next."""
        return _AWAITED[self.worker]

    def pause(self) -> None:
        """Nothing is done until somebody is set to work again."""
        if self.worker == "agent":
            self._set("nobody", "paused: Enter goes on" + ", t takes over" * self.has_window)

    def take_over(self) -> None:
        """The person works in the window."""
        if not self.has_window:
            self._say("there is no window to take over in; start it with --headed")
        elif self.worker != "person":
            self._set("person", "taking over")

    def go_on(self) -> None:
        """The agent works again."""
        if self.worker == "person":
            self._set("agent", "handed back to the agent")
        elif self.worker == "nobody":
            self._set("agent", "going on")

    def toggle_pause(self) -> None:
        """Pause, or go on."""
        self.pause() if self.worker == "agent" else self.go_on()

    def toggle_person(self) -> None:
        """Take over, or hand back."""
        self.go_on() if self.worker == "person" else self.take_over()

    async def leaves(self, worker: Worker) -> None:
        """Wait until somebody else is at work than this one."""
        while self.worker == worker:
            await self._changed.wait()

    def _set(self, worker: Worker, said: str) -> None:
        self.worker = worker
        self._say(said)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
